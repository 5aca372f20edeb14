// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The suffixes of ld, st, atom and red: order, scope, space and cache hints. PTX ISA 9.7.9.8 and 8.
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Machine/Access.h"

namespace tile::sim {

struct MemorySuffixes {
  MemoryOrder order = MemoryOrder::Weak;
  Scope scope = Scope::Gpu;
  Space space = Space::Generic;
  bool covers =
      false; ///< `.weak`, the default, is written out: tilec marks in this way words that cover unaligned bytes
  bool isNonCoherent = false; ///< .nc
  bool hasPolicy = false;     ///< the last operand is a cache policy, which has no effect here
  bool hasOrder = false, hasScope = false, hasSpace = false; ///< the suffix has been taken
};

/// Takes the memory order (.weak, .relaxed, .acquire, …), unless there has been one.
inline bool takeOrder(Decoding &d, MemorySuffixes &suffixes) {
  constexpr MemoryOrder orders[] = {MemoryOrder::Weak,    MemoryOrder::Relaxed, MemoryOrder::Relaxed,
                                    MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcquireRelease};
  if (suffixes.hasOrder)
    return false;
  const bool isMmio = d.take("mmio"); // precedes the memory order
  const int order = d.takeOne({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  suffixes.hasOrder = isMmio || order >= 0;
  if (order < 0)
    return isMmio;
  suffixes.order = orders[order];
  suffixes.covers = order == 0;
  if (order == 1) // volatile means relaxed with system scope (PTX ISA 8.4.2)
    suffixes.scope = Scope::System;
  return true;
}

inline bool takeScope(Decoding &d, MemorySuffixes &suffixes) {
  const int scope = suffixes.hasScope ? -1 : d.takeOne({"cta", "cluster", "gpu", "sys"});
  if (scope >= 0)
    suffixes.scope = Scope(scope);
  suffixes.hasScope |= scope >= 0;
  return scope >= 0;
}

inline bool takeSpaceSuffix(Decoding &d, MemorySuffixes &suffixes) {
  constexpr Space spaces[] = {Space::Global, Space::Shared, Space::Shared, Space::Shared, Space::Local,
                              Space::Const,  Space::Param,  Space::Param,  Space::Param};
  const int space = suffixes.hasSpace ? -1
                                      : d.takeOne({"global", "shared", "shared::cta", "shared::cluster", "local",
                                                   "const", "param", "param::entry", "param::func"});
  if (space >= 0)
    suffixes.space = spaces[space];
  suffixes.hasSpace |= space >= 0;
  return space >= 0;
}

/// Takes the memory order, the scope (.cta, .cluster, .gpu, .sys) and the space, each at most once. The ISA specifies
/// this sequence, but ptxas accepts any, and Triton writes `atom.global.gpu.acq_rel`.
inline void takeOrderAndSpace(Decoding &d, MemorySuffixes &suffixes) {
  while (takeOrder(d, suffixes) || takeScope(d, suffixes) || takeSpaceSuffix(d, suffixes))
    ;
}

inline bool takesNonCoherent(Decoding &d, MemorySuffixes &suffixes) {
  bool isPresent = d.take("nc");
  suffixes.isNonCoherent |= isPresent;
  return isPresent;
}

/// Takes cache operators, eviction priorities and prefetch sizes. None of them affects results.
inline void takeCacheHints(Decoding &d, MemorySuffixes &suffixes) {
  while (takesNonCoherent(d, suffixes) ||
         d.takeOne({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified", "L1::evict_normal", "L1::evict_unchanged",
                    "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::evict_first", "L2::evict_last",
                    "L2::evict_normal", "L2::64B", "L2::128B", "L2::256B"}) >= 0)
    ;
  suffixes.hasPolicy |= d.take("L2::cache_hint");
  while (d.takeOne({"L2::64B", "L2::128B", "L2::256B"}) >= 0)
    ;
}

/// Takes .v2, .v4 or .v8. Returns the vector length, or 1 if there is none.
inline unsigned takeVector(Decoding &d) {
  constexpr unsigned counts[] = {2, 4, 8};
  int vector = d.takeOne({"v2", "v4", "v8"});
  return vector < 0 ? 1 : counts[vector];
}

} // namespace tile::sim
