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

/// For each dimension of a result the operand's along which it runs, if there is one; see ShapeChange.
using SourceDims = llvm::SmallVector<std::optional<unsigned>, 4>;

/// Global memory, as the resource that loads and stores affect.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "tile.global_memory"; }
};

/// Type of the elements: the element type of a tensor, otherwise the type itself.
mlir::Type getElementTypeOf(mlir::Type type);
/// `element`, or a tensor of it with the shape and encoding of `like` if that is a tensor.
mlir::Type withElementType(mlir::Type like, mlir::Type element);
/// Value read through a pointer (or tensor of pointers) of type `pointer`.
mlir::Type getPointeeValueType(mlir::Type pointer);
/// i1 in the shape and encoding of `like`.
mlir::Type getMaskType(mlir::Type like);
/// The sizes, each rounded up to a power of two.
llvm::SmallVector<int64_t> getPaddedShape(llvm::ArrayRef<int64_t> shape);
/// Bytes that an element of type `element` occupies in global memory; i1 takes one byte, a pointer eight.
unsigned getBytesInMemory(mlir::Type element);
/// Whether the operation may change what a load reads that runs after it, or waits for other programs.
bool writesGlobalMemory(mlir::Operation *op);
/// Whether each element of the results is computed from the operands' elements at the same place, or from scalars.
bool isElementwise(mlir::Operation *op);
/// `line` along dimension `dim` of a tensor of this shape, the same for all other coordinates.
mlir::Value emitAlongDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value line, unsigned dim,
                         llvm::ArrayRef<int64_t> shape);

} // namespace tile

#include "Tile/Engine.h.inc"
#include "Tile/ShapeChange.h.inc"

#define GET_OP_CLASSES
#include "Tile/TileOps.h.inc"
