// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/GemmPlan.h"

namespace tile::dist {

static constexpr const char *operationNames[] = {"all_gather_gemm", "gemm_reduce_scatter", "gemm_all_reduce",
                                                 "all_reduce"};

Status GemmPlan::checkGemm(KernelCall &call, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  Status status = Success{};
  for (const auto &[operand, name, address] :
       {std::tuple("a", Name::a, a), std::tuple("b", Name::b, b), std::tuple("c", Name::c, c)})
    if (status)
      status = call.check(comm.multiprocessors, operand,
                          {{name, int64_t(address)}, {Name::M, chunkRows()}, {Name::N, shape.n}, {Name::K, shape.k}});
  return status;
}

double GemmPlan::gemmTime(int64_t rows) {
  // The addresses of a run are not known yet; use aligned placeholders.
  constexpr int64_t somewhere = int64_t(1) << 32;
  const std::optional<double> expected = gemm->estimate(comm.multiprocessors, {{Name::a, somewhere},
                                                                               {Name::b, somewhere},
                                                                               {Name::c, somewhere},
                                                                               {Name::M, rows},
                                                                               {Name::N, shape.n},
                                                                               {Name::K, shape.k}});
  return expected.value_or(
      arithmeticTime(2.0 * double(rows) * double(shape.n) * double(shape.k), comm.multiprocessors));
}

Result<WireWork> GemmPlan::prepareGemm(const PlanRequest &request, size_t rowBytes, int units) {
  WireWork work;
  work.ranks = ranks();
  work.chunkBytes = double(chunkRows()) * double(rowBytes);
  work.units = units;
  if (request.operation == TILE_DIST_ALL_REDUCE)
    return work;
  Result<KernelCall> call =
      makeCall(request, request.kernels->gemm, "gemm", {Name::a, Name::b, Name::c, Name::M, Name::N, Name::K});
  if (!call)
    return call.error();
  gemm = std::move(*call);
  if (Status possible =
          gemm->check(comm.multiprocessors, "shape", {{Name::M, chunkRows()}, {Name::N, shape.n}, {Name::K, shape.k}});
      !possible)
    return possible.error();
  work.gemm = gemmTime(shape.m);
  work.chunk = gemmTime(chunkRows());
  return work;
}

Status GemmPlan::multiply(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t rows) {
  return gemm->launch(stream, {{Name::a, int64_t(a)},
                               {Name::b, int64_t(b)},
                               {Name::c, int64_t(c)},
                               {Name::M, rows},
                               {Name::N, shape.n},
                               {Name::K, shape.k}});
}

/// Checks the shape of an all-reduce. Its chunks must consist of whole 16-byte words, which sum.tile moves.
static Status checkSummands(const Communicator &comm, const tile_dist_shape &shape) {
  constexpr int64_t granule = 8;
  if (shape.k != 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "k is {}; expected 0, since all_reduce multiplies nothing", shape.k);
  Status status = checkSizes({{"m", shape.m}, {"n", shape.n}});
  if (status && shape.m * shape.n % (granule * comm.size()) != 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "m * n is {}; expected a multiple of {}, {} for each rank",
                     shape.m * shape.n, granule * comm.size(), granule);
  return status;
}

static Status checkRequest(const Communicator &comm, const PlanRequest &request) {
  const tile_dist_shape &shape = request.shape;
  if (request.operation < TILE_DIST_ALL_GATHER_GEMM || request.operation > TILE_DIST_ALL_REDUCE)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "operation {} does not exist", int(request.operation));
  Status status = checkForm(request.form, shape.type);
  if (status && request.operation == TILE_DIST_ALL_REDUCE)
    status = checkSummands(comm, shape);
  else if (status)
    status = checkSizes({{"m", shape.m}, {"n", shape.n}, {"k", shape.k}});
  if (status && shape.m % comm.size() != 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "m is {}; expected a multiple of the number of ranks, {}", shape.m,
                     comm.size());
  return status;
}

Result<std::unique_ptr<GemmPlan>> makeGemmPlan(Communicator &comm, const PlanRequest &request) {
  const Status valid = checkRequest(comm, request);
  const bool exists = request.operation >= 0 && size_t(request.operation) < std::size(operationNames);
  const std::string place =
      fmt::format("rank {}: plan_create {}", comm.rank(), exists ? operationNames[request.operation] : "");
  const tile_dist_shape &shape = request.shape;
  const auto describe = [](const int64_t *values) {
    return fmt::format("operation {}, form {}, type {}, {} x {} x {}", values[0], values[1], values[2], values[3],
                       values[4], values[5]);
  };
  const Terms terms = {
      "plan_create", {request.operation, request.form, shape.type, shape.m, shape.n, shape.k}, describe};
  const Status agreed = agree(comm, terms, bool(valid));
  if (!valid || !agreed)
    return runtime::withContext(place, !valid ? valid.error() : agreed.error());
  Result<std::unique_ptr<GemmPlan>> plan = request.operation == TILE_DIST_ALL_GATHER_GEMM
                                               ? makeAllGatherGemm(comm, request)
                                               : makeGemmReduceScatter(comm, request);
  if (Status status = finishPlan(comm, place, plan ? Status(Success{}) : Status(plan.error())); !status)
    return status.error();
  return plan;
}

} // namespace tile::dist
