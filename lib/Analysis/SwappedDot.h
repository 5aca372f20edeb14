// Products whose rows wgmma does not have: whether warp groups multiply them with their operands swapped, c^T = b^T
// a^T.
//
// wgmma multiplies 64 rows of its left operand by 8 to 256 columns of its right one. A product with 16 rows fills a
// quarter of that, and the memory that 48 rows of zeros take, and one with 144 rows two times and a quarter of it;
// transposed, columns of b are its rows. Operands lie in shared memory and may be read in either order there, so that
// nothing is moved.
#pragma once

#include "Analysis/DotPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// How a swapped product gets its transposed accumulator.
struct SwapPlan {
  mlir::scf::ForOp loop; ///< That carries the accumulator from product to product; null if it is a constant.
  unsigned index = 0;    ///< Of the accumulator in the loop's arguments.
};

/// None if the dot has 64 rows anyway, or a larger power of two, or if its accumulator would have to be transposed for
/// each product.
std::optional<SwapPlan> planSwap(DotOp dot);

/// Whether warp groups may multiply the dot if its sizes are no powers of two: both operands are loaded, so that they
/// can come through descriptors, and if rows are such a size, planSwap has a plan.
bool mayHaveOddSize(DotOp dot);

/// Whether warp groups multiply the dot, as it stands or swapped; arguments are those of planWarpGroups.
bool isForWarpGroups(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target, unsigned numWarps);

} // namespace tile
