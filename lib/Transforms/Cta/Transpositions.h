// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts in which threads read a block in shared memory that they store transposed for wgmma, with the other dimension
// contiguous.
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

/// Returns the dimension of the buffer's matrix in which at least 16 bytes are contiguous.
std::optional<unsigned> getContiguousDim(cta::BufferType buffer);

/// Reads the buffer, which is contiguous along `from`, in the layout for transposition; `matrix` has any layout.
mlir::Value readForTransposition(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType matrix,
                                 mlir::Value buffer, unsigned from);

/// Does the same for blocks that TMA has copied and threads store with the other dimension contiguous.
void readTransposedBlocks(KernelOp kernel);

} // namespace tile
