// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by operations that compute with a region: their syntax, `operands attributes : types -> types region`, and the
// verification of combining regions.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace tile {

/// Parses the common syntax. The syntax is not declarative: with a declarative format, the operation would own the
/// region only once the region has been parsed completely. If parsing fails before that, values inside the region still
/// have uses outside it, and MLIR's parser drops such uses only for regions that `result` already owns.
mlir::ParseResult parseWithRegion(mlir::OpAsmParser &parser, mlir::OperationState &result);

/// Prints the common syntax; `hidden` are attributes that the caller prints in another way.
void printWithRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> hidden = {});

/// Verifies that the region combines two tuples of elements of `srcs`.
mlir::LogicalResult verifyCombination(mlir::Operation *op, mlir::ValueRange srcs, mlir::Block &block);

} // namespace tile
