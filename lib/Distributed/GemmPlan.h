// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that combine a GEMM with a collective before or after it, or that consist of a collective only.
#pragma once

#include "Distributed/Plan.h"

namespace tile::dist {

struct PlanRequest {
  tile_dist_operation operation;
  tile_dist_shape shape;
  const tile_dist_kernels *kernels;
  tile_dist_form form;
};

class GemmPlan : public Plan {
public:
  virtual Status run(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) = 0;
  /// Fails if a run with these operands would be rejected, before anything is enqueued.
  virtual Status checkOperands(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) = 0;

  const tile_dist_operation operation;
  const tile_dist_shape shape;

protected:
  GemmPlan(Communicator &comm, const PlanRequest &request, const char *name)
      : Plan(comm, name), operation(request.operation), shape(request.shape) {}

  // Sizes. A chunk is the part of a or c that belongs to one rank.
  int64_t chunkRows() const { return shape.m / ranks(); }
  size_t elementBytes() const { return bytesOf(shape.type); }
  size_t rowBytesOfA() const { return size_t(shape.k) * elementBytes(); }
  size_t rowBytesOfC() const { return size_t(shape.n) * elementBytes(); }

  Result<KernelCall> makeCall(const PlanRequest &request, tile_kernel *kernel, const char *role,
                              std::initializer_list<Name> provided) {
    return Plan::makeCall(kernel, role, provided, {request.kernels->arguments, request.kernels->argument_count});
  }
  /// Prepares the GEMM, if the operation has one, and describes the operation for the cost model. `rowBytes` is the
  /// size of a row as it is exchanged between ranks.
  Result<WireWork> prepareGemm(const PlanRequest &request, size_t rowBytes, int units);
  /// Fails if the kernel (by default the GEMM) would reject the operands. 0 stands for memory of the plan.
  Status checkGemm(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) { return checkGemm(*gemm, a, b, c); }
  Status checkGemm(KernelCall &call, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c);
  /// Launches the GEMM of `rows` rows.
  Status multiply(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t rows);

private:
  /// Returns the expected time of a GEMM of `rows` rows; if the kernel has no cost model, a lower bound computed from
  /// its arithmetic.
  double gemmTime(int64_t rows);

  std::optional<KernelCall> gemm;
};

/// Collective. Destroying the plan is collective, too.
Result<std::unique_ptr<GemmPlan>> makeGemmPlan(Communicator &comm, const PlanRequest &request);

Result<std::unique_ptr<GemmPlan>> makeAllGatherGemm(Communicator &comm, const PlanRequest &request);
Result<std::unique_ptr<GemmPlan>> makeGemmReduceScatter(Communicator &comm, const PlanRequest &request);

} // namespace tile::dist
