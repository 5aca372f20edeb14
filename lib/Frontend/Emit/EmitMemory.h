// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared helpers of loads, stores and atomic operations: their pointer, and operands of the pointer's shape.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Returns the pointer or block of pointers of an access; an error value after a message.
SymValue pointerOperand(BuiltinCall &call);
/// Broadcasts a value to the shape of the pointer.
SymValue followPointer(BuiltinCall &call, size_t index, SymValue value, const SymValue &pointer);
SymValue maskOperand(BuiltinCall &call, size_t index, const SymValue &pointer);

/// Checks that the first argument is a descriptor. Returns false after a message.
bool descriptorOperand(BuiltinCall &call);
/// Converts a tuple of integers to scalars of one type. Returns false after an error.
bool scalarList(BuiltinCall &call, size_t index, DType type, size_t rank, llvm::SmallVectorImpl<mlir::Value> &out);
/// Emits desc.store(offsets, value), or an atomic update (EmitDescriptor.cpp).
SymValue storeBlock(BuiltinCall &call, std::optional<AtomicKind> reduce);

/// The size of the innermost row of a TMA box, the base address and the strides must be multiples of this number of
/// bytes (CUDA driver API, cuTensorMapEncodeTiled).
constexpr int64_t leastRowBytes = 16;
int64_t rowBytes(llvm::ArrayRef<int64_t> block, DType element);
/// Returns the same descriptor with NaN as the value of out-of-bounds loads.
SymValue padWithNan(SymValue desc);

/// Pointers and boundary mask of a block pointer (EmitBlockPointer.cpp). Without a mask, all elements are accessed.
struct BlockAddress {
  SymValue pointer, mask;
};
std::optional<BlockAddress> expandBlockPointer(BuiltinCall &call, size_t boundaryIndex);

} // namespace tile::frontend
