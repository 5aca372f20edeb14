// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expands ranges in the arguments of one call into several calls.
//
//   M=2^7..2^13          the powers of two from 128 to 8192; a range that begins with 3: 3 6 12 ...
//   M=128..1024:128      128 256 384 ... 1024
//   M=1,16,100..400:100  a list, which may also contain words: a=random,zeros
//   M=N=K=2^7..2^13      the same value for all three arguments
//
// Several ranges produce all combinations; the last one varies fastest. Commas in brackets are part of a value.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

struct SweepPoint {
  std::vector<std::string> arguments; ///< NAME=VALUE, one name each
  std::string varying;                ///< "M=N=K=512 a=zeros": the varying arguments; "" if there are none
};

Result<std::vector<SweepPoint>> expandSweep(std::span<const std::string> arguments);

} // namespace tile::runner
