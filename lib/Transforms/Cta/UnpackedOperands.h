// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of a wgmma operand that threads unpack from loads of several elements per byte.
//
//   %w = tile.load %p : tensor<64x128xi8, #bytes>       16 bytes per thread along k
//   … decode the halves of each byte …                  join, trans, reshape to 128x128
//   tile.dot %a, %b {engine = wgmma, b = threads}       #bytes with each byte split in two elements along k
//
// In this layout nothing moves between the load and the store to shared memory, and the elements of a byte stay in
// one thread. The default layout of the operand's shape may give them to different warps, each of which then decodes
// all bytes.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// Layouts of values whose shape has a different layout. For example, both operands of a dot of 128x128x128 have the
/// same shape, but may be unpacked from different loads.
using UnpackedLayouts = llvm::MapVector<mlir::Value, cta::LayoutAttr>;

/// Adds to `ofShapes` the layouts in which no data moves between such loads and dots, for shapes without a layout.
/// Returns the layouts of values whose shape already has another one.
UnpackedLayouts planUnpacked(KernelOp kernel, const llvm::DenseMap<mlir::Operation *, cta::LayoutAttr> &ofLoads,
                             llvm::DenseMap<llvm::ArrayRef<int64_t>, cta::LayoutAttr> &ofShapes);

/// Gives values their planned layouts instead of the default ones, and converts their operands from, and their results
/// to, the default layouts.
void assignUnpacked(const UnpackedLayouts &ofValues);

} // namespace tile
