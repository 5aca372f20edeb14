// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gemm_reduce_scatter and gemm_all_reduce: each rank sums the GEMM results of all ranks for its chunk of rows.
// all_reduce sums data that the ranks already have: its operand takes the place of the GEMM's result.
//
//   stream   GEMM of another rank's chunk | … | GEMM of this rank's chunk | wait for the others' parts | sum
//   copies   after the GEMM of another rank's chunk: push the chunk to that rank, signal it
//
// Copy engines move a chunk while the next GEMM runs, so communication is hidden as long as a GEMM takes longer than a
// copy. The GEMM is the same as on a single GPU: stores to a peer from its epilogue would stall its tiles. For the
// all-reduce, this rank's chunk is computed in units, which are pushed to all others. Without peer access, or where the
// model expects it to be faster, the collective follows the complete GEMM.
#include "Distributed/GemmPlan.h"

#include <algorithm>

namespace tile::dist {
namespace {

class GemmReduceScatter : public GemmPlan {
public:
  GemmReduceScatter(Communicator &comm, const PlanRequest &request)
      : GemmPlan(comm, request,
                 request.operation == TILE_DIST_ALL_REDUCE        ? "all_reduce"
                 : request.operation == TILE_DIST_GEMM_ALL_REDUCE ? "gemm_all_reduce"
                                                                  : "gemm_reduce_scatter"),
        hasGemm(request.operation != TILE_DIST_ALL_REDUCE),
        isGathered(request.operation != TILE_DIST_GEMM_REDUCE_SCATTER) {}

  Status prepare(const PlanRequest &request) {
    units = chooseUnits();
    Result<WireWork> work = prepareGemm(request, rowBytesOfC(), units);
    if (!work)
      return work.error();
    std::optional<double> chunked;
    if (request.kernels->sum)
      chunked = scatterChunkedTime(*work, isGathered);
    if (Status status = chooseForm(request.form, sequentialTime(*work, isGathered ? 2 : 1), chunked, std::nullopt);
        !status)
      return status;
    if (ranks() == 1)
      return Success{};
    if (Status status = prepareSums(request); !status)
      return status;
    return allocateAll();
  }

  Status checkOperands(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) override {
    if (!hasGemm && ranks() > 1 && a == results.mine)
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "a is the plan's memory for results, which other ranks write while a is read");
    const bool isDirect = ranks() == 1 || (usesCollective() && isGathered); // the GEMM writes c
    Status status = hasGemm ? checkGemm(a, b, isDirect ? c : 0) : Status(Success{});
    return status && sums && !isGathered ? sums->check(comm.multiprocessors, "c", {{Name::c, int64_t(c)}}) : status;
  }

  Status run(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) override {
    if (ranks() == 1)
      return hasGemm ? multiply(stream, a, b, c, shape.m) : copy(stream, c, a, size_t(shape.m) * rowBytesOfC());
    if (usesCollective())
      return runCollective(stream, a, b, c);
    Status status = Success{};
    if (isGathered) // signal that the results of the previous run have been read
      status = setAll(stream, [&](int own) { return openFlag(own); });
    if (status)
      status = sendParts(stream, a, b);
    if (status)
      status = sumParts(stream, a, b, c);
    // The chunks must not change before the copies have read them.
    if (status)
      status = order(comm.copies, stream, ended);
    return status && isGathered ? finishGather(stream, c) : status;
  }

private:
  // Flags of this rank, one of each kind for every other rank r. part: r's part has arrived. room: r can receive this
  // rank's part. open: r can receive results. result: r's result has arrived.
  size_t partFlag(int other) const { return size_t(other); }
  size_t roomFlag(int other) const { return size_t(ranks() + other); }
  size_t openFlag(int other) const { return size_t(2 * ranks() + other); }
  size_t resultFlag(int other) const { return size_t(3 * ranks() + other); }

  size_t chunkBytesOfA() const { return size_t(chunkRows()) * rowBytesOfA(); }
  size_t chunkBytes() const { return size_t(chunkRows()) * rowBytesOfC(); }

  /// Returns true if every chunk is available before the first one is sent: one GEMM has computed all chunks, or there
  /// is no GEMM.
  bool isComputedAtOnce() const { return !hasGemm || info.form == TILE_DIST_SEQUENTIAL; }
  bool usesCollective() const { return info.form == TILE_DIST_SEQUENTIAL && comm.nccl; }

  /// Returns where `owner` receives the part of `sender`. Parts, including the owner's, are ordered by rank.
  CUdeviceptr partOf(int owner, int sender) const { return parts.all[owner] + size_t(sender) * chunkBytes(); }
  /// Returns the rows of `other` in the result of `owner`.
  CUdeviceptr resultOf(int owner, int other) const { return results.all[owner] + size_t(other) * chunkBytes(); }

  /// Returns the number of units of this rank's chunk in an all-reduce. Each unit is sent while the next one is
  /// computed.
  int chooseUnits() const {
    constexpr int64_t leastRows = 512;
    return isGathered && chunkRows() % 2 == 0 && chunkRows() / 2 >= leastRows ? 2 : 1;
  }

  Status prepareSums(const PlanRequest &request) {
    if (usesCollective())
      return Success{};
    Result<KernelCall> made =
        makeCall(request, request.kernels->sum, "sum", {Name::c, Name::parts, Name::count, Name::stride, Name::size});
    if (!made)
      return made.error();
    sums = std::move(*made);
    return Success{};
  }

  Status allocateAll() {
    if (hasGemm && (!usesCollective() || !isGathered)) {
      Result<CUdeviceptr> memory = allocateLocal(size_t(shape.m) * rowBytesOfC());
      if (!memory)
        return memory.error();
      product = *memory;
    }
    if (usesCollective())
      return Success{};
    Result<Window> window = allocate("parts", size_t(ranks()) * chunkBytes());
    if (!window)
      return window.error();
    parts = std::move(*window);
    if (isGathered) {
      Result<Window> gathered = allocate("results", size_t(shape.m) * rowBytesOfC());
      if (!gathered)
        return gathered.error();
      results = std::move(*gathered);
      info.c = pointerTo(results.mine);
    }
    Result<std::unique_ptr<Signals>> made = Signals::make(comm, 4 * size_t(ranks()));
    if (!made)
      return made.error();
    signals = std::move(*made);
    for (CUevent *event : {&begun, &ended}) {
      Result<CUevent> created = makeEvent();
      if (!created)
        return created.error();
      *event = *created;
    }
    // Initially all ranks have room for parts.
    Status status = signals->fill(comm.copies, roomFlag(0), size_t(ranks()), 1);
    return status ? comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize") : status;
  }

  Status runCollective(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
    const CUdeviceptr to = isGathered ? c : product, from = hasGemm ? to : a;
    if (hasGemm)
      if (Status status = multiply(stream, a, b, to, shape.m); !status)
        return status;
    const size_t count = chunkBytes() / elementBytes();
    const int type = ncclType(shape.type);
    if (isGathered)
      return callCollective("ncclAllReduce", [&] {
        return comm.nccl->allReduce(pointerTo(from), pointerTo(c), count * size_t(ranks()), type, nccl::sum,
                                    comm.ncclComm, stream);
      });
    return callCollective("ncclReduceScatter", [&] {
      return comm.nccl->reduceScatter(pointerTo(product), pointerTo(c), count, type, nccl::sum, comm.ncclComm, stream);
    });
  }

  /// Returns the chunks for all ranks before they are sent.
  CUdeviceptr summands(CUdeviceptr a) const { return hasGemm ? product : a; }

  /// Computes the chunks of the other ranks, and pushes each to its rank while the next GEMM runs. In the sequential
  /// form, one GEMM computes all chunks, and all copies follow it.
  Status sendParts(CUstream stream, CUdeviceptr a, CUdeviceptr b) {
    Status status = hasGemm && isComputedAtOnce() ? multiply(stream, a, b, product, shape.m) : Status(Success{});
    for (int step = 1; status && step < ranks(); ++step) {
      const int other = after(step);
      const CUdeviceptr chunk = summands(a) + size_t(other) * chunkBytes();
      if (!isComputedAtOnce())
        status = multiply(stream, a + size_t(other) * chunkBytesOfA(), b, chunk, chunkRows());
      if (status)
        status = order(stream, comm.copies, begun);
      if (status)
        status = signals->take(comm.copies, roomFlag(other));
      if (status)
        status = copy(comm.copies, partOf(other, rank()), chunk, chunkBytes());
      if (status)
        status = signals->set(comm.copies, other, partFlag(rank()));
    }
    return status;
  }

  /// Computes this rank's chunk in units, and adds the parts that other ranks have sent.
  Status sumParts(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
    const CUdeviceptr to = isGathered ? resultOf(rank(), rank()) : c, own = partOf(rank(), rank());
    const int64_t rows = chunkRows() / units;
    const size_t bytes = size_t(rows) * rowBytesOfC();
    Status status = Success{};
    for (int unit = 0; status && unit < units; ++unit) {
      const size_t offset = size_t(unit) * bytes;
      if (isComputedAtOnce())
        status = copy(stream, own + offset, summands(a) + size_t(rank()) * chunkBytes() + offset, bytes);
      else
        status = multiply(stream, a + size_t(rank()) * chunkBytesOfA() + size_t(unit * rows) * rowBytesOfA(), b,
                          own + offset, rows);
      if (status && unit == 0)
        status = takeAll(stream, [&](int other) { return partFlag(other); });
      if (status)
        status = sums->launch(stream, {{Name::c, int64_t(to + offset)},
                                       {Name::parts, int64_t(parts.mine + offset)},
                                       {Name::count, ranks()},
                                       {Name::stride, int64_t(chunkBytes() / elementBytes())},
                                       {Name::size, int64_t(bytes / elementBytes())}});
      if (status && isGathered)
        status = sendResults(stream, offset, bytes, unit);
    }
    return status ? setAll(stream, [&](int own) { return roomFlag(own); }) : status;
  }

  /// Copies a part of this rank's chunk to all other ranks, concurrently with the stream.
  Status sendResults(CUstream stream, size_t offset, size_t bytes, int unit) {
    Status status = order(stream, comm.copies, begun);
    for (int step = 1; status && step < ranks(); ++step) {
      const int other = after(step);
      if (unit == 0)
        status = signals->take(comm.copies, openFlag(other));
      if (status)
        status = copy(comm.copies, resultOf(other, rank()) + offset, resultOf(rank(), rank()) + offset, bytes);
      if (status && offset + bytes == chunkBytes())
        status = signals->set(comm.copies, other, resultFlag(rank()));
    }
    return status;
  }

  Status finishGather(CUstream stream, CUdeviceptr c) {
    Status status = takeAll(stream, [&](int other) { return resultFlag(other); });
    return status ? copy(stream, c, results.mine, size_t(shape.m) * rowBytesOfC()) : status;
  }

  const bool hasGemm, isGathered;
  std::optional<KernelCall> sums;
  Window parts, results;
  CUdeviceptr product = 0; ///< chunks for all ranks; only the sequential form also puts this rank's chunk here
  int units = 1;
  CUevent begun = nullptr, ended = nullptr;
};

} // namespace

Result<std::unique_ptr<GemmPlan>> makeGemmReduceScatter(Communicator &comm, const PlanRequest &request) {
  auto plan = std::make_unique<GemmReduceScatter>(comm, request);
  if (Status status = plan->prepare(request); !status)
    return status.error();
  return std::unique_ptr<GemmPlan>(std::move(plan));
}

} // namespace tile::dist
