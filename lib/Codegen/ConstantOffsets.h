// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets global addresses that differ only in a constant share a register.
//
// The rows of a thread are `first | 0`, `first | 16`, …, where the constants have no bits in common with `first`. In
// LLVM's code, such a constant is inside the multiplication by the row length and the extension to 64 bits, so each row
// has its own address in two registers, which are live across loops. This pass moves the constant to the end of the
// expression, where it becomes the immediate offset of the memory instruction:
//
//   %row = or disjoint i32 %first, 16                        %place = shl i32 %first, 8
//   %place = shl i32 %row, 8                                 %offset = sext i32 %place to i64
//   %offset = sext i32 %place to i64               ==>       %p = getelementptr i16, ptr %base, i64 %offset
//   %q = getelementptr i16, ptr %base, i64 %offset           %q = getelementptr i8, ptr %p, i64 8192
//
// The pass assumes nothing about overflow: disjoint bits produce no carries, and 64-bit sums wrap around as addresses
// do.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

void splitConstantOffsets(llvm::Function &function);

} // namespace tile::codegen
