// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that cp.async can replace.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Returns true if the load gives zero where the mask is false, as an asynchronous copy does, and is not used to poll
/// for other programs. Says nothing about the number of bytes that a thread loads at once.
bool canBeCopied(LoadOp load);

/// Returns the dimension in which a thread's consecutive registers are consecutive: the one along which register bit 0
/// moves.
unsigned contiguousDimOf(mlir::RankedTensorType type);

/// Returns the layout of a buffer that is written in the load's layout, and read in it or, without bank conflicts, in
/// the layout of `read`.
cta::LayoutAttr planCopyLayout(LoadOp load, mlir::RankedTensorType read = {});

/// Copies the loaded tensor into a new buffer before the load, `vector` elements at a time, and awaits the copy at
/// once.
mlir::Value copyToBuffer(LoadOp load, int64_t vector, cta::LayoutAttr layout);

} // namespace tile
