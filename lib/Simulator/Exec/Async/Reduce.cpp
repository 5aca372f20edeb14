// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/Reduce.h"

#include "Simulator/Numerics/MinMax.h"

#include <cstring>

namespace tile::sim {

namespace {

using namespace numerics;

template <typename T> constexpr bool isHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename T, ReduceOp op> T combine(T old, T value) {
  if constexpr (op == ReduceOp::Add) {
    if constexpr (isHalf<T>)
      return addHalf(old, value);
    else if constexpr (std::is_floating_point_v<T>)
      return addRounded<Rounding::NearestEven>(old, value);
    else
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(value));
  } else if constexpr (op == ReduceOp::Min || op == ReduceOp::Max) {
    if constexpr (isHalf<T> || std::is_floating_point_v<T>)
      return minMax<T, op == ReduceOp::Max, NanRule::PassOver, false>(old, value);
    else
      return (op == ReduceOp::Max) == (old > value) ? old : value;
  } else if constexpr (op == ReduceOp::Inc) {
    return old >= value ? 0 : old + 1;
  } else if constexpr (op == ReduceOp::Dec) {
    return old == 0 || old > value ? value : old - 1;
  } else if constexpr (op == ReduceOp::And) {
    return old & value;
  } else if constexpr (op == ReduceOp::Or) {
    return old | value;
  } else {
    return old ^ value;
  }
}

template <typename T, ReduceOp op> void reduceAll(std::byte *to, const std::byte *from, uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T old, value;
    std::memcpy(&old, to + at, sizeof(T));
    std::memcpy(&value, from + at, sizeof(T));
    old = combine<T, op>(old, value);
    std::memcpy(to + at, &old, sizeof(T));
  }
}

template <typename T> Reducer arithmetic(ReduceOp op) {
  switch (op) {
  case ReduceOp::Add:
    return reduceAll<T, ReduceOp::Add>;
  case ReduceOp::Min:
    return reduceAll<T, ReduceOp::Min>;
  case ReduceOp::Max:
    return reduceAll<T, ReduceOp::Max>;
  default:
    return nullptr;
  }
}

template <typename T> Reducer bitwise(ReduceOp op) {
  switch (op) {
  case ReduceOp::And:
    return reduceAll<T, ReduceOp::And>;
  case ReduceOp::Or:
    return reduceAll<T, ReduceOp::Or>;
  case ReduceOp::Xor:
    return reduceAll<T, ReduceOp::Xor>;
  default:
    return nullptr;
  }
}

} // namespace

Reducer findReducer(ReduceOp op, Type type) {
  switch (type) {
  case Type::B32:
    return bitwise<uint32_t>(op);
  case Type::B64:
    return bitwise<uint64_t>(op);
  case Type::U32:
    if (op == ReduceOp::Inc)
      return reduceAll<uint32_t, ReduceOp::Inc>;
    if (op == ReduceOp::Dec)
      return reduceAll<uint32_t, ReduceOp::Dec>;
    return arithmetic<uint32_t>(op);
  case Type::S32:
    return arithmetic<int32_t>(op);
  case Type::U64:
    return arithmetic<uint64_t>(op);
  case Type::S64:
    return op == ReduceOp::Add ? nullptr : arithmetic<int64_t>(op);
  case Type::F16:
    return arithmetic<Half>(op);
  case Type::BF16:
    return arithmetic<BFloat16>(op);
  case Type::F32:
    return op == ReduceOp::Add ? reduceAll<float, ReduceOp::Add> : nullptr;
  case Type::F64:
    return op == ReduceOp::Add ? reduceAll<double, ReduceOp::Add> : nullptr;
  default:
    return nullptr;
  }
}

bool reducesInShared(ReduceOp op, Type type) {
  if (type == Type::U64)
    return op == ReduceOp::Add;
  return type == Type::B32 || type == Type::U32 || type == Type::S32;
}

Type reductionType(MapType type, ReduceOp op) {
  bool isBitwise = op >= ReduceOp::And;
  constexpr Type types[numMapTypes] = {Type::U8,  Type::U16, Type::U32,  Type::S32, Type::U64, Type::S64, Type::F16,
                                       Type::F32, Type::F64, Type::BF16, Type::F32, Type::F32, Type::F32};
  if (!isBitwise)
    return types[uint8_t(type)];
  return mapTypeBytes(type) == 4 ? Type::B32 : mapTypeBytes(type) == 8 ? Type::B64 : Type::B16;
}

} // namespace tile::sim
