// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: checks its arguments, catches exceptions, and delegates.
#include "Distributed/Environment.h"
#include "Distributed/GemmPlan.h"
#include "Distributed/MoeBackward.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>

using namespace tile::dist;

struct tile_dist_group {
  explicit tile_dist_group(int size) : meeting(size) {}
  ThreadMeeting meeting;
};

struct tile_dist_comm {
  std::unique_ptr<Communicator> impl;
};

struct tile_dist_plan {
  std::unique_ptr<Plan> impl;
  GemmPlan *gemm = nullptr; ///< the plan, if it is a GemmPlan
  MoePlan *moe = nullptr;
};

namespace {

constexpr int defaultMilliseconds = 60000;

char *lastErrorBuffer(size_t &size) {
  static thread_local char buffer[1024] = "";
  size = sizeof(buffer);
  return buffer;
}

tile_status report(const Error &error) {
  size_t size = 0;
  char *buffer = lastErrorBuffer(size);
  std::snprintf(buffer, size, "%s", error.message.c_str());
  return error.code;
}
tile_status report(const Status &status) {
  return status ? TILE_OK : report(status.error());
}

/// Runs `body`, which returns a Status, and converts exceptions to a status.
template <typename Body> tile_status guarded(Body body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report(Error{TILE_ERROR_OUT_OF_MEMORY, "out of host memory"});
  } catch (const std::exception &exception) {
    return report(makeError(TILE_ERROR_UNSUPPORTED, "unexpected failure: {}", exception.what()));
  }
}

Status nullArgument(const char *function, const char *name) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}: '{}' is a null pointer", function, name);
}

std::chrono::milliseconds limitOf(const tile_dist_options &options) {
  return std::chrono::milliseconds(options.timeout_milliseconds > 0 ? options.timeout_milliseconds
                                                                    : defaultMilliseconds);
}

Status finishConnecting(Result<std::unique_ptr<HostGroup>> group, int localRank, const tile_dist_options &options,
                        tile_dist_comm **comm) {
  if (!group)
    return group.error();
  const int device = options.device >= 0 ? options.device : localRank;
  Result<std::unique_ptr<Communicator>> made = Communicator::make(std::move(*group), device, options);
  if (!made)
    return made.error();
  *comm = new tile_dist_comm{std::move(*made)};
  return Success{};
}

Status checkOptions(const char *function, const tile_dist_options *options, tile_dist_comm **comm) {
  if (!comm)
    return nullArgument(function, "comm");
  *comm = nullptr;
  if (!options)
    return nullArgument(function, "options");
  if (!options->runtime)
    return nullArgument(function, "options.runtime");
  if (options->transport < TILE_DIST_ANY || options->transport > TILE_DIST_COPIES)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}: options.transport {} does not exist", function,
                     int(options->transport));
  return Success{};
}

Status wrongPlan(const char *function, const Plan &plan) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}: the plan is for {}", function, plan.name);
}

/// Runs `body`, which enqueues work for the plan.
template <typename Body> Status runIn(Plan &plan, const Body &body) {
  Communicator &comm = plan.comm;
  if (Status status = comm.usable(); !status)
    return status;
  if (Status status = comm.activate(); !status)
    return status;
  comm.lastOperation = plan.name;
  plan.hasBegun = false;
  Status status = body();
  if (status)
    return status;
  if (comm.rescue->hasFailed()) // the rescue thread may also have ended NCCL calls with an error
    return comm.usable();
  const Error error = makeError(status.error().code, "rank {}: {}: {}", comm.rank(), plan.name, status.error().message);
  // Earlier work may wait for this rank, or for other ranks that have failed. Moreover, the next run would mistake the
  // flags of a run that stopped halfway for its own.
  if (plan.hasBegun || error.code == TILE_ERROR_DRIVER || error.code == TILE_ERROR_NCCL) {
    comm.rescue->fail(error);
    comm.host->abandon(error);
  }
  return error;
}

using BackwardStep = Status (MoeBackward::*)(CUstream stream, const tile_dist_moe_gradients &gradients);
tile_status runBackwardStep(const char *function, tile_dist_plan *plan, void *stream,
                            const tile_dist_moe_gradients *gradients, BackwardStep step) {
  return guarded([&]() -> Status {
    if (!plan || !gradients)
      return nullArgument(function, plan ? "gradients" : "plan");
    if (!plan->moe)
      return wrongPlan(function, *plan->impl);
    if (!plan->moe->backward)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}: the plan was created without kernels.expand_gradient",
                       function);
    return runIn(*plan->impl,
                 [&] { return (plan->moe->backward.get()->*step)(static_cast<CUstream>(stream), *gradients); });
  });
}

using MoeStep = Status (MoePlan::*)(CUstream stream, const tile_dist_moe_operands &operands);
tile_status runStep(const char *function, tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands,
                    MoeStep step) {
  return guarded([&]() -> Status {
    if (!plan || !operands)
      return nullArgument(function, plan ? "operands" : "plan");
    if (!plan->moe)
      return wrongPlan(function, *plan->impl);
    return runIn(*plan->impl, [&] { return (plan->moe->*step)(static_cast<CUstream>(stream), *operands); });
  });
}

} // namespace

extern "C" {

const char *tile_dist_last_error(void) {
  size_t size = 0;
  return lastErrorBuffer(size);
}

tile_status tile_dist_group_create(int size, tile_dist_group **group) {
  return guarded([&]() -> Status {
    if (!group)
      return nullArgument("tile_dist_group_create", "group");
    *group = nullptr;
    if (size < 1)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "tile_dist_group_create: size is {}; expected at least 1", size);
    *group = new tile_dist_group(size);
    return Success{};
  });
}

void tile_dist_group_destroy(tile_dist_group *group) {
  delete group;
}

tile_status tile_dist_connect_threads(tile_dist_group *group, int rank, const tile_dist_options *options,
                                      tile_dist_comm **comm) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_connect_threads";
    if (!group)
      return nullArgument(function, "group");
    if (Status status = checkOptions(function, options, comm); !status)
      return status;
    return finishConnecting(joinThreads(group->meeting, rank, limitOf(*options)), rank, *options, comm);
  });
}

tile_status tile_dist_connect(const char *address, int rank, int size, const tile_dist_options *options,
                              tile_dist_comm **comm) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_connect";
    if (!address)
      return nullArgument(function, "address");
    if (Status status = checkOptions(function, options, comm); !status)
      return status;
    return finishConnecting(joinProcesses(address, rank, size, limitOf(*options)), rank, *options, comm);
  });
}

tile_status tile_dist_connect_environment(tile_dist_variable get, void *user, const tile_dist_options *options,
                                          tile_dist_comm **comm) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_connect_environment";
    if (!get)
      return nullArgument(function, "get");
    if (Status status = checkOptions(function, options, comm); !status)
      return status;
    Result<Launch> launch = readLaunch(get, user);
    if (!launch)
      return launch.error();
    return finishConnecting(joinProcesses(launch->address, launch->rank, launch->size, limitOf(*options)),
                            launch->localRank, *options, comm);
  });
}

void tile_dist_destroy(tile_dist_comm *comm) {
  delete comm;
}

tile_status tile_dist_describe(const tile_dist_comm *comm, tile_dist_info *info) {
  return guarded([&]() -> Status {
    if (!comm || !info)
      return nullArgument("tile_dist_describe", comm ? "info" : "comm");
    const Communicator &impl = *comm->impl;
    *info = {impl.rank(), impl.size(), impl.device, impl.hasPeers, impl.nccl ? impl.nccl->version : 0};
    return Success{};
  });
}

tile_status tile_dist_barrier(tile_dist_comm *comm) {
  return guarded([&]() -> Status {
    if (!comm)
      return nullArgument("tile_dist_barrier", "comm");
    if (Status status = comm->impl->usable(); !status)
      return status;
    comm->impl->lastOperation = "barrier";
    Result<std::string> met = comm->impl->exchange("barrier", "");
    return met ? Status(Success{}) : Status(met.error());
  });
}

tile_status tile_dist_synchronize(tile_dist_comm *comm, void *stream) {
  return guarded([&]() -> Status {
    if (!comm)
      return nullArgument("tile_dist_synchronize", "comm");
    // After a failure, do not call activate: the driver may block.
    if (!comm->impl->rescue->hasFailed())
      if (Status status = comm->impl->activate(); !status)
        return status;
    return comm->impl->synchronize(static_cast<CUstream>(stream));
  });
}

tile_status tile_dist_plan_create(tile_dist_comm *comm, tile_dist_operation operation, const tile_dist_shape *shape,
                                  const tile_dist_kernels *kernels, tile_dist_form form, tile_dist_plan **plan) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_plan_create";
    if (!plan)
      return nullArgument(function, "plan");
    *plan = nullptr;
    if (!comm || !shape || !kernels)
      return nullArgument(function, !comm ? "comm" : !shape ? "shape" : "kernels");
    if (Status status = comm->impl->usable(); !status)
      return status;
    if (Status status = comm->impl->activate(); !status)
      return status;
    comm->impl->lastOperation = "plan_create";
    Result<std::unique_ptr<GemmPlan>> made = makeGemmPlan(*comm->impl, {operation, *shape, kernels, form});
    if (!made)
      return made.error();
    GemmPlan *gemm = made->get();
    *plan = new tile_dist_plan{std::move(*made), gemm};
    return Success{};
  });
}

tile_status tile_dist_plan_destroy(tile_dist_plan *plan) {
  return guarded([&]() -> Status {
    if (!plan)
      return Success{};
    Communicator &comm = plan->impl->comm;
    comm.lastOperation = "plan_destroy";
    Status status = comm.usable();
    if (status)
      status = comm.activate();
    if (status)
      status = plan->impl->release();
    delete plan;
    return status;
  });
}

tile_status tile_dist_plan_describe(const tile_dist_plan *plan, tile_dist_plan_info *info) {
  return guarded([&]() -> Status {
    if (!plan || !info)
      return nullArgument("tile_dist_plan_describe", plan ? "info" : "plan");
    *info = plan->impl->info;
    return Success{};
  });
}

tile_status tile_dist_run(tile_dist_plan *plan, void *stream, const void *a, const void *b, void *c) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_run";
    if (!plan || !a || !c)
      return nullArgument(function, !plan ? "plan" : !a ? "a" : "c");
    if (!plan->gemm)
      return wrongPlan(function, *plan->impl);
    if (!b && plan->gemm->operation != TILE_DIST_ALL_REDUCE)
      return nullArgument(function, "b");
    const auto address = [](const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
    return runIn(*plan->impl, [&] {
      Status status = plan->gemm->checkOperands(address(a), address(b), address(c));
      if (!status)
        return status;
      plan->impl->hasBegun = true;
      return plan->gemm->run(static_cast<CUstream>(stream), address(a), address(b), address(c));
    });
  });
}

tile_status tile_dist_moe_plan_create(tile_dist_comm *comm, const tile_dist_moe_shape *shape,
                                      const tile_dist_moe_kernels *kernels, tile_dist_form form,
                                      tile_dist_plan **plan) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_moe_plan_create";
    if (!plan)
      return nullArgument(function, "plan");
    *plan = nullptr;
    if (!comm || !shape || !kernels)
      return nullArgument(function, !comm ? "comm" : !shape ? "shape" : "kernels");
    if (Status status = comm->impl->usable(); !status)
      return status;
    if (Status status = comm->impl->activate(); !status)
      return status;
    comm->impl->lastOperation = "moe_plan_create";
    Result<std::unique_ptr<MoePlan>> made = MoePlan::make(*comm->impl, {*shape, kernels, form});
    if (!made)
      return made.error();
    MoePlan *moe = made->get();
    *plan = new tile_dist_plan{std::move(*made), nullptr, moe};
    return Success{};
  });
}

tile_status tile_dist_moe_run(tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands) {
  return runStep("tile_dist_moe_run", plan, stream, operands, &MoePlan::run);
}

tile_status tile_dist_moe_dispatch(tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands) {
  return runStep("tile_dist_moe_dispatch", plan, stream, operands, &MoePlan::dispatch);
}

tile_status tile_dist_moe_experts(tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands) {
  return runStep("tile_dist_moe_experts", plan, stream, operands, &MoePlan::multiply);
}

tile_status tile_dist_moe_combine(tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands) {
  return runStep("tile_dist_moe_combine", plan, stream, operands, &MoePlan::combine);
}

tile_status tile_dist_moe_backward(tile_dist_plan *plan, void *stream, const tile_dist_moe_gradients *gradients) {
  return runBackwardStep("tile_dist_moe_backward", plan, stream, gradients, &MoeBackward::run);
}

tile_status tile_dist_moe_backward_dispatch(tile_dist_plan *plan, void *stream,
                                            const tile_dist_moe_gradients *gradients) {
  return runBackwardStep("tile_dist_moe_backward_dispatch", plan, stream, gradients, &MoeBackward::dispatch);
}

tile_status tile_dist_moe_backward_experts(tile_dist_plan *plan, void *stream,
                                           const tile_dist_moe_gradients *gradients) {
  return runBackwardStep("tile_dist_moe_backward_experts", plan, stream, gradients, &MoeBackward::multiply);
}

tile_status tile_dist_moe_backward_combine(tile_dist_plan *plan, void *stream,
                                           const tile_dist_moe_gradients *gradients) {
  return runBackwardStep("tile_dist_moe_backward_combine", plan, stream, gradients, &MoeBackward::combine);
}

tile_status tile_dist_moe_describe(const tile_dist_plan *plan, tile_dist_moe_info *info) {
  return guarded([&]() -> Status {
    constexpr const char *function = "tile_dist_moe_describe";
    if (!plan || !info)
      return nullArgument(function, plan ? "info" : "plan");
    if (!plan->moe)
      return wrongPlan(function, *plan->impl);
    *info = plan->moe->describe();
    return Success{};
  });
}

} // extern "C"
