// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for TMA copies and mbarriers, shared by files of this folder.
#pragma once

#include "Layout/TmaBoxes.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Emits one arrival at the barrier that announces bytes.
void emitExpect(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, int64_t bytes);

/// Returns the address of a barrier of a ring.
mlir::Value emitBarrierSlot(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ring, mlir::Value slot);

/// Waits until the phase with this parity is complete.
void emitBarrierWait(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value parity);

/// Emits one arrival of this thread at the same barrier of the CTA with this rank. It makes nothing visible there: that
/// would take a GPU-wide fence, about 900 clocks on an H200.
void emitRemoteArrive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value rank);

/// Returns the coordinates of a box of the block at `offsets`, innermost first as PTX orders them. Along leading
/// dimensions that the buffer omits, the box has one index.
llvm::SmallVector<mlir::Value> emitCoordinates(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange offsets,
                                               const layout::TmaBoxes::Box &box);

/// Synchronizes all threads of all CTAs of the cluster that have not exited.
void emitClusterBarrier(mlir::OpBuilder &builder, mlir::Location loc);

} // namespace tile::conversion
