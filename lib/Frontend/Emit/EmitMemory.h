// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loads, stores and atomic operations share: their pointer, and operands that follow it.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// The pointer or block of pointers that an access takes; an error value after a message.
SymValue pointerOperand(BuiltinCall &call);
/// A value brought to the shape of the pointer.
SymValue followPointer(BuiltinCall &call, size_t index, SymValue value, const SymValue &pointer);
SymValue maskOperand(BuiltinCall &call, size_t index, const SymValue &pointer);

/// Whether the first argument is a descriptor; false after a message.
bool descriptorOperand(BuiltinCall &call);
/// Integers of a tuple as scalars of one type; false after an error.
bool scalarList(BuiltinCall &call, size_t index, DType type, size_t rank, llvm::SmallVectorImpl<mlir::Value> &out);
/// desc.store(offsets, value), or what it is combined by (EmitDescriptor.cpp).
SymValue storeBlock(BuiltinCall &call, std::optional<AtomicKind> reduce);

/// Pointers and boundary masks of a block pointer (EmitBlockPointer.cpp). No mask: nothing is checked.
struct BlockAddress {
  SymValue pointer, mask;
};
std::optional<BlockAddress> expandBlockPointer(BuiltinCall &call, size_t boundaryIndex);

} // namespace tile::frontend
