// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of warp groups that TMA does not bring, or not with k contiguous: stored into shared memory, where a matrix
// descriptor can say them.
//
//   %d = tile.dot %a, %b, %c    ==>   %buffer = cta.alloc : swizzled      after what computes %b
//                                     cta.local_store %b, %buffer
//                                     cta.proxy_fence
//                                     %x = cta.local_load %buffer         never executed: cta-lower-dot takes the
//                                     buffer %d = tile.dot %a, %x, %c
//
// What several products multiply, also transposed, is stored once; what a loop does not change, in front of it.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class OperandStage {
public:
  /// Stores the operands that the dot's engine gets from threads; they have layouts.
  void store(DotOp dot);

private:
  /// Elements of a panel: no more than a swizzle of 128 bytes has.
  static constexpr int64_t widestPanel = 128;
  struct Form {
    unsigned contiguousDim;
    int64_t panelElements;
  };
  void store(mlir::OpOperand &operand, Form form);
  mlir::Value getBuffer(mlir::Value value, Form form);

  /// By what is stored, the contiguous dimension and the swizzle.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<unsigned, unsigned>>, mlir::Value> buffers;
};

} // namespace tile
