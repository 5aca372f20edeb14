// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How threads read a block in shared memory that they store with the other dimension contiguous, for warp groups.
//
//   %x = cta.local_load %copied : #any           %x = cta.local_load %copied : #transposition
//   cta.local_store %x, %operand          ==>    cta.local_store %x, %operand
//
// The layout is that of Layout/Transposition.h.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace tile {

/// The dimension of the buffer's matrix that is contiguous, 16 bytes at least.
std::optional<unsigned> getContiguousDim(cta::BufferType buffer);

/// Reads the buffer, which is contiguous along `from`, as threads transpose it; `matrix` has any layout.
mlir::Value readForTransposition(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType matrix,
                                 mlir::Value buffer, unsigned from);

/// So are blocks read that TMA has brought and threads store with the other dimension contiguous.
void readTransposedBlocks(KernelOp kernel);

} // namespace tile
