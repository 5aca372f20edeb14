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
  /// conversionMap(src, dst): where each destination register comes from.
  LinearLayout sources;
  /// For none and registers: source register of each destination register.
  std::vector<int32_t> registerSources;
  /// For lanes: shuffles needed, one for each destination register and each source register that the lanes of a warp
  /// read it from.
  int64_t shuffles = 0;
  /// Whether data leaves a warp; if not, a movement through shared memory needs no barrier between warps.
  bool crossesWarps = false;
};

/// A shuffle and a 4-byte shared-memory access both cost one wavefront, so shuffles win while there are at most
/// `maxShufflesPerRegister` of them (store + load = 2).
Movement planMovement(const LinearLayout &src, const LinearLayout &dst, int64_t maxShufflesPerRegister = 2);

/// Whether shuffles are cheaper than shared memory, and no warp waits for another: one brings each register of `dst`,
/// or several small elements together, of a vector; or two bring each word of four bytes of a matrix (movesByPairs).
bool movesByShuffles(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes);

/// Whether each word of four bytes of `dst` takes two shuffles: two lanes have two bytes of it each, in one of two
/// pairs of registers, as accumulators have what a fragment of 8-bit types takes. Threads would write such bytes to
/// shared memory in pairs, too. `sources` is conversionMap(src, dst).
bool movesByPairs(const LinearLayout &sources, unsigned elementBytes);

/// Where an element is, from where another one is: what differs in the numbers of register, lane and warp.
struct Distance {
  int32_t registers, lanes, warps;
};

/// Of the elements whose coordinates along `axis` differ by an exclusive or with `bits`: the same for all, since the
/// layout is linear, and the lowest where several hold an element.
Distance findDistance(const LinearLayout &layout, unsigned axis, int64_t bits);

} // namespace tile::layout
