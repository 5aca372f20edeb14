// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unaligned 16-byte reads: the aligned 16-byte chunks that cover the bytes, and a funnel shift that extracts them.
//
//   address & ~15:  | . . . . . a b c | d e f g h . . . |        a … h are wanted
//
// Every chunk that is read holds a wanted byte and lies in the same page as that byte, so the read never faults.
// Unwanted bytes are dropped.
#pragma once

#include "GlobalAccess.h"

namespace tile::conversion {

/// The data that is read to obtain 16 unaligned bytes: the two aligned 16-byte chunks that contain them (possibly the
/// same chunk twice) as eight 32-bit words, and the index of the first wanted byte.
class CoveringWords {
public:
  static constexpr unsigned numWords = 8, numValues = numWords + 1;

  /// Wraps the result of `values()`.
  explicit CoveringWords(mlir::ValueRange values) : all(values) {}

  /// Reads 16 bytes through `access`. Where `predicate` is false, the 16 bytes are `other`, four 32-bit words. A null
  /// predicate means true.
  static CoveringWords load(mlir::OpBuilder &builder, mlir::Location loc, GlobalAccess &access, mlir::Value pointer,
                            mlir::Value predicate, mlir::ValueRange other);
  /// Wraps 16 bytes that are already available as four 32-bit words.
  static CoveringWords of(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange words);

  /// Returns the eight words, then the byte index, 0 to 15; all i32.
  mlir::ArrayRef<mlir::Value> values() const { return all; }
  /// Returns the 16 bytes as four 32-bit words.
  mlir::SmallVector<mlir::Value> shift(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  mlir::SmallVector<mlir::Value> all;
};

} // namespace tile::conversion
