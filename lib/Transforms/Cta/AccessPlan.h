// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts that memory accesses, atomic operations, scans and ordered reductions each prefer in isolation.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"
#include "Layout/LinearLayout.h"
#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"
#include "Transforms/Cta/AddressSpan.h"

#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace tile {

/// The preferred access pattern of a load or store: lanes run along the dimension in which addresses are consecutive,
/// and each thread takes as many elements as fit in one 16-byte access.
struct AccessPlan {
  std::vector<unsigned> order;
  int64_t vector = 1;
  bool isFull = false;  ///< 16 bytes, or fewer if the addresses do not allow it.
  double stepBytes = 0; ///< Estimated distance between neighbours along the first dimension.

  layout::LinearLayout getLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps) const;
  /// Returns a layout whose warps are distributed over the other dimensions before the first one.
  layout::LinearLayout getRowLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps) const;
};

/// Plans a load or store. If no addresses are consecutive, lanes run along the dimension in which they are likely to be
/// closest.
AccessPlan planAccess(mlir::Value pointer, AxisInfoAnalysis &analysis);

/// Returns the operations that produce the operands of the kernel's dots, such as loads. The set may contain null.
llvm::DenseSet<mlir::Operation *> collectOperands(KernelOp kernel);

/// Plans the load of a dot operand: uses 16-byte accesses even for unaligned rows. Such a load becomes `unaligned`:
/// threads read the aligned chunks that cover their elements.
AccessPlan planOperand(LoadOp load, AxisInfoAnalysis &analysis);

/// Returns the number of loops around the operation.
unsigned depthOf(mlir::Operation *op);

/// Orders accesses of one shape by priority; the first one determines the shape's layout. Accesses of 16 bytes per
/// thread come first, then those that are executed most often, then those that reach 16 bytes with the fewest elements.
bool decidesBefore(const std::pair<mlir::Operation *, AccessPlan> &a,
                   const std::pair<mlir::Operation *, AccessPlan> &b);

/// Returns true if the elements that a warp loads, `vector` elements per lane, lie in two cache lines.
bool isNear(mlir::Operation *access, const AccessPlan &plan, int64_t vector, AddressSpans &spans);

/// Returns the layout of one warp, replicated in each of several warps.
layout::LinearLayout repeatForWarps(const layout::LinearLayout &layout, unsigned numWarps);

/// Returns true if the lanes of a warp access whole 32-byte sectors when they access a matrix in `layout`.
bool takesSectors(const layout::LinearLayout &layout, const AccessPlan &plan, const AxisInfo &info, unsigned bytes);

/// Plans an atomic operation: like a store, with the vector width that the instructions support.
layout::LinearLayout planAtomic(mlir::Operation *op, AxisInfoAnalysis &axisInfo, unsigned numWarps,
                                const target::GpuTarget &gpu);

/// Plans inline PTX that computes `pack` elements per execution: each thread holds this number of elements, which are
/// consecutive in row-major order, across rows if rows are shorter. Threads without distinct elements hold copies.
layout::LinearLayout planPacked(llvm::ArrayRef<int64_t> shape, int64_t pack, unsigned numWarps);

/// Plans a scan: the axis is distributed over consecutive registers, then over lanes. It is also distributed over warps
/// if the other dimensions do not fill the warps and a thread would otherwise have many elements; warps then exchange
/// their totals through memory. The other dimensions get the lanes and warps that the axis does not use. Any remaining
/// lanes and warps hold copies.
layout::LinearLayout planScan(mlir::RankedTensorType type, unsigned axis, KernelOp kernel);
/// Plans a scan of a vector whose elements are far apart in memory. Even if a thread has two elements, neighbouring
/// elements are in different lanes, because they may lie in one cache line.
layout::LinearLayout planStridedScan(mlir::RankedTensorType type, KernelOp kernel);

/// Preserves the order of a non-commutative reduction. If the axis is distributed over registers, lanes, warps and then
/// registers again, it is reduced in two steps: within runs, then over the runs. Otherwise the operands are converted
/// to the layout of a scan.
void keepOrder(ReduceOp reduce, mlir::OpBuilder &builder);

} // namespace tile
