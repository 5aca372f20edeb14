// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns what a kernel assumes about its arguments, `tl.assume(N % 16 == 0)` and `tl.multiple_of(N, 16)`, into manifest
// expressions that each launch evaluates.
#pragma once

#include <string>
#include <vector>

namespace tile {
class KernelOp;
} // namespace tile

namespace tile::codegen {

/// Returns the conditions of `tile.assume` and `tile.hint` operations in the kernel's top-level block, which hold for
/// every program, if they depend only on integer parameters and constants; of a conjunction each part. Additions and
/// multiplications are assumed not to overflow, since expressions (Runtime/Expression.h) are exact. Conditions that an
/// expression cannot state, or too long ones, are omitted.
std::vector<std::string> assumedConditions(KernelOp kernel);

} // namespace tile::codegen
