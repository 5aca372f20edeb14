// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long an iteration of a loop keeps each resource of a multiprocessor busy.
//
//   cta.wgmma 128x64, 64 deep        256 clocks of the tensor cores; reads its operands from shared memory
//   math.exp2 of 128x64              512 clocks of special functions: 16 a clock
//   arith.mulf of 128x64              64 clocks of arithmetic: 128 a clock
//   cta.ring_wait of 16 KiB          256 clocks of copies: what L2 gives a multiprocessor
//
// Rates are those of data sheets (Target/Rates.h). So the longest of these numbers is a bound: no order of the
// operations takes less for an iteration of the CTA, and the more resources are busy at the same time, the closer one
// is.
#pragma once

#include "Target/Rates.h"

#include "mlir/IR/Block.h"

#include <string>

namespace tile {

/// In clocks of a multiprocessor.
struct LoopWork {
  double tensorCores = 0;
  double special = 0;    ///< Exponentials, logarithms, quotients.
  double arithmetic = 0; ///< Other operations on tensors.
  double shared = 0;     ///< Of the port of shared memory, but for what TMA writes.
  double copies = 0;

  LoopWork &operator+=(const LoopWork &other);
  /// Those that are not zero: "tensor cores 512, special functions 256 clocks".
  std::string print() const;
};

/// Of all threads of the CTA, or of the role that the operation is in. What regions contain counts once.
LoopWork countWork(mlir::Operation *op, const target::Rates &rates);

/// Of one iteration.
LoopWork countWork(mlir::Block &body, const target::Rates &rates);

} // namespace tile
