// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expands ranges in arguments to several calls.
//
//   M=2^7..2^13          powers of two in between: 128 256 512 ... 8192; from 3: 3 6 12 ...
//   M=128..1024:128      128 256 384 ... 1024
//   M=1,16,100..400:100  a list, also of other texts: a=random,zeros
//   M=N=K=2^7..2^13      the same value for all three
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
