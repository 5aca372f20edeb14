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

/// Returns the conditions of the `tile.assume` and `tile.hint` operations in the kernel's top-level block that depend
/// only on integer parameters and constants. Conditions in this block hold for every program. The operands of a
/// conjunction are separate conditions. Manifest expressions (Runtime/Expression.h) are exact, so additions and
/// multiplications are assumed not to overflow. Conditions that are too long, or that manifest expressions cannot
/// represent, are omitted.
std::vector<std::string> assumedConditions(KernelOp kernel);

} // namespace tile::codegen
