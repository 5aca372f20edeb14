// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds inline PTX, for instructions that neither the NVVM dialect nor an LLVM intrinsic can express. No other file
// builds inline PTX.
//
//   emitPtx(builder, loc, {.text = "@$2 ld.global.v2.b32 {$0, $1}, [$3];", .results = {i32, i32},
//                          .operands = {mask, pointer}, .initial = {zero, zero}})
#pragma once

#include "mlir/IR/Builders.h"

#include <string>

namespace tile::conversion {

struct PtxStatement {
  /// $0, $1, … are the results, then the operands.
  std::string text;
  llvm::SmallVector<mlir::Type> results = {};
  llvm::SmallVector<mlir::Value> operands = {};
  /// Initial values of the results, for statements that may not write them; empty, or one value for each result.
  llvm::SmallVector<mlir::Value> initial = {};
  bool hasSideEffects = true;
  /// True if some instruction reads an operand after another one has written a result. An operand that is also an
  /// initial value then gets a separate register.
  bool readsAfterWriting = false;
  /// Indices of the operands that are immediates in the PTX; these operands must be constants.
  llvm::SmallVector<unsigned> immediates = {};
};

/// Emits the statement. Operands and results are i1, i16, i32, i64, f32, f64 or pointers.
llvm::SmallVector<mlir::Value> emitPtx(mlir::OpBuilder &builder, mlir::Location loc, const PtxStatement &statement);

/// Returns "{$3, $4}", or "$3" if count is 1.
std::string ptxVector(unsigned first, unsigned count);

} // namespace tile::conversion
