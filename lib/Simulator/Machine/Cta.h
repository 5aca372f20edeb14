// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread block: its warps, shared memory and barriers.
#pragma once

#include "Simulator/Machine/Barrier.h"
#include "Simulator/Machine/Warp.h"

#include <unordered_map>

namespace tile::sim {

class Cluster;

class Cta {
public:
  Cta(Cluster &cluster, unsigned rank, const uint32_t id[3]);
  ~Cta();

  Cluster &cluster;
  const unsigned rank;   ///< rank in the cluster
  uint32_t id[3];        ///< %ctaid
  uint64_t linearId = 0; ///< linear index in the grid, x fastest; continues after the grids of earlier GPUs
  std::vector<std::unique_ptr<Warp>> warps;
  NamedBarrier named[16];
  std::unordered_map<uint32_t, Mbarrier> mbarriers; ///< by address in shared memory
  /// A tensor map that the kernel has created and that fence.proxy.tensormap has acquired: the hash of its bytes at
  /// that time, and whether the map had been released.
  struct AcquiredMap {
    uint64_t hash = 0;
    bool isReleased = true;
  };
  std::unordered_map<uint64_t, AcquiredMap> acquiredMaps;
  /// Tensor maps in global memory that threads have changed since the CTA's last release fence for them.
  std::vector<uint64_t> changedMaps;
  unsigned threadCount = 0;
  unsigned liveThreads = 0;
  uint32_t freeRegisters = 0; ///< registers released by setmaxnreg
  TensorMemory tensor;

  /// Returns the bytes at a shared-memory address (which starts at sharedBase), or null if the range is not in shared
  /// memory.
  std::byte *shared(uint32_t address, uint64_t bytes) {
    uint64_t offset = uint64_t(address) - sharedBase;
    return address >= sharedBase && isWithin(offset, bytes, sharedBytes.size()) ? sharedBytes.data() + offset : nullptr;
  }
  uint32_t sharedSize() const { return sharedBytes.size(); }
  bool hasExited() const { return liveThreads == 0; }

  /// Called at the end of the CTA: reports warp groups in which not all warps have executed the same setmaxnreg.
  void checkRegisterChanges();
  /// Called at the end of the CTA: reports tensor memory that has not been freed.
  void checkTensorMemory();

private:
  std::vector<std::byte> sharedBytes;
};

/// Counts the events of one cluster or, if thread blocks communicate, of all running clusters.
struct Progress {
  uint64_t events = 0;
  uint64_t globalChanges = 0; ///< events that other clusters can observe
};

/// Thread blocks that run at the same time and see each other's shared memory. Without clusters, a single thread block.
class Cluster {
public:
  /// `sharedProgress` is null, or points to the counters that all clusters share.
  Cluster(class Machine &machine, const uint32_t id[3], unsigned gpu, uint64_t seed, Progress *sharedProgress);
  ~Cluster();

  class Machine &machine;
  uint32_t id[3];                         ///< %clusterid
  const unsigned gpu;                     ///< the GPU that runs the cluster
  std::vector<std::unique_ptr<Cta>> ctas; ///< by rank
  NamedBarrier barrier;
  Random random;

  Cta *cta(uint64_t rank) { return rank < ctas.size() ? ctas[rank].get() : nullptr; }
  /// Adds an asynchronous operation.
  void start(std::unique_ptr<AsyncOperation> operation);
  bool hasExited() const;

  /// The result of a call to run().
  enum class Outcome { Progress, Stuck, Faulted };
  /// Runs one warp for a while, or a part of one asynchronous operation, as `random` chooses. Returns Stuck if all
  /// warps wait or spin and no asynchronous work is pending.
  Outcome run();
  /// Stops waiting for diverged lanes in all warps (Warp::releaseBarriers). This is done only if nothing else can
  /// proceed, as on a GPU.
  bool releaseBarriers();
  /// Counts an event that a thread may be waiting for: an arrival, a store or the end of a copy.
  void noteProgress() { ++progress->events; }
  /// Counts an event in global memory that a thread may be waiting for.
  void noteGlobalChange() {
    noteProgress();
    ++progress->globalChanges;
  }
  /// Counts a read of global memory by a warp that has been in the same state before. Called by Warp::notePoll.
  void noteGlobalPoll() {
    globalPolls = globalChangesSeen == progress->globalChanges ? globalPolls + 1 : 1;
    globalChangesSeen = progress->globalChanges;
  }
  /// Returns true if there have been more than `limit` such reads since global memory last changed.
  bool pollsInVain(uint64_t limit) const { return globalChangesSeen == progress->globalChanges && globalPolls > limit; }
  Progress *progress;
  /// Adds the waiting threads and the barriers that they wait for to `report`.
  void describeWaits(Report &report) const;

private:
  Outcome runWarp(Warp &warp);
  Outcome runAsync(bool ignorePace);
  /// When the schedule executes asynchronous work.
  enum class Pace { Any, Eager, Lazy };
  Pace pace = Pace::Any;
  std::vector<Warp *> warps;
  size_t nextWarp = 0;     ///< the next warp to run in a fair schedule
  unsigned slowWarp = ~0u; ///< index in `warps` of a warp that the schedule delays
  Progress ownProgress;
  uint64_t lastProgress = 0;
  uint64_t idleInstructions = 0; ///< number of instructions executed since lastProgress changed
  uint64_t globalPolls = 0;      ///< number of polls since globalChangesSeen changed
  uint64_t globalChangesSeen = 0;
  std::vector<std::unique_ptr<AsyncOperation>> operations;
};

} // namespace tile::sim
