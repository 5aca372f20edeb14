// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements in memory words: instructions move 8, 16, 32 or 64 bits at a time, regardless of the element type.
//
//   4 x f16  ->  2 words of 32 bits          1 x f16  ->  1 word of 16 bits
//   2 x f64  ->  2 words of 64 bits          1 x i1   ->  1 word of 8 bits, 0 or 1
#pragma once

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// NVPTX address spaces (LLVM, "User Guide for NVPTX Back-end").
inline constexpr unsigned globalSpace = 1, sharedSpace = 3, tensorMemorySpace = 6;
/// Size in bytes of the widest access to shared memory, ld.shared.v4.b32.
inline constexpr unsigned widestAccess = 16;

/// Returns the type that a scalar of `element` has in a register: i8 for 8-bit floats, !llvm.ptr<1> for pointers,
/// otherwise the type itself.
mlir::Type getRegisterType(mlir::Type element);

struct WordFormat {
  unsigned bits;            // 8, 16, 32 or 64
  unsigned count;           // words
  unsigned elementsPerWord; // at least 1
  unsigned bytes() const { return bits / 8 * count; }
};

/// Returns the words in which `count` consecutive elements are moved.
WordFormat wordsFor(mlir::Type element, unsigned count);

/// Packs `values` into words, integers of format.bits, as they are stored in memory; the first value has the lowest
/// address.
llvm::SmallVector<mlir::Value> packWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values,
                                         WordFormat format);

/// Unpacks words: returns format.count * format.elementsPerWord values, of the register type of `element`.
llvm::SmallVector<mlir::Value> unpackWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange words,
                                           mlir::Type element, WordFormat format);

} // namespace tile::conversion
