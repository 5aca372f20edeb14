// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// all_gather_gemm: each rank multiplies the rows of a, which are distributed over all ranks, by its own b.
//
//   stream   signal that this rank's rows are ready | GEMM of these rows | GEMM of each other chunk | wait for pulls
//   copies   for each other rank: wait for its signal, pull its rows in units, signal that they are pulled
//
// In the chunked form, the GEMM of a chunk waits for an event that follows its copy. In the flagged form, there is one
// GEMM, and its tiles wait for the flags of their units, which a stream sets after each copy. Copies are enqueued
// before the GEMM that waits for them. A GEMM that fills the GPU does not delay them, because copy engines execute
// them.
#include "Distributed/GemmPlan.h"

#include <algorithm>

namespace tile::dist {
namespace {

class AllGatherGemm : public GemmPlan {
public:
  AllGatherGemm(Communicator &comm, const PlanRequest &request) : GemmPlan(comm, request, "all_gather_gemm") {}

  Status prepare(const PlanRequest &request) {
    units = chooseUnits();
    Result<WireWork> work = prepareGemm(request, rowBytesOfA(), units);
    if (!work)
      return work.error();
    std::optional<double> flagged;
    if (request.kernels->gemm_wait) {
      Result<KernelCall> made =
          makeCall(request, request.kernels->gemm_wait, "gemm_wait",
                   {Name::a, Name::b, Name::c, Name::M, Name::N, Name::K, Name::flags, Name::rows, Name::first});
      if (!made)
        return made.error();
      waiting = std::move(*made);
      flagged = gatherFlaggedTime(*work);
    }
    if (Status status = chooseForm(request.form, sequentialTime(*work, 1), gatherChunkedTime(*work), flagged); !status)
      return status;
    if (ranks() == 1)
      return Success{};
    return allocateAll();
  }

  Status checkOperands(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) override {
    if (ranks() > 1)
      a = 0; // the GEMM multiplies gathered rows
    return info.form == TILE_DIST_FLAGGED && ranks() > 1 ? checkGemm(*waiting, a, b, c) : checkGemm(a, b, c);
  }

  Status run(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) override {
    if (ranks() == 1)
      return multiply(stream, a, b, c, shape.m);
    Status status = copy(stream, chunkOf(rank(), rank()), a, chunkBytes());
    if (!status)
      return status;
    if (info.form == TILE_DIST_SEQUENTIAL && comm.nccl) {
      const size_t count = chunkBytes() / elementBytes();
      status = callCollective("ncclAllGather", [&] {
        return comm.nccl->allGather(pointerTo(chunkOf(rank(), rank())), pointerTo(rows.mine), count,
                                    ncclType(shape.type), comm.ncclComm, stream);
      });
      return status ? multiply(stream, rows.mine, b, c, shape.m) : status;
    }
    if (status = setAll(stream, [&](int own) { return readyFlag(own); }); status)
      status = order(stream, comm.copies, begun);
    for (int step = 1; status && step < ranks(); ++step)
      status = pull(after(step), step);
    if (status)
      status = info.form == TILE_DIST_FLAGGED ? multiplyArriving(stream, b, c) : multiplyArrived(stream, b, c);
    if (status)
      status = order(comm.copies, stream, ended);
    // This rank's rows must not change before all ranks have pulled them.
    return status ? takeAll(stream, [&](int other) { return pulledFlag(other); }) : status;
  }

private:
  // Flags: the units that have arrived (first, because kernels require their alignment), the ranks whose rows are
  // ready, and the ranks that have pulled this rank's rows.
  size_t arrivedFlag(int other, int unit) const { return size_t(other * units + unit); }
  size_t readyFlag(int other) const { return arrivedFlag(ranks(), 0) + size_t(other); }
  size_t pulledFlag(int other) const { return readyFlag(ranks()) + size_t(other); }

  size_t chunkBytes() const { return size_t(chunkRows()) * rowBytesOfA(); }
  /// Returns the rows of `other` in the memory of `owner`.
  CUdeviceptr chunkOf(int owner, int other) const { return rows.all[owner] + size_t(other) * chunkBytes(); }

  /// Returns the number of units of a chunk. Units have equal sizes, the smallest that still allow copies at full
  /// speed.
  int chooseUnits() const {
    constexpr size_t least = size_t(4) << 20;
    int count = 8;
    while (count > 1 && (chunkRows() % count != 0 || chunkBytes() / size_t(count) < least))
      count /= 2;
    return count;
  }

  Status allocateAll() {
    Result<Window> window = allocate("gathered rows", size_t(shape.m) * rowBytesOfA());
    if (!window)
      return window.error();
    rows = std::move(*window);
    info.a = pointerTo(rows.mine + size_t(rank()) * chunkBytes());
    info.gathered = pointerTo(rows.mine);
    if (!comm.hasPeers)
      return Success{};
    Result<std::unique_ptr<Signals>> made = Signals::make(comm, pulledFlag(ranks()));
    if (!made)
      return made.error();
    signals = std::move(*made);
    Result<CUevent> first = makeEvent(), last = makeEvent();
    if (!first || !last)
      return (first ? last : first).error();
    begun = *first;
    ended = *last;
    for (int step = 1; step < ranks(); ++step) {
      Result<CUevent> event = makeEvent();
      if (!event)
        return event.error();
      arrived.push_back(*event);
    }
    // This rank's rows need no copy, so their flags are always set.
    Status status = signals->fill(comm.copies, arrivedFlag(rank(), 0), size_t(units), 1);
    return status ? comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize") : status;
  }

  Status pull(int other, int step) {
    Status status = signals->take(comm.copies, readyFlag(other));
    const int parts = info.form == TILE_DIST_FLAGGED ? units : 1;
    const size_t bytes = chunkBytes() / size_t(parts);
    for (int unit = 0; status && unit < parts; ++unit) {
      const size_t offset = size_t(unit) * bytes;
      status = copy(comm.copies, chunkOf(rank(), other) + offset, chunkOf(other, other) + offset, bytes);
      if (status && info.form == TILE_DIST_FLAGGED)
        status = signals->set(comm.copies, rank(), arrivedFlag(other, unit));
    }
    if (status && info.form != TILE_DIST_FLAGGED)
      status = comm.driver->check(comm.driver->eventRecord(arrived[size_t(step - 1)], comm.copies), "cuEventRecord");
    return status ? signals->set(comm.copies, other, pulledFlag(rank())) : status;
  }

  Status waitForArrival(CUstream stream, int step) {
    return comm.driver->check(comm.driver->streamWaitEvent(stream, arrived[size_t(step - 1)], 0), "cuStreamWaitEvent");
  }

  /// Multiplies rows after they have arrived. In the chunked form: first this rank's rows, then each other chunk when
  /// it has arrived. In the sequential form: all rows in one GEMM.
  Status multiplyArrived(CUstream stream, CUdeviceptr b, CUdeviceptr c) {
    Status status = Success{};
    if (info.form == TILE_DIST_SEQUENTIAL) {
      for (int step = 1; status && step < ranks(); ++step)
        status = waitForArrival(stream, step);
      return status ? multiply(stream, rows.mine, b, c, shape.m) : status;
    }
    for (int step = 0; status && step < ranks(); ++step) {
      const int other = after(step);
      if (step > 0)
        status = waitForArrival(stream, step);
      if (status)
        status = multiply(stream, chunkOf(rank(), other), b, c + size_t(other) * size_t(chunkRows()) * rowBytesOfC(),
                          chunkRows());
    }
    return status;
  }

  Status multiplyArriving(CUstream stream, CUdeviceptr b, CUdeviceptr c) {
    Status status = waiting->launch(stream, {{Name::a, int64_t(rows.mine)},
                                             {Name::b, int64_t(b)},
                                             {Name::c, int64_t(c)},
                                             {Name::M, shape.m},
                                             {Name::N, shape.n},
                                             {Name::K, shape.k},
                                             {Name::flags, int64_t(signals->addressOf(arrivedFlag(0, 0)))},
                                             {Name::rows, chunkRows() / units},
                                             {Name::first, rank() * units}});
    const size_t own = arrivedFlag(rank(), 0), end = arrivedFlag(ranks(), 0);
    if (status && rank() > 0)
      status = signals->fill(stream, 0, own, 0);
    if (status && own + size_t(units) < end)
      status = signals->fill(stream, own + size_t(units), end - own - size_t(units), 0);
    return status;
  }

  std::optional<KernelCall> waiting;
  Window rows;
  int units = 1; ///< number of parts of a chunk that are copied separately
  CUevent begun = nullptr, ended = nullptr;
  std::vector<CUevent> arrived; ///< for each step: recorded when the chunk has arrived
};

} // namespace

Result<std::unique_ptr<GemmPlan>> makeAllGatherGemm(Communicator &comm, const PlanRequest &request) {
  auto plan = std::make_unique<AllGatherGemm>(comm, request);
  if (Status status = plan->prepare(request); !status)
    return status.error();
  return std::unique_ptr<GemmPlan>(std::move(plan));
}

} // namespace tile::dist
