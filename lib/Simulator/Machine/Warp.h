// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp: registers of its 32 lanes, and the fragments into which they have diverged.
//
// A fragment is a set of lanes with one program counter. Divergence splits it, meeting at the same instruction merges.
// At a divergent branch the fragments get the branch's immediate post-dominator as the place to wait for each other;
// the wait is given up when nothing else can move, so that threads make progress independently of each other
// (CUDA programming guide, "Independent Thread Scheduling").
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
  /// Free for the operation at `pc` that waits: what it has done so far. Reset when the fragment goes on.
  uint64_t progress = 0;
  /// Where it last tested a barrier in vain (Step::Spin), for the report of a deadlock.
  uint32_t spunAt = ~0u;
  bool waits = false; ///< has nothing to do in this turn of the warp
  /// Where to wait for the lanes of the other fragments of a divergence, innermost last.
  struct Meeting {
    uint32_t pc;
    LaneMask lanes;
    bool operator==(const Meeting &) const = default;
  };
  std::vector<Meeting> meetings;
};

/// What an operation did.
enum class Step : uint8_t {
  Next,   ///< done: go on after it
  Jumped, ///< done: has set Fragment::pc itself
  Wait,   ///< not done: try again later (barriers)
  Spin,   ///< done, go on after it, but others should run first: a test of a barrier that failed
  Exited, ///< the active lanes have ended
  Fault   ///< has reported something that the kernel cannot go on after
};

class Warp {
public:
  Warp(Cta &cta, unsigned index, LaneMask threads);
  Warp(const Warp &) = delete;
  Warp &operator=(const Warp &) = delete;

  Cta &cta;
  const unsigned index;   ///< in the CTA
  const LaneMask threads; ///< lanes that are threads of the CTA: the last warp may be partial
  /// Rank of the CTA in the cluster as addresses of its shared memory have it.
  const uint32_t sharedRankBits;
  LaneMask alive; ///< lanes that have not exited
  std::vector<Fragment> fragments;

  /// 32 values of the register at byte offset `offset` of the register file (Program::registerOffset).
  template <typename T> T *lanes(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  template <typename T> const T *lanes(uint32_t offset) const {
    return reinterpret_cast<const T *>(registers + offset);
  }
  /// Predicates are masks.
  LaneMask &predicate(uint32_t offset) { return *lanes<LaneMask>(offset); }
  LaneMask predicate(uint32_t offset) const { return *lanes<LaneMask>(offset); }

  /// The carry flags of extended-precision arithmetic (PTX ISA 9.7.2).
  LaneMask carry = 0;

  /// Local memory of one lane.
  std::byte *local(unsigned lane);

  // Asynchronous operations. `cp.async` groups and `cp.async.bulk` groups are of a thread, wgmma groups of the warp.
  // A bulk group has two ends: its sources have been read, and its writes are done.
  struct BulkGroups {
    AsyncGroups read, done;
  };
  AsyncGroups &copyGroups(unsigned lane) { return lazily(copies)[lane]; }
  BulkGroups &bulkGroups(unsigned lane) { return lazily(bulks)[lane]; }
  /// Lanes whose cp.async is not done, one entry for each such instruction in flight.
  std::vector<std::shared_ptr<LaneMask>> copiesInFlight;
  AsyncGroups wgmmaGroups;
  std::deque<AsyncOperation *> wgmmaQueue; ///< issued and not finished, in order: they run in order
  /// The wgmma instructions that the warp has not waited for, finished or not, with the numbers of their groups.
  std::deque<std::pair<uint64_t, const Operation *>> wgmmaUnwaited;
  /// Their registers (by file offset): nothing else may touch them.
  std::vector<uint32_t> registersInFlight;

  /// The warp's component for `kind`, made at first use; only with a checker.
  enum class Waitable : uint8_t { Program, Copies, BulkReads, Bulk, Wgmma, TensorLoads, TensorStores };
  Component component(Waitable kind);

  // Tensor memory. Loads and stores are of the whole warp: numbers of the waits for them that the warp has executed,
  // and the stores in flight. Registers (by file offset) that loads not yet waited for write.
  uint32_t tensorLoadWaits = 0, tensorStoreWaits = 0;
  uint32_t tensorStoresInFlight = 0;
  std::vector<uint32_t> registersLoading;
  /// What one thread has issued to the tensor core.
  TensorPipe &tensorPipe(unsigned lane) {
    if (tensorPipes.empty())
      tensorPipes.resize(warpSize);
    return lazily(tensorPipes[lane]);
  }

  /// setmaxnreg: what a thread may have now, 0 if the kernel does not say; those executed, of the whole warp group.
  uint32_t registersPerThread = 0;
  std::vector<const Instruction *> registerChanges;

  /// barrier.cluster: lanes that have arrived in this phase; lanes that may pass, and have not yet.
  LaneMask clusterArrived = 0, clusterReleased = 0;

  /// Clock and counters of the checker; null without one.
  struct CheckState {
    virtual ~CheckState() = default;
  };
  std::unique_ptr<CheckState> checkState;

  Actor actor(const Place &place, int32_t lane = -1) const;
  /// Adds a report about this warp and returns Step::Fault.
  Step fault(ReportKind kind, const Place &place, int32_t lane, std::string message) const;

  uint64_t instructionsRun = 0;
  /// Value of Cluster::progress when all its fragments waited or spun; it need not be tried again before that changes.
  uint64_t idleSince = ~uint64_t(0);

  struct Turn {
    uint64_t instructions = 0;
    bool idle = false; ///< every fragment waits, or has tested something in vain
    bool faulted = false;
  };
  /// Runs up to `budget` instructions.
  Turn run(uint64_t budget);
  /// Lanes `taken` of the fragment go on at `target`, the others after the branch; they meet at `meeting`, if there is
  /// such a place.
  void branch(Fragment &fragment, LaneMask taken, uint32_t target, uint32_t meeting);
  /// The lanes end.
  void exit(Fragment &fragment, LaneMask lanes);
  /// Gives up waiting for diverged lanes (Fragment::meetings); whether there was anything to give up.
  bool releaseMeetings();

private:
  /// Runs `fragment` until it waits, spins, diverges or ends. Its position may change.
  Step step(Fragment &fragment);
  bool isAtMeeting(Fragment &fragment);
  void mergeFragments();
  Step touchesInFlight(const Operation &operation, const Fragment &fragment) const;
  void reportLoading(const Operation &operation, const Fragment &fragment);
  template <typename T> static T &lazily(std::unique_ptr<T> &pointer) {
    if (!pointer)
      pointer = std::make_unique<T>();
    return *pointer;
  }
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Fragment> diverged; ///< made by branch(); join `fragments` after the step
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
