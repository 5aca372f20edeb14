// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Promises of a kernel about its arguments, `tl.assume(N % 16 == 0)`, as expressions of the manifest, which each launch
// evaluates.
#pragma once

#include <string>
#include <vector>

namespace tile {
class KernelOp;
} // namespace tile

namespace tile::codegen {

/// The conditions of `tile.assume` that hold for every program, which are those that stand in the kernel's own block,
/// and that integer parameters and constants decide. Sums and products are taken to fit their type, since expressions
/// (Runtime/Expression.h) are exact; what these round otherwise, or is too long, is left out.
std::vector<std::string> assumedConditions(KernelOp kernel);

} // namespace tile::codegen
