// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the assumptions of a kernel about its arguments, `tl.assume(N % 16 == 0)` and `tl.multiple_of(N, 16)`, to
// manifest expressions, which each launch evaluates.
#pragma once

#include <string>
#include <vector>

namespace tile {
class KernelOp;
} // namespace tile

namespace tile::codegen {

/// Returns the conditions of the `tile.assume` and `tile.hint` operations in the kernel's top-level block, which hold
/// for every program, provided that they depend only on integer parameters and constants. The operands of a conjunction
/// are considered separately. Additions and multiplications are assumed not to overflow, since expressions
/// (Runtime/Expression.h) are exact. Conditions that an expression cannot express, or that are too long, are omitted.
std::vector<std::string> assumedConditions(KernelOp kernel);

} // namespace tile::codegen
