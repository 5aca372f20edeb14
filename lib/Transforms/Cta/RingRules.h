// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for where ring operations, and other operations that a role counts, may be. cta-lower-rings relies on them.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Returns what a role counts with this operation, represented by another operation: the slots of a ring (its
/// allocation), the commits of MMAs (the barrier's allocation) or the turns of its team (the roles operation). Returns
/// null for other operations.
mlir::Operation *getCounted(mlir::Operation *op);
/// Returns the cta.ring_commit of the slot; null if there is not exactly one after `acquire` in its block.
cta::RingCommitOp findCommit(cta::RingAcquireOp acquire);
/// Returns the operation that opens the turns of the role's teams; null if there is none.
cta::TurnOpenOp findOpen(const cta::Role &role);

/// Emits an error and fails if an operation of a ring, a copy to a slot, or a turn of teams is where it cannot be
/// lowered.
mlir::LogicalResult verifyRings(KernelOp kernel);

} // namespace tile
