// What loads, stores and atomic operations share: their pointer, and operands that follow it.

#pragma once

#include "Frontend/Builtins.h"

namespace tile::frontend {

/// The pointer or block of pointers that an access takes; an error value after a message.
SymValue pointerOperand(BuiltinCall &call);
/// A value brought to the shape of the pointer.
SymValue followPointer(BuiltinCall &call, size_t index, SymValue value, const SymValue &pointer);
SymValue maskOperand(BuiltinCall &call, size_t index, const SymValue &pointer);

/// Pointers and boundary masks of a block pointer (EmitBlockPointer.cpp). No mask: nothing is checked.
struct BlockAddress {
  SymValue pointer, mask;
};
std::optional<BlockAddress> expandBlockPointer(BuiltinCall &call, size_t boundaryIndex);

} // namespace tile::frontend
