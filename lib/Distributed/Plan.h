// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation across GPUs, ready to run: its memory, kernels and form. Each operation has a class.
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
  /// Collective; must be called before destruction.
  Status release();

  Communicator &comm;
  tile_dist_plan_info info = {};
  const char *name; ///< name of the operation, for messages
  /// Set when a run may have enqueued work. If the run fails from then on, other ranks wait for work that never comes.
  bool hasBegun = false;

protected:
  Plan(Communicator &comm, const char *name) : comm(comm), name(name) {}

  int rank() const { return comm.rank(); }
  int ranks() const { return comm.size(); }
  /// Returns the rank `step` after this one, cyclically. Each rank accesses the others in this order, so that no link
  /// becomes a bottleneck.
  int after(int step) const { return (rank() + step) % ranks(); }
  static void *pointerTo(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

  using Extra = std::span<const tile_dist_argument>;
  /// Prepares a kernel, so that runs neither load code nor allocate. `role`, `provided` and `extra` as in
  /// KernelCall::make.
  Result<KernelCall> makeCall(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided, Extra extra);
  /// Chooses the available form with the least expected time.
  Status chooseForm(tile_dist_form form, double sequential, std::optional<double> chunked,
                    std::optional<double> flagged);

  Result<Window> allocate(const char *what, size_t bytes);
  /// Allocates memory that other ranks do not access.
  Result<CUdeviceptr> allocateLocal(size_t bytes);
  /// Allocates page-locked host memory, which asynchronous copies can use.
  Result<void *> allocateHost(size_t bytes);
  Result<CUevent> makeEvent();

  Status copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) const;
  /// Makes stream `after` wait for the work that has been submitted to stream `before`.
  Status order(CUstream before, CUstream after, CUevent event) const;
  /// setAll sets one flag on each other rank; takeAll waits for one flag from each. `flag` returns the index of a flag.
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
  /// Executes `body`, which calls an NCCL collective, unless the communicator has failed.
  template <typename Body> Status callCollective(const char *call, const Body &body) const {
    const Rescue::Call inProgress(*comm.rescue);
    Status status = comm.usable();
    return status ? comm.nccl->check(body(), call) : status;
  }

  std::unique_ptr<Signals> signals; ///< null if no data is copied between peers

private:
  std::vector<Window> windows;
  std::vector<CUdeviceptr> memory;
  std::vector<void *> hostMemory;
  std::vector<CUevent> events;
};

/// Returns the size of an element in bytes.
inline size_t bytesOf(tile_dist_type type) {
  return type == TILE_DIST_F32 ? 4 : 2;
}

// These functions validate requests.
Status checkForm(tile_dist_form form, tile_dist_type type);
/// `values` contains names and values; each value must be at least 1 and less than 2^31.
Status checkSizes(std::initializer_list<std::pair<const char *, int64_t>> values);

/// Parameters that must be equal on all ranks, because ranks with different parameters would wait for each other
/// forever.
struct Terms {
  std::string_view subject; ///< subject of the exchange
  std::vector<int64_t> values;
  std::function<std::string(const int64_t *)> describe; ///< describes the values in messages
};
/// Compares the parameters of all ranks. Collective, even if this rank's request is invalid.
Status agree(Communicator &comm, const Terms &terms, bool isValid);
/// Collective: returns success if all ranks have created their plan. All flags then have their initial values on all
/// ranks.
Status finishPlan(Communicator &comm, const std::string &place, const Status &made);

} // namespace tile::dist
