// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers shared by the lowerings of tensor memory and of its MMAs.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Emits tcgen05.fence::before_thread_sync or ::after_thread_sync.
void emitTensorFence(mlir::OpBuilder &builder, mlir::Location loc, bool before);
/// Returns the tensor-memory address that is `columns` columns after `address`.
mlir::Value emitTensorAddress(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address, int64_t columns);
/// Reports an error if the target has no tensor memory.
mlir::LogicalResult checkTensorMemory(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
