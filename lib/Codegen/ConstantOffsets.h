// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses in global memory that differ by a number share a register.
//
// A thread's rows are `first | 0`, `first | 16`, …: numbers whose bits `first` does not have. LLVM keeps such a number
// where it is, below a multiplication by the row's length and an extension to 64 bits, so that each row has an address
// of its own, in two registers, also outside of loops in which it is used. Here the number moves to the end, where it
// becomes a part of the instruction that accesses memory:
//
//   %row = or disjoint i32 %first, 16                        %place = shl i32 %first, 8
//   %place = shl i32 %row, 8                                 %offset = sext i32 %place to i64
//   %offset = sext i32 %place to i64               ==>       %p = getelementptr i16, ptr %base, i64 %offset
//   %q = getelementptr i16, ptr %base, i64 %offset           %q = getelementptr i8, ptr %p, i64 8192
//
// Nothing is assumed about overflow: bits that do not meet carry nothing, and sums of 64 bits wrap like addresses.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

void splitConstantOffsets(llvm::Function &function);

} // namespace tile::codegen
