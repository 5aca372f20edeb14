// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline PTX, built only here. For instructions that neither an operation of the NVVM dialect nor an LLVM intrinsic
// expresses.
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
  /// Values of the results before the statement, for statements that may not write them; empty or one for each result.
  llvm::SmallVector<mlir::Value> initial = {};
  bool hasSideEffects = true;
  /// Whether instructions write results before others read operands: if they do, an operand whose value is also an
  /// initial one gets a separate register.
  bool readsAfterWriting = false;
  /// Indices of operands that are immediates in the text: constants.
  llvm::SmallVector<unsigned> immediates = {};
};

/// Emits the statement. Operands and results are i1, i16, i32, i64, f32, f64 or pointers.
llvm::SmallVector<mlir::Value> emitPtx(mlir::OpBuilder &builder, mlir::Location loc, const PtxStatement &statement);

/// Returns "{$3, $4}", or "$3" if count is 1.
std::string ptxVector(unsigned first, unsigned count);

} // namespace tile::conversion
