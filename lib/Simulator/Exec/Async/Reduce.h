// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reductions of copies: cp.reduce.async.bulk, red.async. PTX ISA 9.7.9.25.
#pragma once

#include "Simulator/Exec/Async/TensorMap.h"
#include "Simulator/Ptx/Module.h"

#include <optional>
#include <string_view>

namespace tile::sim {

enum class ReduceOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Computes to[i] = to[i] op from[i] for elements with a total size of `bytes`.
using Reducer = void (*)(std::byte *to, const std::byte *from, uint32_t bytes);

/// Returns null if the combination does not exist.
Reducer findReducer(ReduceOp op, Type type);
/// Returns true if copies and stores into shared memory support the reduction: all 32-bit integer reductions, and
/// 64-bit sums.
bool reducesInShared(ReduceOp op, Type type);
/// Returns the type in which a reduction of elements of a tensor map computes.
Type reductionType(MapType type, ReduceOp op);

} // namespace tile::sim
