// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp: the registers of its 32 lanes, and the fragments into which the lanes have diverged.
//
// A fragment is a set of lanes with one program counter. Divergence splits fragments, and fragments at the same
// instruction merge. After a divergent branch, fragments wait for each other at the branch's immediate post-dominator,
// the reconvergence point. They stop waiting when nothing else can run, so threads make progress independently of each
// other (CUDA programming guide, "Independent Thread Scheduling").
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
  /// The state of the operation at `pc` while it waits. Reset when the fragment proceeds.
  uint64_t progress = 0;
  /// The position of the fragment's last unsuccessful test of a barrier (Step::Spin), for reports of deadlocks.
  uint32_t spunAt = ~0u;
  bool waits = false; ///< cannot run in this turn of the warp
  /// The reconvergence points of the divergences that created the fragment, innermost last.
  struct Meeting {
    uint32_t pc;
    LaneMask lanes;
    bool operator==(const Meeting &) const = default;
  };
  std::vector<Meeting> meetings;
};

/// The outcome of an operation.
enum class Step : uint8_t {
  Next,   ///< done; continue after the instruction
  Jumped, ///< done; the operation has set Fragment::pc
  Wait,   ///< not done; try again later (barriers)
  Spin,   ///< done; continue after the instruction, but let others run first: an unsuccessful barrier test
  Exited, ///< the active lanes have exited
  Fault   ///< the operation has reported an error after which the kernel cannot continue
};

class Warp {
public:
  Warp(Cta &cta, unsigned index, LaneMask threads);
  Warp(const Warp &) = delete;
  Warp &operator=(const Warp &) = delete;

  Cta &cta;
  const unsigned index;   ///< index of the warp in the CTA
  const LaneMask threads; ///< the lanes that are threads of the CTA; the last warp may be partial
  /// The rank of the CTA in the cluster, as it occurs in the addresses of its shared memory.
  const uint32_t sharedRankBits;
  LaneMask alive; ///< lanes that have not exited
  std::vector<Fragment> fragments;

  /// Returns the 32 values of the register at byte offset `offset` of the register file (Program::registerOffset).
  template <typename T> T *lanes(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  template <typename T> const T *lanes(uint32_t offset) const {
    return reinterpret_cast<const T *>(registers + offset);
  }
  /// Returns a predicate, which is stored as a mask of lanes.
  LaneMask &predicate(uint32_t offset) { return *lanes<LaneMask>(offset); }
  LaneMask predicate(uint32_t offset) const { return *lanes<LaneMask>(offset); }

  /// The carry flags of the lanes, for extended-precision arithmetic (PTX ISA 9.7.2).
  LaneMask carry = 0;

  /// Returns the local memory of one lane.
  std::byte *local(unsigned lane);

  // Asynchronous operations. `cp.async` groups and `cp.async.bulk` groups belong to a thread, wgmma groups to the warp.
  // A bulk group ends twice: first its sources have been read, then its writes are done.
  struct BulkGroups {
    AsyncGroups read, done;
  };
  AsyncGroups &copyGroups(unsigned lane) { return lazily(copies)[lane]; }
  BulkGroups &bulkGroups(unsigned lane) { return lazily(bulks)[lane]; }
  /// The lanes whose cp.async is not done, with one entry per instruction in flight.
  std::vector<std::shared_ptr<LaneMask>> copiesInFlight;
  AsyncGroups wgmmaGroups;
  std::deque<AsyncOperation *> wgmmaQueue; ///< issued, unfinished wgmmas, which complete in this order
  /// The wgmmas that the warp has not waited for, whether finished or not, each with the number of its group.
  std::deque<std::pair<uint64_t, const Operation *>> wgmmaUnwaited;
  /// The registers of these wgmmas (by file offset), which no other instruction may access.
  std::vector<uint32_t> registersInFlight;

  /// Kinds of asynchronous operations for which a thread can wait.
  enum class Waitable : uint8_t { Program, Copies, BulkReads, Bulk, Wgmma, TensorLoads, TensorStores };
  /// Returns the component (Access.h) that counts the warp's operations of this kind, and creates it at first use. May
  /// be called only if the launch is checked.
  Component component(Waitable kind);

  // Tensor memory. The whole warp executes loads and stores. The fields are the number of executed waits for loads and
  // stores, the number of stores in flight, and the registers (by file offset) that pending loads write.
  uint32_t tensorLoadWaits = 0, tensorStoreWaits = 0;
  uint32_t tensorStoresInFlight = 0;
  std::vector<uint32_t> registersLoading;
  /// Returns the operations that one thread has issued to the tensor core.
  TensorPipe &tensorPipe(unsigned lane) {
    if (tensorPipes.empty())
      tensorPipes.resize(warpSize);
    return lazily(tensorPipes[lane]);
  }

  /// State of setmaxnreg: the current number of registers of a thread (0 if the kernel does not declare it), and the
  /// setmaxnreg instructions that the warp has executed.
  uint32_t registersPerThread = 0;
  std::vector<const Instruction *> registerChanges;

  /// State of barrier.cluster: the lanes that have arrived in this phase, and the lanes that may pass but have not done
  /// so.
  LaneMask clusterArrived = 0, clusterReleased = 0;

  /// The checker's clock and counters for the warp; null without a checker.
  struct CheckState {
    virtual ~CheckState() = default;
  };
  std::unique_ptr<CheckState> checkState;

  Actor actor(const SourceLoc &loc, int32_t lane = -1) const;
  /// Executes tcgen05.wait::ld.
  void finishTensorLoads();
  /// Adds a report about this warp and returns Step::Fault.
  Step fault(ReportKind kind, const SourceLoc &loc, int32_t lane, std::string message) const;

  /// Called when lanes of `fragment` read memory that other threads may change, or fail to change such memory; `lane`
  /// is the first of these lanes. Returns Step::Spin if the warp was here before in the same state and no event has
  /// occurred since: it will then keep returning here until an event occurs. A loop with a counter is in a different
  /// state each time.
  Step notePoll(const Fragment &fragment, unsigned lane, bool isGlobal);

  uint64_t instructionsRun = 0;
  /// The value of Cluster::progress when all fragments of the warp waited or spun. The warp need not run again until
  /// the value changes.
  uint64_t idleSince = ~uint64_t(0);

  struct Turn {
    uint64_t instructions = 0;
    bool idle = false; ///< every fragment waits, or has tested a barrier unsuccessfully
    bool faulted = false;
  };
  /// Runs up to `budget` instructions.
  Turn run(uint64_t budget);
  /// Lets the lanes `taken` of the fragment continue at `target` and the others after the branch. They reconverge at
  /// `meeting`, if there is such a position.
  void branch(Fragment &fragment, LaneMask taken, uint32_t target, uint32_t meeting);
  /// Ends these lanes.
  void exit(Fragment &fragment, LaneMask lanes);
  /// Stops waiting for diverged lanes (Fragment::meetings). Returns true if some fragment was waiting for them.
  bool releaseBarriers();

private:
  /// Runs `fragment` until it waits, spins, diverges or ends. The fragment's index in `fragments` may change.
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
  /// The state that determines how the warp proceeds, except for shared and global memory.
  struct Snapshot {
    explicit Snapshot(const Warp &warp);
    bool isOf(const Warp &warp) const;
    std::vector<Line> registers;
    std::vector<std::byte> local;
    LaneMask carry;
    std::vector<std::pair<uint32_t, LaneMask>> positions; ///< the program counters and lanes of the fragments
  };
  /// The reads that notePoll has seen at one position and lane. One state of the warp is kept until `lifetime` reads
  /// have followed; the next state is kept for twice as many, so a cycle of any length is found (R. P. Brent, "An
  /// improved Monte Carlo factorization algorithm"). Only the first `compared` reads after the state are compared with
  /// it.
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
  std::vector<std::unique_ptr<TensorPipe>> tensorPipes; ///< by lane; empty until the first use
  static constexpr unsigned numWaitables = unsigned(Waitable::TensorStores) + 1;
  std::array<Component, numWaitables> components;
};

} // namespace tile::sim
