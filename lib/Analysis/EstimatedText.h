// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of a kernel as expressions of its manifest, for estimates: over the kernel's arguments, and for the middle
// of what differs between programs and iterations.
//
//   %end = min((tl.program_id(0) + 1) * 64, N)        min((cdiv(N, BLOCK) // 2 + 1) * 64, N)
//
// Overflow, rounding of negative quotients and signs are those of the manifest. Conditions, which must be exact, are
// written by Codegen/LaunchConditions.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
#include <string>

namespace tile {

using EstimatedText = std::optional<std::string>;

/// Writes values of one kernel. Nothing: the value depends on memory or on what no expression says.
class EstimateWriter {
public:
  explicit EstimateWriter(KernelOp kernel);

  EstimatedText number(mlir::Value value, unsigned depth = 0);
  /// 1 or 0.
  EstimatedText condition(mlir::Value value, unsigned depth = 0);
  /// The number of iterations.
  EstimatedText iterations(mlir::scf::ForOp loop);
  /// The number of programs along an axis of the grid.
  std::string gridSize(unsigned axis);

private:
  EstimatedText argument(mlir::BlockArgument argument, unsigned depth);
  EstimatedText operation(mlir::Operation *op, unsigned depth);
  EstimatedText select(mlir::Operation *op, unsigned depth);

  KernelOp kernel;
};

} // namespace tile
