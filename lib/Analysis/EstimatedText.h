// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of a kernel as expressions of its manifest, for estimates. They are over the kernel's arguments; values that
// differ between programs and iterations are represented by their middle.
//
//   %end = min((tl.program_id(0) + 1) * 64, N)        min((cdiv(N, BLOCK) // 2 + 1) * 64, N)
//
// Overflow, rounding of negative quotients and signs are those of the manifest. Codegen/LaunchConditions writes
// conditions, which must be exact.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
#include <string>

namespace tile {

using EstimatedText = std::optional<std::string>;

/// Writes values of one kernel. Returns nothing if the value depends on memory or cannot be expressed.
class EstimateWriter {
public:
  explicit EstimateWriter(KernelOp kernel);

  EstimatedText number(mlir::Value value, unsigned depth = 0);
  /// Returns an expression for 1 or 0.
  EstimatedText condition(mlir::Value value, unsigned depth = 0);
  /// Returns the number of iterations.
  EstimatedText iterations(mlir::scf::ForOp loop);
  /// Returns the number of programs along an axis of the grid.
  std::string gridSize(unsigned axis);

private:
  EstimatedText argument(mlir::BlockArgument argument, unsigned depth);
  EstimatedText operation(mlir::Operation *op, unsigned depth);
  EstimatedText select(mlir::Operation *op, unsigned depth);

  KernelOp kernel;
};

} // namespace tile
