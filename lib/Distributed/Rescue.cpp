// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Rescue.h"

#include <thread>

namespace tile::dist {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

void Rescue::setNccl(std::shared_ptr<const Nccl> library, NcclComm comm) {
  const std::lock_guard lock(mutex);
  nccl = std::move(library);
  ncclComm = comm;
}

NcclComm Rescue::takeNccl() {
  const std::lock_guard lock(mutex);
  return failed ? nullptr : std::exchange(ncclComm, nullptr);
}

Status Rescue::checkNccl() {
  const std::lock_guard lock(mutex);
  int result = nccl::success;
  if (failed || !ncclComm || nccl->commGetAsyncError(ncclComm, &result) != nccl::success)
    return Success{};
  return nccl->check(result, "NCCL");
}

void Rescue::watch(CUdeviceptr flags, size_t count) {
  const std::lock_guard lock(mutex);
  watched.push_back({flags, count});
}

void Rescue::unwatch(CUdeviceptr flags) {
  const std::lock_guard lock(mutex);
  if (!failed)
    std::erase_if(watched, [&](const Flags &entry) { return entry.address == flags; });
}

void Rescue::fail(Error error) {
  {
    const std::lock_guard lock(mutex);
    if (failed)
      return;
    failure = std::move(error);
    failed.store(true, std::memory_order_release);
  }
  std::thread([self = shared_from_this()] { self->run(); }).detach();
}

Status Rescue::status() const {
  if (!hasFailed())
    return Success{};
  const std::lock_guard lock(mutex);
  return failure;
}

bool Rescue::waitFor(CUstream stream, Deadline deadline) {
  std::unique_lock lock(mutex);
  if (isInVain)
    return false;
  awaited = stream;
  isAwaited = true;
  const bool hasEnded = changed.wait_until(lock, deadline, [&] { return !isAwaited; });
  isAwaited = false;
  isInVain = !hasEnded;
  return hasEnded;
}

void Rescue::stop(Deadline deadline) {
  std::unique_lock lock(mutex);
  isStopped = true;
  changed.notify_all();
  changed.wait_until(lock, deadline, [&] { return isOver; });
}

bool Rescue::hasEnded(CUstream stream) const {
  return driver->streamQuery(stream) != cuda::errorNotReady;
}

void Rescue::setFlags() {
  // While earlier writes are pending, further writes would fill the stream's queue and then block this thread. A memset
  // is no alternative: it is a kernel, which cannot start on a GPU that is full of waiting tiles.
  if (!driver->streamWriteValue || !hasEnded(own))
    return;
  constexpr size_t wordBytes = 4;
  std::vector<Flags> all;
  {
    const std::lock_guard lock(mutex);
    all = watched;
  }
  for (const Flags &flags : all)
    for (size_t flag = 0; flag < flags.count; ++flag)
      driver->streamWriteValue(own, flags.address + flag * wordBytes, 1, 0);
}

void Rescue::abortNccl() {
  NcclComm aborted = nullptr;
  {
    const std::lock_guard lock(mutex);
    aborted = std::exchange(ncclComm, nullptr);
    isAborting |= aborted != nullptr;
  }
  if (aborted)
    std::thread([self = shared_from_this(), aborted] {
      self->driver->contextSetCurrent(self->context);
      self->nccl->commAbort(aborted);
      const std::lock_guard lock(self->mutex);
      self->isAborting = false;
    }).detach();
}

void Rescue::run() {
  // NCCL is aborted once no stream or NCCL call has been busy for quietTime, but at the latest after `patience`.
  constexpr auto quietTime = 100ms, patience = 500ms;
  constexpr auto longest = 10s; // limit for an abort after the communicator has been destroyed
  constexpr Clock::duration period = 200us, laterPeriod = 5ms;
  const Clock::time_point start = Clock::now();
  Clock::time_point lastBusy = start;
  driver->contextSetCurrent(context);
  std::unique_lock lock(mutex);
  for (bool isReady = false; !isStopped || !isReady || (isAborting && Clock::now() - start < longest);) {
    const bool isWaiting = isAwaited;
    const CUstream stream = awaited;
    lock.unlock();
    setFlags();
    const Clock::time_point now = Clock::now();
    const bool isQuiet = hasEnded(copies) && calls == 0;
    const bool isDone = isWaiting && hasEnded(stream);
    if (!isQuiet || (isWaiting && !isDone))
      lastBusy = now;
    isReady |= now - lastBusy > quietTime || now - start > patience;
    if (isReady)
      abortNccl();
    lock.lock();
    // Meanwhile, a later call may have begun to wait for another stream.
    if (isDone && isAwaited && awaited == stream) {
      isAwaited = false;
      changed.notify_all();
    }
    changed.wait_for(lock, now - start > patience ? laterPeriod : period);
  }
  isOver = true;
  changed.notify_all();
}

} // namespace tile::dist
