// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp: registers of its 32 lanes, and the fragments into which they have diverged.
//
// A fragment is a set of lanes with one program counter. Divergence splits it; fragments at the same instruction merge.
// At a divergent branch the fragments get the branch's immediate post-dominator as their reconvergence point. Waiting
// there is given up when nothing else can run, so that threads make progress independently of each other (CUDA
// programming guide, "Independent Thread Scheduling").
#pragma once

#include "Simulator/Check/Checker.h"
#include "Simulator/Machine/AsyncOperation.h"
#include "Simulator/Machine/Lanes.h"
#include "Simulator/Machine/Memory.h"
#include "Simulator/Machine/Report.h"
#include "Simulator/Machine/TensorMemory.h"

#include <array>
#include <memory>
#include <vector>

namespace tile::sim {

class Cta;
class Operation;

struct Fragment {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  /// State of the operation at `pc` while it waits. Reset when the fragment proceeds.
  uint64_t progress = 0;
  /// The position of its last unsuccessful test of a barrier (Step::Spin), for the deadlock report.
  uint32_t spunAt = ~0u;
  bool waits = false; ///< cannot run in this turn of the warp
  /// The reconvergence points of the divergences around the fragment, innermost last.
  struct Meeting {
    uint32_t pc;
    LaneMask lanes;
    bool operator==(const Meeting &) const = default;
  };
  std::vector<Meeting> meetings;
};

/// The outcome of an operation.
enum class Step : uint8_t {
  Next,   ///< done: continue after it
  Jumped, ///< done: has set Fragment::pc itself
  Wait,   ///< not done: try again later (barriers)
  Spin,   ///< done, continue after it, but let others run first: an unsuccessful barrier test
  Exited, ///< the active lanes have exited
  Fault   ///< has reported an error after which the kernel cannot go on
};

class Warp {
public:
  Warp(Cta &cta, unsigned index, LaneMask threads);
  Warp(const Warp &) = delete;
  Warp &operator=(const Warp &) = delete;

  Cta &cta;
  const unsigned index;   ///< in the CTA
  const LaneMask threads; ///< lanes that are threads of the CTA: the last warp may be partial
  /// Rank of the CTA in the cluster, as in the addresses of its shared memory.
  const uint32_t sharedRankBits;
  LaneMask alive; ///< lanes that have not exited
  std::vector<Fragment> fragments;

  /// Returns 32 values of the register at byte offset `offset` of the register file (Program::registerOffset).
  template <typename T> T *lanes(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  template <typename T> const T *lanes(uint32_t offset) const {
    return reinterpret_cast<const T *>(registers + offset);
  }
  /// Predicates are masks.
  LaneMask &predicate(uint32_t offset) { return *lanes<LaneMask>(offset); }
  LaneMask predicate(uint32_t offset) const { return *lanes<LaneMask>(offset); }

  /// Carry flags of the lanes, for extended-precision arithmetic (PTX ISA 9.7.2).
  LaneMask carry = 0;

  /// Returns the local memory of one lane.
  std::byte *local(unsigned lane);

  // Asynchronous operations. `cp.async` groups and `cp.async.bulk` groups belong to a thread, wgmma groups to the warp.
  // A bulk group has two ends: its sources have been read, and its writes are done.
  struct BulkGroups {
    AsyncGroups read, done;
  };
  AsyncGroups &copyGroups(unsigned lane) { return lazily(copies)[lane]; }
  BulkGroups &bulkGroups(unsigned lane) { return lazily(bulks)[lane]; }
  /// Lanes whose cp.async is not done, one entry per instruction in flight.
  std::vector<std::shared_ptr<LaneMask>> copiesInFlight;
  AsyncGroups wgmmaGroups;
  std::deque<AsyncOperation *> wgmmaQueue; ///< issued, unfinished wgmmas; they complete in this order
  /// The wgmma instructions that the warp has not waited for, finished or not, each with the number of its group.
  std::deque<std::pair<uint64_t, const Operation *>> wgmmaUnwaited;
  /// Their registers (by file offset), which no other instruction may access.
  std::vector<uint32_t> registersInFlight;

  /// Returns the warp's component for `kind`, created at first use; only with a checker.
  enum class Waitable : uint8_t { Program, Copies, BulkReads, Bulk, Wgmma, TensorLoads, TensorStores };
  Component component(Waitable kind);

  // Tensor memory. Loads and stores are executed by the whole warp: the counts of executed waits for them, the stores
  // in flight, and the registers (by file offset) that pending loads write.
  uint32_t tensorLoadWaits = 0, tensorStoreWaits = 0;
  uint32_t tensorStoresInFlight = 0;
  std::vector<uint32_t> registersLoading;
  /// The operations that one thread has issued to the tensor core.
  TensorPipe &tensorPipe(unsigned lane) {
    if (tensorPipes.empty())
      tensorPipes.resize(warpSize);
    return lazily(tensorPipes[lane]);
  }

  /// setmaxnreg: the current registers of a thread, 0 if the kernel does not declare them; the number of executed
  /// instructions, of the whole warp group.
  uint32_t registersPerThread = 0;
  std::vector<const Instruction *> registerChanges;

  /// barrier.cluster: lanes that have arrived in this phase; lanes that may pass and have not yet.
  LaneMask clusterArrived = 0, clusterReleased = 0;

  /// Clock and counters of the checker; null without one.
  struct CheckState {
    virtual ~CheckState() = default;
  };
  std::unique_ptr<CheckState> checkState;

  Actor actor(const SourceLoc &loc, int32_t lane = -1) const;
  /// Executes tcgen05.wait::ld.
  void finishTensorLoads();
  /// Adds a report about this warp and returns Step::Fault.
  Step fault(ReportKind kind, const SourceLoc &loc, int32_t lane, std::string message) const;

  /// Called when lanes of `fragment`, the first of which is `lane`, read memory that other threads may change, or have
  /// failed to change it. Returns Step::Spin if the warp repeats itself: it was here in the same state, and no event
  /// has occurred since, so it will return here until one does. A loop that counts has another state each time.
  Step notePoll(const Fragment &fragment, unsigned lane, bool isGlobal);

  uint64_t instructionsRun = 0;
  /// Value of Cluster::progress when all its fragments waited or spun; it need not be tried again before that changes.
  uint64_t idleSince = ~uint64_t(0);

  struct Turn {
    uint64_t instructions = 0;
    bool idle = false; ///< every fragment waits or has tested something without success
    bool faulted = false;
  };
  /// Runs up to `budget` instructions.
  Turn run(uint64_t budget);
  /// Lanes `taken` of the fragment continue at `target`, the others after the branch; they reconverge at `meeting`, if
  /// there is such a position.
  void branch(Fragment &fragment, LaneMask taken, uint32_t target, uint32_t meeting);
  /// Ends the lanes.
  void exit(Fragment &fragment, LaneMask lanes);
  /// Gives up waiting for diverged lanes (Fragment::meetings); returns whether there was one to give up.
  bool releaseBarriers();

private:
  /// Runs `fragment` until it waits, spins, diverges or ends. Its index may change.
  Step step(Fragment &fragment);
  bool isAtBarrier(Fragment &fragment);
  void mergeFragments();
  Step touchesInFlight(const Operation &operation, const Fragment &fragment) const;
  void noteLoading(const Operation &operation, const Fragment &fragment);
  template <typename T> static T &lazily(std::unique_ptr<T> &pointer) {
    if (!pointer)
      pointer = std::make_unique<T>();
    return *pointer;
  }
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  /// The complete state that determines how the warp proceeds, apart from shared memory.
  struct Snapshot {
    explicit Snapshot(const Warp &warp);
    bool isOf(const Warp &warp) const;
    std::vector<Line> registers;
    std::vector<std::byte> local;
    LaneMask carry;
    std::vector<std::pair<uint32_t, LaneMask>> positions; ///< of fragments
  };
  /// Reads by notePoll at one position and lane. One state is kept until it is `lifetime` reads old; each next one is
  /// kept twice as long, so that a cycle of any length is found (R. P. Brent, "An improved Monte Carlo factorization
  /// algorithm"). Only the first reads after it are compared with it.
  struct Poll {
    static constexpr uint64_t compared = 8, first = 16;
    uint32_t pc = ~0u;
    unsigned lane = 0;
    std::unique_ptr<Snapshot> state;
    uint64_t events = 0, globalChanges = 0;
    uint64_t age = 0, lifetime = 0;
  };
  std::array<Poll, 64> polls;
  std::vector<Fragment> diverged; ///< created by branch(); merged into `fragments` after the step
  std::vector<Line> registerLines;
  std::byte *registers = nullptr;
  std::vector<std::byte> localMemory;
  std::unique_ptr<std::array<AsyncGroups, warpSize>> copies;
  std::unique_ptr<std::array<BulkGroups, warpSize>> bulks;
  std::vector<std::unique_ptr<TensorPipe>> tensorPipes; ///< by lane, or none
  static constexpr unsigned numWaitables = unsigned(Waitable::TensorStores) + 1;
  std::array<Component, numWaitables> components;
};

} // namespace tile::sim
