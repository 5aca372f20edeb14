// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma operands that TMA does not load, or not with k contiguous: they are stored to shared memory in a layout that a
// matrix descriptor can express.
//
//   %d = tile.dot %a, %b, %c    ==>   %buffer = cta.alloc : swizzled      after the definition of %b
//                                     cta.local_store %b, %buffer
//                                     cta.proxy_fence
//                                     %x = cta.local_load %buffer         never executed: cta-lower-dot takes the
//                                     buffer %d = tile.dot %a, %x, %c
//
// An a of fewer rows than the instruction has is stored several times, so that rows of the accumulator repeat.
// A value used by several dots, also transposed, is stored once; a loop-invariant one before the loop.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class OperandStage {
public:
  /// Stores the operands that the dot's engine takes from threads; they have layouts.
  void store(DotOp dot);

private:
  /// Elements of a panel: no more than a swizzle of 128 bytes has.
  static constexpr int64_t widestPanel = 128;
  struct Form {
    unsigned contiguousDim;
    int64_t panelElements;
  };
  /// With `rows`, the rows of a left operand are stored repeatedly, until there are that many.
  void store(mlir::OpOperand &operand, Form form, int64_t rows = 0);
  /// Stores scales as tcgen05.cp reads them.
  void storeScales(mlir::OpOperand &scales);
  mlir::Value getBuffer(mlir::Value value, Form form);

  /// Values with elements repeated along a dimension, by value, dimension and size.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<unsigned, int64_t>>, mlir::Value> repetitions;
  /// Buffers by stored value, contiguous dimension and swizzle.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<unsigned, unsigned>>, mlir::Value> buffers;
};

} // namespace tile
