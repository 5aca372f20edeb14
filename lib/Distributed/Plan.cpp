// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tile::dist {

static constexpr const char *formNames[] = {"auto", "sequential", "chunked", "flagged"};

Plan::~Plan() {
  // Freeing memory would wait for unfinished work, which may never end.
  if (comm.rescue->hasFailed())
    return;
  for (CUevent event : events)
    comm.driver->eventDestroy(event);
  for (CUdeviceptr pointer : memory)
    comm.driver->memoryFree(pointer);
  for (void *pointer : hostMemory)
    comm.driver->hostFree(pointer);
}

Status Plan::release() {
  Status status = Success{};
  if (signals)
    status = signals->release();
  for (Window &window : windows)
    if (Status released = comm.release("plan_destroy", window); !released && status)
      status = released;
  return status;
}

Result<KernelCall> Plan::makeCall(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided,
                                  Extra extra) {
  Result<KernelCall> call = KernelCall::make(kernel, role, provided, extra);
  if (!call)
    return call;
  Result<size_t> bytes = call->prepare(comm.multiprocessors);
  if (!bytes)
    return bytes.error();
  if (*bytes == 0)
    return call;
  constexpr size_t wordBytes = 4;
  const size_t words = (*bytes + wordBytes - 1) / wordBytes;
  Result<CUdeviceptr> scratch = allocateLocal(words * wordBytes);
  if (!scratch)
    return scratch.error();
  Status status = comm.driver->check(comm.driver->fillWords(*scratch, 0, words, comm.copies), "cuMemsetD32Async");
  if (status)
    status = comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize");
  if (!status)
    return status.error();
  call->useScratch(*scratch, words * wordBytes);
  return call;
}

Status Plan::chooseForm(tile_dist_form form, double sequential, std::optional<double> chunked,
                        std::optional<double> flagged) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const double ofChunks = chunked.value_or(never), ofFlags = flagged.value_or(never);
  info.sequential_microseconds = sequential;
  info.overlapped_microseconds = chunked || flagged ? std::min(ofChunks, ofFlags) : -1;
  const bool overlaps = form == TILE_DIST_CHUNKED || form == TILE_DIST_FLAGGED;
  if (overlaps && !comm.hasPeers)
    return makeError(TILE_ERROR_UNSUPPORTED, "form '{}' needs GPUs that can access each other's memory",
                     formNames[form]);
  if (form == TILE_DIST_FLAGGED && !flagged)
    return makeError(TILE_ERROR_UNSUPPORTED, "{} has no form 'flagged'", name);
  info.form = form;
  if (form != TILE_DIST_AUTO)
    return Success{};
  info.form = TILE_DIST_SEQUENTIAL;
  if (comm.hasPeers && std::min(ofChunks, ofFlags) < sequential)
    info.form = ofFlags < ofChunks ? TILE_DIST_FLAGGED : TILE_DIST_CHUNKED;
  // Ranks with different devices may expect different times, so rank 0 decides for all.
  Result<std::string> told =
      comm.exchange("plan_create form", {reinterpret_cast<const char *>(&info.form), sizeof(info.form)});
  if (!told)
    return told.error();
  std::memcpy(&info.form, told->data(), sizeof(info.form));
  if (info.form == TILE_DIST_FLAGGED && !flagged)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.gemm_wait is a null pointer; rank 0 has this kernel");
  return Success{};
}

Result<Window> Plan::allocate(const char *what, size_t bytes) {
  Result<Window> window = comm.allocate(std::string("plan_create ") + what, bytes);
  if (window)
    windows.push_back(*window);
  return window;
}

Result<CUdeviceptr> Plan::allocateLocal(size_t bytes) {
  CUdeviceptr pointer = 0;
  if (Status status = comm.driver->check(comm.driver->memoryAllocate(&pointer, bytes), "cuMemAlloc"); !status)
    return status.error();
  memory.push_back(pointer);
  return pointer;
}

Result<void *> Plan::allocateHost(size_t bytes) {
  void *pointer = nullptr;
  if (Status status = comm.driver->check(comm.driver->hostAllocate(&pointer, bytes), "cuMemAllocHost"); !status)
    return status.error();
  hostMemory.push_back(pointer);
  return pointer;
}

Result<CUevent> Plan::makeEvent() {
  CUevent event = nullptr;
  if (Status status = comm.driver->check(comm.driver->eventCreate(&event, cuda::eventDisableTiming), "cuEventCreate");
      !status)
    return status.error();
  events.push_back(event);
  return event;
}

Status Plan::copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) const {
  if (to == from || bytes == 0)
    return Success{};
  return comm.driver->check(comm.driver->copy(to, from, bytes, stream), "cuMemcpyDtoDAsync");
}

Status Plan::order(CUstream before, CUstream after, CUevent event) const {
  Status status = comm.driver->check(comm.driver->eventRecord(event, before), "cuEventRecord");
  if (status)
    status = comm.driver->check(comm.driver->streamWaitEvent(after, event, 0), "cuStreamWaitEvent");
  return status;
}

Status checkForm(tile_dist_form form, tile_dist_type type) {
  if (form < TILE_DIST_AUTO || form > TILE_DIST_FLAGGED)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "form {} does not exist", int(form));
  if (type < TILE_DIST_F16 || type > TILE_DIST_F32)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "type {} does not exist", int(type));
  return Success{};
}

Status checkSizes(std::initializer_list<std::pair<const char *, int64_t>> values) {
  constexpr int64_t most = int64_t(1) << 31;
  for (const auto &[name, size] : values)
    if (size < 1 || size >= most)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is {}; expected 1 to 2^31 - 1", name, size);
  return Success{};
}

Status agree(Communicator &comm, const Terms &terms, bool isValid) {
  std::vector<int64_t> mine = terms.values;
  mine.push_back(isValid);
  const size_t bytes = mine.size() * sizeof(int64_t);
  Result<std::string> told = comm.exchange(terms.subject, {reinterpret_cast<const char *>(mine.data()), bytes});
  if (!told)
    return told.error();
  std::vector<int64_t> theirs(mine.size());
  for (int other = 0; other < comm.size(); ++other) {
    std::memcpy(theirs.data(), told->data() + size_t(other) * bytes, bytes);
    if (!theirs.back())
      return makeError(TILE_ERROR_PEER, "the plan of rank {} is invalid", other);
    if (theirs != mine)
      return makeError(TILE_ERROR_PEER, "rank {} has {}; rank {} has {}: all ranks need the same plan", other,
                       terms.describe(theirs.data()), comm.rank(), terms.describe(mine.data()));
  }
  return Success{};
}

Status finishPlan(Communicator &comm, const std::string &place, const Status &made) {
  Result<std::string> ready = comm.exchange("plan_create ready", made ? "1" : "0");
  if (!made)
    return runtime::withContext(place, made.error());
  if (!ready)
    return ready.error();
  if (const size_t failed = ready->find('0'); failed != std::string::npos)
    return makeError(TILE_ERROR_PEER, "{}: rank {} has failed", place, failed);
  return Success{};
}

} // namespace tile::dist
