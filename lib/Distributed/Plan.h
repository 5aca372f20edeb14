// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation across GPUs, ready to run: its memory, kernels and form. One class for each operation.
#pragma once

#include "Distributed/KernelCall.h"
#include "Distributed/Signals.h"
#include "Distributed/WireModel.h"

#include <functional>
#include <optional>
#include <span>

namespace tile::dist {

class Plan {
public:
  virtual ~Plan();
  /// Collective, before destruction.
  Status release();

  Communicator &comm;
  tile_dist_plan_info info = {};
  const char *name; ///< of the operation, for messages

protected:
  Plan(Communicator &comm, const char *name) : comm(comm), name(name) {}

  int rank() const { return comm.rank(); }
  int ranks() const { return comm.size(); }
  /// The rank that comes `step` after this one: every rank begins with another one, so that no link waits for another.
  int after(int step) const { return (rank() + step) % ranks(); }
  static void *pointerTo(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

  using Extra = std::span<const tile_dist_argument>;
  /// Makes a kernel ready to launch, so that no run loads or allocates. `role`, `provided` and `extra` as in
  /// KernelCall::make.
  Result<KernelCall> makeCall(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided, Extra extra);
  /// Chooses the form with the least expected time among those that are possible.
  Status chooseForm(tile_dist_form form, double sequential, std::optional<double> chunked,
                    std::optional<double> flagged);

  Result<Window> allocate(const char *what, size_t bytes);
  /// Memory that other ranks do not access.
  Result<CUdeviceptr> allocateLocal(size_t bytes);
  /// Page-locked memory of the host, which copies reach without a wait in the driver.
  Result<void *> allocateHost(size_t bytes);
  Result<CUevent> makeEvent();

  Status copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) const;
  /// Lets a stream wait for what another one has to do now.
  Status order(CUstream before, CUstream after, CUevent event) const;
  /// Sets a flag of each other rank, and takes one of each: `flag` returns which.
  template <typename Flag> Status setAll(CUstream stream, const Flag &flag) const {
    Status status = Success{};
    for (int step = 1; status && step < ranks(); ++step)
      status = signals->set(stream, after(step), flag(rank()));
    return status;
  }
  template <typename Flag> Status takeAll(CUstream stream, const Flag &flag) const {
    Status status = Success{};
    for (int step = 1; status && step < ranks(); ++step)
      status = signals->take(stream, flag(after(step)));
    return status;
  }
  /// Calls a collective of NCCL, which `body` does, unless the communicator has failed.
  template <typename Body> Status callCollective(const char *call, const Body &body) const {
    const Rescue::Call inProgress(*comm.rescue);
    Status status = comm.usable();
    return status ? comm.nccl->check(body(), call) : status;
  }

  std::unique_ptr<Signals> signals; ///< null if nothing is copied between peers

private:
  std::vector<Window> windows;
  std::vector<CUdeviceptr> memory;
  std::vector<void *> hostMemory;
  std::vector<CUevent> events;
};

/// Bytes of an element.
inline size_t bytesOf(tile_dist_type type) {
  return type == TILE_DIST_F32 ? 4 : 2;
}

// Checks of requests.
Status checkForm(tile_dist_form form, tile_dist_type type);
/// `values`: names and values, which must be at least 1 and less than 2^31.
Status checkSizes(std::initializer_list<std::pair<const char *, int64_t>> values);

/// The parameters that all ranks must pass alike, or they would wait for each other.
struct Terms {
  std::string_view subject; ///< of the exchange
  std::vector<int64_t> values;
  std::function<std::string(const int64_t *)> describe; ///< for messages
};
/// Collective, even if the request is invalid.
Status agree(Communicator &comm, const Terms &terms, bool isValid);
/// Collective: returns success if all ranks have made their plan. Flags then have their first values everywhere.
Status finishPlan(Communicator &comm, const std::string &place, const Status &made);

} // namespace tile::dist
