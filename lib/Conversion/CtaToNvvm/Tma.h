// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What files of this folder share about TMA copies and mbarriers.
#pragma once

#include "Layout/TmaBoxes.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// One arrival at the barrier that announces bytes.
void emitExpect(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, int64_t bytes);

/// The address of a barrier of a ring.
mlir::Value emitBarrierSlot(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ring, mlir::Value slot);

/// Waits until the phase with this parity is complete.
void emitBarrierWait(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value parity);

/// One arrival of this thread at the same barrier of the CTA with this rank. It makes nothing visible there: that would
/// be a fence for the whole GPU, which takes about 900 clocks on an H200.
void emitRemoteArrive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier, mlir::Value rank);

/// Of a box of the block at `offsets`, innermost first as PTX wants them. Of leading dimensions that the buffer lacks
/// the box has one index.
llvm::SmallVector<mlir::Value> emitCoordinates(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange offsets,
                                               const layout::TmaBoxes::Place &place);

/// All threads of all CTAs of the cluster that have not ended meet.
void emitClusterBarrier(mlir::OpBuilder &builder, mlir::Location loc);

} // namespace tile::conversion
