// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation across GPUs, ready to run: its memory, kernels and form. One class for each operation.
#pragma once

#include "Distributed/KernelCall.h"
#include "Distributed/Signals.h"
#include "Distributed/WireModel.h"

#include <optional>

namespace tile::dist {

struct PlanRequest {
  tile_dist_operation operation;
  tile_dist_shape shape;
  const tile_dist_kernels *kernels;
  tile_dist_form form;
};

class Plan {
public:
  virtual ~Plan();
  virtual Status run(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) = 0;
  /// Collective, before destruction.
  Status release();

  Communicator &comm;
  const tile_dist_shape shape;
  tile_dist_plan_info info = {};
  const char *name; ///< of the operation, for messages

protected:
  Plan(Communicator &comm, const PlanRequest &request, const char *name);

  // Sizes. A chunk is the part of a or c that belongs to one rank.
  int rank() const { return comm.rank(); }
  int ranks() const { return comm.size(); }
  /// The rank that comes `step` after this one: every rank begins with another one, so that no link waits for another.
  int after(int step) const { return (rank() + step) % ranks(); }
  int64_t chunkRows() const { return shape.m / ranks(); }
  size_t elementBytes() const { return shape.type == TILE_DIST_F32 ? 4 : 2; }
  size_t rowBytesOfA() const { return size_t(shape.k) * elementBytes(); }
  size_t rowBytesOfC() const { return size_t(shape.n) * elementBytes(); }

  /// Makes a kernel ready to launch, so that no run loads or allocates. `role` and `provided` as in KernelCall::make.
  Result<KernelCall> makeCall(const PlanRequest &request, tile_kernel *kernel, const char *role,
                              std::initializer_list<Name> provided);
  /// Chooses the form with the least expected time among those that are possible.
  Status chooseForm(const PlanRequest &request, double sequential, std::optional<double> chunked,
                    std::optional<double> flagged);
  /// The expected time of a GEMM of `rows` rows; a bound from the arithmetic without a model of the kernel.
  double gemmTime(KernelCall &call, int64_t rows) const;

  Result<Window> allocate(const char *what, size_t bytes);
  /// Memory that other ranks do not access.
  Result<CUdeviceptr> allocateLocal(size_t bytes);
  Result<CUevent> makeEvent();

  /// Multiplies `rows` rows.
  Status multiply(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t rows);
  Status copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) const;
  /// Lets a stream wait for what another one has to do now.
  Status order(CUstream before, CUstream after, CUevent event) const;
  /// Calls a collective of NCCL, which `body` does, unless the communicator has failed.
  template <typename Body> Status callCollective(const char *call, const Body &body) const {
    const Rescue::Call inProgress(*comm.rescue);
    Status status = comm.usable();
    return status ? comm.nccl->check(body(), call) : status;
  }

  std::optional<KernelCall> gemm;
  std::unique_ptr<Signals> signals; ///< null if nothing is copied between peers

private:
  std::vector<Window> windows;
  std::vector<CUdeviceptr> memory;
  std::vector<CUevent> events;
};

/// Collective.
Result<std::unique_ptr<Plan>> makePlan(Communicator &comm, const PlanRequest &request);

Result<std::unique_ptr<Plan>> makeAllGatherGemm(Communicator &comm, const PlanRequest &request);
Result<std::unique_ptr<Plan>> makeGemmReduceScatter(Communicator &comm, const PlanRequest &request);

} // namespace tile::dist
