// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that cp.async can do instead.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Whether zero is loaded where the mask is false, which is what an asynchronous copy writes, and nobody waits for
/// others by it. It says nothing about the number of bytes that a thread loads at once.
bool canBeCopied(LoadOp load);

/// The dimension in which a thread's consecutive registers are consecutive: the one that register bit 0 moves along.
unsigned contiguousDimOf(mlir::RankedTensorType type);

/// Of a buffer whose elements are taken as the load has them, or in the layout of `read`, without bank conflicts.
cta::LayoutAttr planCopyLayout(LoadOp load, mlir::RankedTensorType read = {});

/// Copies what is loaded into a new buffer before the load, `vector` elements at a time, and awaits that at once.
mlir::Value copyToBuffer(LoadOp load, int64_t vector, cta::LayoutAttr layout);

} // namespace tile
