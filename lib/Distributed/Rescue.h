// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a communicator that has failed: a thread of its own lets all work end that waits for other ranks, and
// aborts NCCL.
//
//   failure ──▶ set all flags, again and again ──▶ streams have ended, or do not end ──▶ ncclCommAbort
//
// NCCL comes last since its abort frees memory, which waits for the whole device: work that still waits for a flag, and
// streams wait for the same flag once for each run, would never end. The thread has a share in all that it uses, so
// that nobody has to wait for it: driver and NCCL may block for as long as they like.
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

  /// `copies` is the stream of copies from and to peers, `own` one in which nothing ever waits.
  Rescue(std::shared_ptr<const Driver> driver, CUcontext context, CUstream copies, CUstream own)
      : driver(std::move(driver)), context(context), copies(copies), own(own) {}

  void setNccl(std::shared_ptr<const Nccl> library, NcclComm comm);
  /// Gives the communicator of NCCL back, for an orderly end; null after a failure.
  NcclComm takeNccl();
  /// Returns the error of NCCL's own threads.
  Status checkNccl();

  /// Remembers flags that let waiting work go on if they are set.
  void watch(CUdeviceptr flags, size_t count);
  /// After a failure, flags and their memory remain in use.
  void unwatch(CUdeviceptr flags);

  /// Makes the communicator unusable and starts the rescue. The first failure counts. Waits for nothing.
  void fail(Error error);
  bool hasFailed() const { return failed.load(std::memory_order_acquire); }
  Status status() const;

  /// After a failure: waits until the work in `stream` has ended. Returns false after the deadline, and at once if an
  /// earlier wait was in vain.
  bool waitFor(CUstream stream, Deadline deadline);
  /// After a failure: ends the thread, which is left alone if it has not ended by the deadline.
  void stop(Deadline deadline);

  /// A call of NCCL in progress: aborting would free what it uses, and is put off.
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
  CUstream awaited = nullptr; ///< by a thread in waitFor
  bool isAwaited = false, isInVain = false;
  bool isAborting = false, isStopped = false, isOver = false;

  std::atomic<bool> failed = false;
  std::atomic<int> calls = 0;
};

} // namespace tile::dist
