// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cheapest way to bring a tensor from one distributed layout to another.
//
//   none        every thread holds the same elements in the same registers
//   registers   every thread holds its elements already; registers are renamed
//   lanes       elements move between lanes of a warp: a few shuffles
//   shared      through shared memory (bankConflictFree gives the buffer)
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

enum class MovementKind { none, registers, lanes, shared };

struct Movement {
  MovementKind kind = MovementKind::none;
  /// conversionMap(src, dst): the source of each destination register.
  LinearLayout sources;
  /// For none and registers: source register of each destination register.
  std::vector<int32_t> registerSources;
  /// For lanes: number of shuffles, one for each pair of a destination register and a source register from which the
  /// lanes of a warp read it.
  int64_t shuffles = 0;
  /// True if data crosses warps; if not, a movement through shared memory needs no barrier between warps.
  bool crossesWarps = false;
};

/// Plans the cheapest movement. A shuffle and a 4-byte shared-memory access both cost one wavefront, so shuffles win
/// while there are at most `maxShufflesPerRegister` of them (store + load = 2).
Movement planMovement(const LinearLayout &src, const LinearLayout &dst, int64_t maxShufflesPerRegister = 2);

/// Returns true if shuffles are cheaper than shared memory and no warp waits for another. This holds if one shuffle
/// moves each register of a vector `dst`, or several sub-word elements together, or if two shuffles move each 4-byte
/// word of a matrix (movesByPairs).
bool movesByShuffles(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

/// Returns true if two shuffles assemble each 4-byte word of `dst`: two lanes hold two bytes of it each, in one of two
/// register pairs. This is how accumulators hold the elements of a fragment of an 8-bit type. Threads would write such
/// bytes to shared memory in pairs, too. `sources` is conversionMap(src, dst).
bool movesByPairs(const LinearLayout &sources, unsigned elementBytes);

/// Difference between the locations of two elements, as XOR of the register, lane and warp indices.
struct Distance {
  int32_t registers, lanes, warps;
};

/// Returns the distance between elements whose coordinates along `axis` differ by an XOR with `bits`. It is the same
/// for all elements, since the layout is linear. If several locations hold an element, the lowest distance is returned.
Distance findDistance(const LinearLayout &layout, unsigned axis, int64_t bits);

} // namespace tile::layout
