// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts that accesses to memory, atomic operations, scans and ordered reductions want, each by itself.
#pragma once

#include "Analysis/AddressSpan.h"
#include "Analysis/AxisInfo.h"
#include "Layout/LinearLayout.h"
#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace tile {

/// What a load or store wants: lanes walk along the dimension in which addresses are consecutive, and each thread takes
/// as many elements as one access of 16 bytes holds.
struct AccessPlan {
  std::vector<unsigned> order;
  int64_t vector = 1;
  bool isFull = false;  ///< 16 bytes: what is less is so because of the addresses.
  double stepBytes = 0; ///< From one to the next along the first dimension, as far as it can be guessed.

  layout::LinearLayout getLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps) const;
  /// Warps go to other dimensions before they share the first one.
  layout::LinearLayout getRowLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps) const;
};

/// Where no addresses are consecutive, lanes walk along the dimension in which they are likely to be the nearest.
AccessPlan planAccess(mlir::Value pointer, AxisInfoAnalysis &analysis);

/// What makes the operands of the kernel's products, loads and others; null may be among them.
llvm::DenseSet<mlir::Operation *> collectOperands(KernelOp kernel);

/// Of a product's operand: 16 bytes also where addresses start at any element. Such a load becomes `unaligned`: threads
/// read the words that cover them.
AccessPlan planOperand(LoadOp load, AxisInfoAnalysis &analysis);

/// Loops around the operation.
unsigned depthOf(mlir::Operation *op);

/// Of several accesses of one shape, the one that decides for all: it is executed most often, moves 16 bytes a thread,
/// and does so with the fewest elements.
bool decidesBefore(const std::pair<mlir::Operation *, AccessPlan> &a,
                   const std::pair<mlir::Operation *, AccessPlan> &b);

/// Whether a warp finds what all its lanes load, `vector` elements each, in two lines of memory.
bool isNear(mlir::Operation *access, const AccessPlan &plan, int64_t vector, AddressSpans &spans);

/// The layout of one warp, for each of several.
layout::LinearLayout repeatForWarps(const layout::LinearLayout &layout, unsigned numWarps);

/// Whether the lanes of a warp take whole sectors of memory (32 bytes) at once if they access a matrix in `layout`.
bool takesSectors(const layout::LinearLayout &layout, const AccessPlan &plan, const AxisInfo &info, unsigned bytes);

/// The layout of an atomic operation: as that of a store, of as many elements at once as there are instructions for.
layout::LinearLayout planAtomic(mlir::Operation *op, AxisInfoAnalysis &axisInfo, unsigned numWarps,
                                const target::GpuTarget &gpu);

/// The layout of inline PTX that computes `pack` elements with one statement: each thread holds as many that follow
/// each other in row-major order, across rows where they are shorter, and threads that find no elements of their own
/// hold copies.
layout::LinearLayout planPacked(llvm::ArrayRef<int64_t> shape, int64_t pack, unsigned numWarps);

/// The layout of a scan: the axis in consecutive registers, then in lanes, then in warps if there are more than the
/// other dimensions fill and a thread would have many elements, since warps exchange their totals through memory. Other
/// dimensions get the lanes and warps that the axis can do without; what is left over holds copies.
layout::LinearLayout planScan(mlir::RankedTensorType type, unsigned axis, KernelOp kernel);
/// The same for a vector whose elements lie far from each other in memory: neighbours in lanes where a thread has two,
/// since neighbours may share a line of memory.
layout::LinearLayout planStridedScan(mlir::RankedTensorType type, KernelOp kernel);

/// Makes a reduction whose order matters keep it: where the axis lies in registers, lanes, warps and then in registers
/// again, by two steps, of runs and over runs; else in the layout of a scan, to which operands are converted.
void keepOrder(ReduceOp reduce, mlir::OpBuilder &builder);

} // namespace tile
