// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of copies: cp.reduce.async.bulk, red.async. PTX ISA 9.7.9.25.
#pragma once

#include "Simulator/Exec/Async/TensorMap.h"
#include "Simulator/Ptx/Module.h"

#include <optional>
#include <string_view>

namespace tile::sim {

enum class ReduceOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// to[i] = to[i] op from[i] for `bytes` bytes of elements.
using Reducer = void (*)(std::byte *to, const std::byte *from, uint32_t bytes);

/// Null: no such combination.
Reducer findReducer(ReduceOp op, Type type);
/// Returns true if copies and stores into shared memory support the reduction: integers of 32 bits, sums of 64 bits.
bool reducesInShared(ReduceOp op, Type type);
/// Returns the type in which a reduction computes, for elements of a tensor map.
Type reductionType(MapType type, ReduceOp op);

} // namespace tile::sim
