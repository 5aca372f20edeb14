// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cheapest way to move a tensor from one distributed layout to another.
//
//   none        every thread holds the same elements in the same registers
//   registers   every thread holds its elements already; registers are renamed
//   lanes       elements move between lanes of a warp: a few shuffles
//   shared      elements pass through shared memory (bankConflictFree returns the buffer)
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

enum class MovementKind { none, registers, lanes, shared };

struct Movement {
  MovementKind kind = MovementKind::none;
  /// conversionMap(src, dst), which maps each destination register to its source.
  LinearLayout sources;
  /// For the kinds none and registers: the source register of each destination register.
  std::vector<int32_t> registerSources;
  /// For the kind lanes: the number of shuffles. For each destination register, one shuffle is needed for each source
  /// register from which some lane of a warp reads it.
  int64_t shuffles = 0;
  /// True if data crosses warps; if not, a movement through shared memory needs no barrier between warps.
  bool crossesWarps = false;
};

/// Plans the cheapest movement. A shuffle and a 4-byte access to shared memory cost one wavefront each, so shuffles are
/// cheaper if there are at most `maxShufflesPerRegister` per register (a store and a load cost 2).
Movement planMovement(const LinearLayout &src, const LinearLayout &dst, int64_t maxShufflesPerRegister = 2);

/// Returns true if shuffles are cheaper than shared memory, and no warp has to wait for another. This is the case if
/// one shuffle moves each register of a vector `dst` (or several sub-word elements at once), or if two shuffles move
/// each 4-byte word of a matrix (movesByPairs).
bool movesByShuffles(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

/// Returns true if two shuffles can assemble each 4-byte word of `dst`: two lanes hold two of its bytes each, in one of
/// two register pairs. An accumulator holds the elements in this way if they become an 8-bit operand fragment. Shared
/// memory would not be faster, because threads would also write such bytes in pairs. `sources` is conversionMap(src,
/// dst).
bool movesByPairs(const LinearLayout &sources, unsigned elementBytes);

/// The difference between the locations of two elements, as XOR of the register, lane and warp indices.
struct Distance {
  int32_t registers, lanes, warps;
};

/// Returns the distance between elements whose coordinates along `axis` differ by an XOR with `bits`. The distance is
/// the same for all elements, since the layout is linear. If an element has several locations, returns the lowest
/// distance.
Distance findDistance(const LinearLayout &layout, unsigned axis, int64_t bits);

} // namespace tile::layout
