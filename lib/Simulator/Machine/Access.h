// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory accesses, as the machine reports them to the checker and the profiler.
#pragma once

#include "Simulator/Machine/Lanes.h"
#include "Simulator/Machine/Report.h"

#include <cstddef>

namespace tile::sim {

class Warp;

enum class AccessKind : uint8_t { Read, Write, Atomic };
enum class MemoryOrder : uint8_t { Weak, Relaxed, Acquire, Release, AcquireRelease };
enum class Scope : uint8_t { Cta, Cluster, Gpu, System };

/// Consecutive bytes of one memory.
struct Range {
  Space space = Space::Global; ///< Global, Shared or Tensor
  uint32_t ctaRank = 0;        ///< Shared, Tensor: the rank of the owner in the cluster of the issuing warp
  uint64_t address = 0;        ///< Global: address; Shared: offset from sharedBase; Tensor: see TensorMemory.h
  uint32_t bytes = 0;
};

/// One generic-proxy access of a warp, by a load, store or atomic. Addresses are resolved: `space` is Global, Shared or
/// Local, never Generic. Shared addresses are offsets from sharedBase in the CTA `ctaRank[lane]`.
struct LaneAccess {
  const Instruction *instruction = nullptr;
  AccessKind kind = AccessKind::Read;
  MemoryOrder order = MemoryOrder::Weak;
  Scope scope = Scope::Gpu;
  LaneMask lanes = 0;
  unsigned bytes = 0;         ///< per lane
  bool isVector = false;      ///< part of an atomic operation on several values
  bool isNonCoherent = false; ///< ld.global.nc
  bool isPart = false;        ///< part of a wider access that has already been checked and counted
  Space space[warpSize] = {};
  uint32_t ctaRank[warpSize];
  uint64_t address[warpSize];
  /// The values of a weak store, if they are known: lane i writes the bytes at values + i * bytes.
  const std::byte *values = nullptr;
};

/// An entity that a thread can wait for, represented by a counter that tells how many of its operations have finished.
/// Examples are a warp's program order, the bulk groups of a thread, the wgmma groups of a warp and the phases of an
/// mbarrier.
using Component = uint32_t;
constexpr Component noComponent = ~Component(0);

/// A value of a component. A warp that waits for it has a clock that reaches this value.
struct Epoch {
  Component component = noComponent;
  uint32_t count = 0;
};

} // namespace tile::sim
