// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: a seed gives the text of a `.tile` file whose directives say how to launch it.
//
// The names of buffers determine their contents and comparison: `x…` holds small exact values, `bits…` arbitrary bits,
// `approx…` results that need not be exact.
#pragma once

#include <cstdint>
#include <string>

namespace tile::fuzz {

enum class KernelKind {
  Any,
  Loops ///< Loops of dots with operands from tensor maps, for roles, rings and loop schedules.
};

std::string generateKernel(uint64_t seed, KernelKind kind = KernelKind::Any);

} // namespace tile::fuzz
