// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that cp.async can replace.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Returns true if the load returns zero where the mask is false, as an asynchronous copy does, and does not poll for a
/// write of another program. Does not check the number of bytes that a thread loads at once.
bool canBeCopied(LoadOp load);

/// Returns the dimension along which consecutive registers of a thread hold consecutive elements: the one along which
/// register bit 0 moves.
unsigned contiguousDimOf(mlir::RankedTensorType type);

/// Returns the layout of a buffer that is written in the load's layout and read in the same layout. If `read` is given,
/// the buffer can instead be read in the layout of `read` without bank conflicts.
cta::LayoutAttr planCopyLayout(LoadOp load, mlir::RankedTensorType read = {});

/// Copies the loaded tensor into a new buffer before the load, `vector` elements at a time, and awaits the copy
/// immediately.
mlir::Value copyToBuffer(LoadOp load, int64_t vector, cta::LayoutAttr layout);

} // namespace tile
