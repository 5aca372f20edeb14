// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for TMA copies and mbarriers, shared by files of this folder.
#pragma once

#include "Layout/TmaBoxes.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Emits one arrival at the barrier, which also announces how many bytes copies will deliver.
void emitExpect(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, int64_t bytes);

/// Returns the address of the barrier of one slot of a ring.
mlir::Value emitBarrierSlot(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ring, mlir::Value slot);

/// Emits a wait until the phase with this parity is complete.
void emitBarrierWait(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value parity);

/// Emits one arrival of this thread at the same barrier in the CTA with rank `rank`. The arrival does not make this
/// thread's writes visible there; that would take a GPU-wide fence, about 900 cycles on an H200.
void emitRemoteArrive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value rank);

/// Returns the coordinates of one box of the block at `offsets`, ordered from innermost to outermost as PTX requires.
/// Along leading dimensions that the buffer omits, the box has extent 1.
llvm::SmallVector<mlir::Value> emitCoordinates(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange offsets,
                                               const layout::TmaBoxes::Box &box);

/// Synchronizes all threads of all CTAs of the cluster that have not exited.
void emitClusterBarrier(mlir::OpBuilder &builder, mlir::Location loc);

} // namespace tile::conversion
