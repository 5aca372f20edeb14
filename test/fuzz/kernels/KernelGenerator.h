// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: a seed gives the text of a `.tile` file whose directives say how to launch it.
//
// Names say what the driver fills a buffer with and how it compares it: `x…` small numbers that are exact, `bits…` any
// bits, `approx…` results that need not be exact.
#pragma once

#include <cstdint>
#include <string>

namespace tile::fuzz {

enum class KernelKind {
  Any,
  Loops ///< Loops of products with operands from tensor maps: what roles, rings and schedules of loops are for.
};

std::string generateKernel(uint64_t seed, KernelKind kind = KernelKind::Any);

} // namespace tile::fuzz
