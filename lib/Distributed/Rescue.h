// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuts down a failed communicator: a separate thread releases all work that waits for other ranks, and aborts NCCL.
//
//   failure ──▶ set all flags repeatedly ──▶ streams have ended, or time limit ──▶ ncclCommAbort
//
// NCCL is aborted last because the abort frees memory, which waits for the whole device: work that still waits for a
// flag would never end. Flags are set repeatedly because streams may wait for the same flag once in each of several
// runs. The thread shares ownership of everything that it uses, so no caller has to wait for it, however long the
// driver or NCCL block.
#pragma once

#include "Distributed/Driver.h"
#include "Distributed/Nccl.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace tile::dist {

class Rescue : public std::enable_shared_from_this<Rescue> {
public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// `copies` is the stream for copies from and to peers; `own` is a stream in which nothing ever waits.
  Rescue(std::shared_ptr<const Driver> driver, CUcontext context, CUstream copies, CUstream own)
      : driver(std::move(driver)), context(context), copies(copies), own(own) {}

  void setNccl(std::shared_ptr<const Nccl> library, NcclComm comm);
  /// Returns the NCCL communicator for regular destruction; null after a failure.
  NcclComm takeNccl();
  /// Returns the error that NCCL's own threads have reported, if any.
  Status checkNccl();

  /// Registers flags. Setting them releases work that waits.
  void watch(CUdeviceptr flags, size_t count);
  /// Unregisters flags. After a failure, it does nothing, and the flags' memory must stay allocated.
  void unwatch(CUdeviceptr flags);

  /// Makes the communicator unusable and starts the thread that shuts it down; does not wait. Ignores failures after
  /// the first.
  void fail(Error error);
  bool hasFailed() const { return failed.load(std::memory_order_acquire); }
  Status status() const;

  /// After a failure: waits until the work in `stream` has ended. Returns false once the deadline has passed, or
  /// immediately if an earlier wait failed.
  bool waitFor(CUstream stream, Deadline deadline);
  /// After a failure: ends the thread, or abandons it if it has not ended by the deadline.
  void stop(Deadline deadline);

  /// Marks an NCCL call in progress. An abort would free data that the call uses, so it is postponed.
  class Call {
  public:
    explicit Call(Rescue &rescue) : rescue(rescue) { ++rescue.calls; }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    ~Call() { --rescue.calls; }

  private:
    Rescue &rescue;
  };

private:
  struct Flags {
    CUdeviceptr address;
    size_t count;
  };

  void run();
  void setFlags();
  bool hasEnded(CUstream stream) const;
  void abortNccl();

  const std::shared_ptr<const Driver> driver;
  const CUcontext context;
  const CUstream copies, own;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<const Nccl> nccl;
  NcclComm ncclComm = nullptr;
  std::vector<Flags> watched;
  Error failure = {TILE_OK, ""};
  CUstream awaited = nullptr; ///< the stream for which waitFor waits
  bool isAwaited = false, isInVain = false;
  bool isAborting = false, isStopped = false, isOver = false;

  std::atomic<bool> failed = false;
  std::atomic<int> calls = 0;
};

} // namespace tile::dist
