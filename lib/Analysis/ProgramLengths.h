// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differences between the lengths of programs along the axes of a grid.
//
//   for %i = 0 to min(128 * program_id + 128, S) step 64       2 iterations more for each program along axis 0
#pragma once

#include "Analysis/AffineBlock.h"
#include "Tile/TileDialect.h"

namespace tile {

class ProgramLengths {
public:
  explicit ProgramLengths(KernelOp kernel) : kernel(kernel), facts(kernel), blocks(facts) {}

  /// Returns how many more iterations all loops together have from one program to the next along the axis, where minima
  /// and maxima do not limit them. None if that depends on more than constants.
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
