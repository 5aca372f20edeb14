// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combines an element in memory with an operand, for atomic operations through pointers and descriptors.
#pragma once

#include "Interpreter/Memory.h"

#include <cmath>

namespace tile::interp {

template <typename T> T combineIntegers(AtomicKind kind, T old, T value) {
  using Signed = std::make_signed_t<T>;
  switch (kind) {
  case AtomicKind::add:
    return T(old + value);
  case AtomicKind::max:
    return Signed(old) > Signed(value) ? old : value;
  case AtomicKind::min:
    return Signed(old) < Signed(value) ? old : value;
  case AtomicKind::umax:
    return std::max(old, value);
  case AtomicKind::umin:
    return std::min(old, value);
  case AtomicKind::and_:
    return old & value;
  case AtomicKind::or_:
    return old | value;
  case AtomicKind::xor_:
    return old ^ value;
  case AtomicKind::xchg:
  case AtomicKind::fmax:
  case AtomicKind::fmin:
    return value;
  }
  return value;
}

template <Kind kind> HeldType<kind> combineAtomically(AtomicKind operation, HeldType<kind> old, HeldType<kind> value) {
  if constexpr (isInteger(kind))
    return combineIntegers(operation, old, value);
  else if (operation == AtomicKind::xchg)
    return value;
  else if (operation == AtomicKind::fmax)
    return std::fmax(old, value);
  else if (operation == AtomicKind::fmin)
    return std::fmin(old, value);
  else if constexpr (isSmallFloat(kind))
    return roundTo(kind, old + value);
  else
    return old + value;
}

} // namespace tile::interp
