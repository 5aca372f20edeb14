// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax and checks that the engine attributes share: <m64n256k16, f16, f16, f32, …>, followed by the parameters of the
// particular engine.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

namespace tile::cta {

struct ParsedEngine {
  unsigned m = 0, n = 0, k = 0;
  mlir::Type a, b, accumulator;
  std::vector<unsigned> grid;
};

/// Parses text such as "<m64n256k16, f16, f16, f32".
mlir::ParseResult parseInstruction(mlir::AsmParser &parser, ParsedEngine &parsed);
/// Parses text such as "= threads".
mlir::ParseResult parseSource(mlir::AsmParser &parser, target::OperandSource &source);

void printInstruction(mlir::AsmPrinter &printer, const ParsedEngine &parsed);
/// Prints text such as ", a = threads" for operands whose source is not TMA.
void printSources(mlir::AsmPrinter &printer, BufferEngine engine);

/// Fails unless the engine's operand types are the types of the dot, and K has at least one whole step. Uses the sizes
/// that the dot will have after tile-pad-blocks.
mlir::LogicalResult verifyOperands(DotOp dot, mlir::Attribute engine, llvm::ArrayRef<mlir::Type> types,
                                   llvm::ArrayRef<mlir::Type> given, unsigned stepK);

/// Fails unless each scale of the dot applies to `scaleGroup` elements along k; 0 means that the dot has no scales.
mlir::LogicalResult verifyScaleGroup(DotOp dot, mlir::Attribute engine, unsigned scaleGroup);

/// The sizes of a dot, and the types of a, b and the accumulator; or the same properties of the corresponding swapped
/// dot.
struct EngineDot {
  llvm::SmallVector<mlir::Type, 3> types;
  int64_t m, n;
};
EngineDot viewDot(DotOp dot, bool swapped);
/// Reports that the numbers of rows and columns are not multiples of the instruction's numbers of rows and columns.
mlir::LogicalResult refuseParts(DotOp dot, mlir::Attribute engine, const EngineDot &view, bool swapped);

} // namespace tile::cta
