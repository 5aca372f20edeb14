// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma operands that TMA does not load, or does not load with k contiguous. They are stored to shared memory in a
// layout that a matrix descriptor can express.
//
//   %d = tile.dot %a, %b, %c    ==>   %buffer = cta.alloc : swizzled      after the definition of %b
//                                     cta.local_store %b, %buffer
//                                     cta.proxy_fence
//                                     %x = cta.local_load %buffer         never executed (cta-lower-dot)
//                                     %d = tile.dot %a, %x, %c
//
// If `a` has fewer rows than the instruction, it is stored several times, so that rows of the accumulator repeat. A
// value that several dots use, transposed or not, is stored once; a loop-invariant value is stored before the loop.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class OperandStage {
public:
  /// Stores the operands that the dot's engine reads from shared memory but TMA does not provide. Layouts have been
  /// assigned.
  void store(DotOp dot);

private:
  /// The largest number of elements in a row of a panel, which a swizzle of 128 bytes can hold.
  static constexpr int64_t widestPanel = 128;
  struct Form {
    unsigned contiguousDim;
    int64_t panelElements;
  };
  /// If `rows` is not 0, repeats the rows of a left operand until there are that many.
  void store(mlir::OpOperand &operand, Form form, int64_t rows = 0);
  /// Stores scales in the layout that tcgen05.cp reads.
  void storeScales(mlir::OpOperand &scales);
  mlir::Value getBuffer(mlir::Value value, Form form);

  /// Values whose elements are repeated along a dimension, by value, dimension and size.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<unsigned, int64_t>>, mlir::Value> repetitions;
  /// Buffers by stored value, contiguous dimension and swizzle.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<unsigned, unsigned>>, mlir::Value> buffers;
};

} // namespace tile
