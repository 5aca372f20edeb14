// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of decoded instructions, each of which reads or writes 32 values.
#pragma once

#include "Simulator/Machine/Warp.h"
#include "Simulator/Numerics/Half.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tile::sim {

/// An operand that reads a value for each lane: a register, or the same constant for all lanes.
template <typename T> class Source {
public:
  /// Returns the 32 values; of a wider register, their low parts. `scratch` is used if the values must be copied.
  const T *read(const Warp &warp, T (&scratch)[warpSize]) const {
    if (isConstant) {
      std::fill(scratch, scratch + warpSize, constantOf(warp));
      return scratch;
    }
    if (registerBytes == sizeof(T))
      return warp.lanes<T>(offset);
    const std::byte *from = warp.lanes<std::byte>(offset);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::memcpy(&scratch[lane], from + lane * registerBytes, sizeof(T)); // little-endian: the low part
    return scratch;
  }
  T one(const Warp &warp, unsigned lane) const {
    if (isConstant)
      return constantOf(warp);
    T value;
    std::memcpy(&value, warp.lanes<std::byte>(offset) + lane * registerBytes, sizeof(T));
    return value;
  }

  bool isConstant = true;
  bool isSharedAddress = false; ///< the constant is an address in the CTA's shared memory, without the CTA's rank
  uint8_t registerBytes = sizeof(T);
  uint32_t offset = 0;
  T constant{};

private:
  T constantOf(const Warp &warp) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(uint32_t))
      return isSharedAddress ? T(constant | T(warp.sharedRankBits)) : constant;
    return constant;
  }
};

/// An operand that writes a value for each lane.
template <typename T> class Dest {
public:
  void write(Warp &warp, LaneMask mask, const T *values) const {
    if (isSink)
      return;
    if (registerBytes == sizeof(T)) {
      T *to = warp.lanes<T>(offset);
      forLanes(mask, [&](unsigned lane) { to[lane] = values[lane]; });
      return;
    }
    forLanes(mask, [&](unsigned lane) { one(warp, lane, values[lane]); });
  }
  void one(Warp &warp, unsigned lane, T value) const {
    if (isSink)
      return;
    std::byte *to = warp.lanes<std::byte>(offset) + lane * registerBytes;
    int fill = 0;
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      fill = value < 0 ? 0xff : 0;
    std::memset(to, fill, registerBytes);
    std::memcpy(to, &value, sizeof(T) < registerBytes ? sizeof(T) : registerBytes);
  }

  bool isSink = false;
  uint8_t registerBytes = sizeof(T);
  uint32_t offset = 0;
};

struct PredicateSource {
  LaneMask read(const Warp &warp) const {
    LaneMask mask = isConstant ? constant : warp.predicate(offset);
    return negated ? ~mask : mask;
  }
  bool isConstant = true;
  bool negated = false;
  uint32_t offset = 0;
  LaneMask constant = 0;
};

struct PredicateDest {
  void write(Warp &warp, LaneMask mask, LaneMask values) const {
    if (isSink)
      return;
    LaneMask &to = warp.predicate(offset);
    to = (to & ~mask) | (values & mask);
  }
  bool isSink = true;
  uint32_t offset = 0;
};

/// An address: [register + constant], or a constant. 32-bit registers are zero-extended.
struct AddressSource {
  uint64_t one(const Warp &warp, unsigned lane) const {
    return (is32 ? narrow.one(warp, lane) : base.one(warp, lane)) + uint64_t(offset);
  }
  void read(const Warp &warp, LaneMask mask, uint64_t (&addresses)[warpSize]) const {
    forLanes(mask, [&](unsigned lane) { addresses[lane] = one(warp, lane); });
  }
  bool is32 = false;
  Source<uint64_t> base;
  Source<uint32_t> narrow;
  int64_t offset = 0;
};

} // namespace tile::sim
