// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes integers of a kernel as expressions of its arguments, in the syntax of the manifest. The expressions are used
// for estimates: a value that differs between programs or iterations is represented by the middle of its range.
//
//   %end = min((tl.program_id(0) + 1) * 64, N)        min((cdiv(N, BLOCK) // 2 + 1) * 64, N)
//
// Overflow, signedness and the rounding of negative quotients follow the manifest's rules, so an expression may differ
// from the kernel's result. Codegen/LaunchConditions writes conditions, which must be exact.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
#include <string>

namespace tile {

using EstimatedText = std::optional<std::string>;

/// Writes the values of one kernel. Returns nullopt for a value that depends on memory or cannot be expressed.
class EstimateWriter {
public:
  explicit EstimateWriter(KernelOp kernel);

  EstimatedText number(mlir::Value value, unsigned depth = 0);
  /// Returns an expression that is 1 if the condition holds and 0 otherwise.
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
