// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time for which an iteration of a loop keeps each resource of a multiprocessor busy.
//
//   cta.wgmma 128x64, 64 deep        256 tensor-core cycles; reads its operands from shared memory
//   math.exp2 of 128x64              512 cycles of special functions: 16 per cycle
//   arith.mulf of 128x64              64 cycles of arithmetic: 128 per cycle
//   cta.ring_wait of 16 KiB          256 cycles of copies: the L2 bandwidth of a multiprocessor
//
// Rates are those of data sheets (Target/Rates.h). The longest of these times is a lower bound for an iteration of the
// CTA, whatever the order of operations. The more resources are busy at the same time, the closer the actual time gets
// to this bound.
#pragma once

#include "Target/Rates.h"

#include "mlir/IR/Block.h"

#include <string>

namespace tile {

/// The busy time of each resource, in cycles of a multiprocessor.
struct LoopWork {
  double tensorCores = 0;
  double special = 0;    ///< Exponentials, logarithms, quotients.
  double arithmetic = 0; ///< Other operations on tensors.
  double shared = 0;     ///< Time of the shared memory port, without TMA writes.
  double copies = 0;

  LoopWork &operator+=(const LoopWork &other);
  /// Prints the times that are not zero, in cycles: "tensor cores 512, special functions 256".
  std::string print() const;
};

/// Counts the work of all threads of the CTA, or of the role that contains the operation. Each region is counted once.
LoopWork countWork(mlir::Operation *op, const target::Rates &rates);

/// Counts the work of one iteration.
LoopWork countWork(mlir::Block &body, const target::Rates &rates);

} // namespace tile
