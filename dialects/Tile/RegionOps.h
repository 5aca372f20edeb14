// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations that compute with a region share: their syntax, `operands attributes : types -> types region`, and
// the check of regions that combine.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace tile {

/// Used instead of a declared format: there the region belongs to the operation only when all of it has been read, and
/// where that fails before, what is outside keeps using values inside. The parser of MLIR takes such uses away, but
/// knows only of regions that `result` has.
mlir::ParseResult parseWithRegion(mlir::OpAsmParser &parser, mlir::OperationState &result);

/// `hidden` are attributes that are written in another way.
void printWithRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> hidden = {});

/// The region combines two tuples of elements of `srcs`.
mlir::LogicalResult verifyCombination(mlir::Operation *op, mlir::ValueRange srcs, mlir::Block &block);

} // namespace tile
