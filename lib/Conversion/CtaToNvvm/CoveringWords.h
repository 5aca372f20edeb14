// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads of 16 bytes that start at any byte: the aligned words of 16 bytes that hold them, and a shift.
//
//   address & ~15:  | . . . . . a b c | d e f g h . . . |        a … h are wanted
//
// A word that holds a wanted byte lies in the same page, so that reading it never fails; what else it holds is dropped.
#pragma once

#include "GlobalAccess.h"

namespace tile::conversion {

/// What is read for 16 bytes: two words of 16 bytes, which may be the same one, as 8 of 32 bits, and the number of the
/// first wanted byte.
class CoveringWords {
public:
  static constexpr unsigned numWords = 8, numValues = numWords + 1;

  /// What `values()` has returned.
  explicit CoveringWords(mlir::ValueRange values) : all(values) {}

  /// Reads through `access`; `other`, 4 words of 32 bits, where `predicate`, which may be null (true), is false.
  static CoveringWords load(mlir::OpBuilder &builder, mlir::Location loc, GlobalAccess &access, mlir::Value pointer,
                            mlir::Value predicate, mlir::ValueRange other);
  /// 16 bytes that are at hand, 4 words of 32 bits.
  static CoveringWords of(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange words);

  /// The words, then the byte's number, 0 to 15; all i32.
  mlir::ArrayRef<mlir::Value> values() const { return all; }
  /// The 16 bytes: 4 words of 32 bits.
  mlir::SmallVector<mlir::Value> shift(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  mlir::SmallVector<mlir::Value> all;
};

} // namespace tile::conversion
