// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts together what determines the bits of a kernel's results.
#pragma once

#include "Runtime/Manifest.h"
#include "Runtime/Order.h"

#include <string_view>

namespace tile::order {

/// The part of the order that the compiler determines before it emits PTX.
struct KernelOrder {
  std::string program;            ///< text of the tile program; empty: not known
  std::vector<std::string> steps; ///< readable descriptions of the steps
  std::vector<std::string> keys;  ///< exact descriptions of the steps
  bool isShared = false;          ///< CTAs share K steps, and how they do is not in `keys`
};

/// Returns the record of a kernel. `assembler` is the version of the program that made machine code of the PTX; it is
/// part of the record only if the PTX leaves a choice to the assembler. Empty: not known, as for PTX that a driver
/// compiles.
runtime::Order recordOrder(const KernelOrder &kernel, std::string_view ptx, std::string_view entry,
                           std::string_view target, std::string_view assembler);

/// Describes the meaning of a call for a kernel: the names of its parameters, by which tools pass arguments, their
/// defaults and the grid. Two kernels that differ in these may give different bits for the same call.
std::string describeCall(const runtime::Manifest &manifest);

/// Returns the version and optimization level of the ptxas that made a cubin, "V13.0.88 -O3"; empty if the cubin does
/// not say.
std::string findAssembler(std::string_view cubin);

} // namespace tile::order
