// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes how much the lengths of programs differ along the axes of a grid.
//
// for %i = 0 to min(128 * program_id + 128, S) step 64       2 more iterations for each further program along axis 0
#pragma once

#include "Analysis/Addresses/AffineBlock.h"
#include "Tile/TileDialect.h"

namespace tile {

class ProgramLengths {
public:
  explicit ProgramLengths(KernelOp kernel) : kernel(kernel), facts(kernel), blocks(facts) {}

  /// Returns how many more iterations, over all loops, a program has than its predecessor along the axis, ignoring
  /// where minima and maxima limit the number. Returns nullopt if the difference is not a constant.
  std::optional<double> getGrowth(unsigned axis);

private:
  std::optional<double> getSlope(const Polynomial &number, unsigned axis);
  std::optional<double> getSlope(mlir::Value number, unsigned axis);
  std::optional<double> getSlopeOfFactor(mlir::Value factor, unsigned axis);

  KernelOp kernel;
  AxisInfoAnalysis facts;
  AffineBlocks blocks;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::optional<double>> known; ///< Slopes of factors, cached.
};

} // namespace tile
