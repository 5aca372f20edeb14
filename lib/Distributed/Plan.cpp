// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tile::dist {

static constexpr const char *operationNames[] = {"all_gather_gemm", "gemm_reduce_scatter", "gemm_all_reduce"};
static constexpr const char *formNames[] = {"auto", "sequential", "chunked", "flagged"};

Plan::Plan(Communicator &comm, const PlanRequest &request, const char *name)
    : comm(comm), shape(request.shape), name(name) {}

Plan::~Plan() {
  // Freeing memory would wait for work that may not end.
  if (comm.rescue->hasFailed())
    return;
  for (CUevent event : events)
    comm.driver->eventDestroy(event);
  for (CUdeviceptr pointer : memory)
    comm.driver->memoryFree(pointer);
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

Result<KernelCall> Plan::makeCall(const PlanRequest &request, tile_kernel *kernel, const char *role,
                                  std::initializer_list<Name> provided) {
  Result<KernelCall> call =
      KernelCall::make(kernel, role, provided, {request.kernels->arguments, request.kernels->argument_count});
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

Status Plan::chooseForm(const PlanRequest &request, double sequential, std::optional<double> chunked,
                        std::optional<double> flagged) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const double ofChunks = chunked.value_or(never), ofFlags = flagged.value_or(never);
  info.sequential_microseconds = sequential;
  info.overlapped_microseconds = chunked || flagged ? std::min(ofChunks, ofFlags) : -1;
  const bool overlaps = request.form == TILE_DIST_CHUNKED || request.form == TILE_DIST_FLAGGED;
  if (overlaps && !comm.hasPeers)
    return makeError(TILE_ERROR_UNSUPPORTED, "form '{}' needs GPUs that can access each other's memory",
                     formNames[request.form]);
  if (request.form == TILE_DIST_FLAGGED && !flagged)
    return makeError(TILE_ERROR_UNSUPPORTED, "{} has no form 'flagged'", name);
  info.form = request.form;
  if (request.form != TILE_DIST_AUTO)
    return Success{};
  info.form = TILE_DIST_SEQUENTIAL;
  if (comm.hasPeers && std::min(ofChunks, ofFlags) < sequential)
    info.form = ofFlags < ofChunks ? TILE_DIST_FLAGGED : TILE_DIST_CHUNKED;
  // Ranks with other devices may expect other times: the first one decides.
  Result<std::string> told =
      comm.exchange("plan_create form", {reinterpret_cast<const char *>(&info.form), sizeof(info.form)});
  if (!told)
    return told.error();
  std::memcpy(&info.form, told->data(), sizeof(info.form));
  if (info.form == TILE_DIST_FLAGGED && !flagged)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.gemm_wait is a null pointer; rank 0 has this kernel");
  return Success{};
}

double Plan::gemmTime(KernelCall &call, int64_t rows) const {
  // Aligned addresses stand for those of the run.
  constexpr int64_t somewhere = int64_t(1) << 32;
  const std::optional<double> expected = call.estimate(comm.multiprocessors, {{Name::a, somewhere},
                                                                              {Name::b, somewhere},
                                                                              {Name::c, somewhere},
                                                                              {Name::M, rows},
                                                                              {Name::N, shape.n},
                                                                              {Name::K, shape.k}});
  constexpr double flopsPerMicrosecond = 5e6; // of a multiprocessor of an H200, 16-bit operands
  return expected.value_or(2.0 * double(rows) * double(shape.n) * double(shape.k) /
                           (flopsPerMicrosecond * comm.multiprocessors));
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

Result<CUevent> Plan::makeEvent() {
  CUevent event = nullptr;
  if (Status status = comm.driver->check(comm.driver->eventCreate(&event, cuda::eventDisableTiming), "cuEventCreate");
      !status)
    return status.error();
  events.push_back(event);
  return event;
}

Status Plan::multiply(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t rows) {
  return gemm->launch(stream, {{Name::a, int64_t(a)},
                               {Name::b, int64_t(b)},
                               {Name::c, int64_t(c)},
                               {Name::M, rows},
                               {Name::N, shape.n},
                               {Name::K, shape.k}});
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

static Status checkRequest(const Communicator &comm, const PlanRequest &request) {
  const tile_dist_shape &shape = request.shape;
  if (request.operation < TILE_DIST_ALL_GATHER_GEMM || request.operation > TILE_DIST_GEMM_ALL_REDUCE)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "operation {} does not exist", int(request.operation));
  if (request.form < TILE_DIST_AUTO || request.form > TILE_DIST_FLAGGED)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "form {} does not exist", int(request.form));
  if (shape.type < TILE_DIST_F16 || shape.type > TILE_DIST_F32)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "type {} does not exist", int(shape.type));
  constexpr int64_t most = int64_t(1) << 31;
  for (const auto &[name, size] : {std::pair("m", shape.m), std::pair("n", shape.n), std::pair("k", shape.k)})
    if (size < 1 || size >= most)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is {}; expected 1 to 2^31 - 1", name, size);
  if (shape.m % comm.size() != 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "m is {}; expected a multiple of the number of ranks, {}", shape.m,
                     comm.size());
  return Success{};
}

/// All ranks must agree, or they would wait for each other. Collective even after an error.
static Status checkAgreement(Communicator &comm, const PlanRequest &request, bool isValid) {
  struct {
    int64_t m, n, k;
    int32_t operation, type, form, isValid;
  } mine = {request.shape.m,    request.shape.n, request.shape.k, request.operation,
            request.shape.type, request.form,    isValid};
  Result<std::string> told = comm.exchange("plan_create", {reinterpret_cast<const char *>(&mine), sizeof(mine)});
  if (!told)
    return told.error();
  for (int other = 0; other < comm.size(); ++other) {
    auto theirs = mine;
    std::memcpy(&theirs, told->data() + size_t(other) * sizeof(mine), sizeof(mine));
    if (!theirs.isValid)
      return makeError(TILE_ERROR_PEER, "the plan of rank {} is invalid", other);
    if (std::memcmp(&theirs, &mine, sizeof(mine)) != 0)
      return makeError(TILE_ERROR_PEER,
                       "rank {} has operation {}, form {}, type {}, {} x {} x {}; rank {} has {}, {}, {}, "
                       "{} x {} x {}: all ranks need the same plan",
                       other, theirs.operation, theirs.form, theirs.type, theirs.m, theirs.n, theirs.k, comm.rank(),
                       mine.operation, mine.form, mine.type, mine.m, mine.n, mine.k);
  }
  return Success{};
}

Result<std::unique_ptr<Plan>> makePlan(Communicator &comm, const PlanRequest &request) {
  Status valid = checkRequest(comm, request);
  const bool exists = request.operation >= 0 && size_t(request.operation) < std::size(operationNames);
  const std::string place =
      fmt::format("rank {}: plan_create {}", comm.rank(), exists ? operationNames[request.operation] : "");
  Status agreed = checkAgreement(comm, request, bool(valid));
  if (!valid || !agreed)
    return runtime::withContext(place, !valid ? valid.error() : agreed.error());
  Result<std::unique_ptr<Plan>> plan = request.operation == TILE_DIST_ALL_GATHER_GEMM
                                           ? makeAllGatherGemm(comm, request)
                                           : makeGemmReduceScatter(comm, request);
  // Flags have their first values on all ranks.
  Result<std::string> ready = comm.exchange("plan_create ready", plan ? "1" : "0");
  if (!plan)
    return runtime::withContext(place, plan.error());
  if (!ready)
    return ready.error();
  if (const size_t failed = ready->find('0'); failed != std::string::npos)
    return makeError(TILE_ERROR_PEER, "{}: rank {} has failed", place, failed);
  return plan;
}

} // namespace tile::dist
