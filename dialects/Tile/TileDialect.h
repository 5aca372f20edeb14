// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile dialect for C++: dialect, types, attributes, operations, and queries on their types.
#pragma once

#include "Tile/AttrNames.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Tile/TileDialect.h.inc"
#include "Tile/TileEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Tile/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Tile/TileAttrs.h.inc"

namespace tile {

/// For each dimension of a result, the operand dimension to which it corresponds, if there is one; see ShapeChange.
using SourceDims = llvm::SmallVector<std::optional<unsigned>, 4>;

/// Global memory, as the resource on which loads and stores have effects.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "tile.global_memory"; }
};

/// Returns the element type of a tensor, otherwise the type itself.
mlir::Type getElementTypeOf(mlir::Type type);
/// Returns `element` or, if `like` is a tensor, a tensor of `element` with the shape and encoding of `like`.
mlir::Type withElementType(mlir::Type like, mlir::Type element);
/// Returns the type of the value that is read through a pointer (or a tensor of pointers) of type `pointer`.
mlir::Type getPointeeValueType(mlir::Type pointer);
/// Returns i1 or, if `like` is a tensor, a tensor of i1 with the shape and encoding of `like`.
mlir::Type getMaskType(mlir::Type like);
/// Returns the sizes, each rounded up to a power of two.
llvm::SmallVector<int64_t> getPaddedShape(llvm::ArrayRef<int64_t> shape);
/// Returns the size in bytes of an element in global memory; an i1 takes one byte, a pointer eight.
unsigned getBytesInMemory(mlir::Type element);
/// Returns true if the operation may change what a later load reads, or if it waits for other programs.
bool writesGlobalMemory(mlir::Operation *op);
/// Returns true if each element of the results is computed from the operands' elements at the same position, or from
/// scalars.
bool isElementwise(mlir::Operation *op);
/// Broadcasts `line`, whose elements lie along dimension `dim`, to a tensor of this shape.
mlir::Value emitAlongDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value line, unsigned dim,
                         llvm::ArrayRef<int64_t> shape);

} // namespace tile

#include "Tile/Engine.h.inc"
#include "Tile/ShapeChange.h.inc"

#define GET_OP_CLASSES
#include "Tile/TileOps.h.inc"
