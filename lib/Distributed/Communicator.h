// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank: its device, the other ranks, NCCL, and memory that all ranks can access.
#pragma once

#include "Distributed/Driver.h"
#include "Distributed/HostGroup.h"
#include "Distributed/Nccl.h"
#include "Distributed/Rescue.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace tile::dist {

/// Memory of the same size on every rank, with the addresses at which this rank accesses it.
struct Window {
  CUdeviceptr mine = 0;
  std::vector<CUdeviceptr> all; ///< the address of each rank's part
};

/// A source of errors that kernels have detected.
class Reporter {
public:
  virtual ~Reporter() = default;
  /// Returns the errors since the last call. The caller has waited for the work that may report errors.
  virtual Status report() = 0;
};

class Communicator {
public:
  /// Collective. Destroying the communicator is collective, too.
  static Result<std::unique_ptr<Communicator>> make(std::unique_ptr<HostGroup> host, int device,
                                                    const tile_dist_options &options);
  ~Communicator();

  /// Collective: allocates zeroed memory on every rank. `subject` names it in messages.
  Result<Window> allocate(std::string_view subject, size_t bytes);
  /// Collective: waits until no rank uses the window any longer, and frees it. After a failure, the memory is not
  /// freed, because unfinished work may still use it.
  Status release(std::string_view subject, Window &window);

  /// Makes the context of the device current on the calling thread.
  Status activate() const;
  /// Fails if the communicator has become unusable.
  Status usable() const { return rescue ? rescue->status() : Status(Success{}); }
  /// Exchanges bytes between all ranks on the host. If this fails, the communicator becomes unusable.
  Result<std::string> exchange(std::string_view subject, std::string_view mine);
  /// Waits for a stream, but no longer than the time limit. After a failure, waits up to the same time again for
  /// `rescue` to end the work. Also returns the errors of reporters, after which the communicator remains usable.
  Status synchronize(CUstream stream);

  // Copies between host and device memory, outside of all streams.
  Status read(void *to, CUdeviceptr from, size_t bytes) const;
  Status write(CUdeviceptr to, const void *from, size_t bytes) const;

  int rank() const { return host->rank; }
  int size() const { return host->size; }

  std::unique_ptr<HostGroup> host;
  std::shared_ptr<Driver> driver;
  std::shared_ptr<Nccl> nccl;     ///< null without NCCL
  std::shared_ptr<Rescue> rescue; ///< null until the device is open
  NcclComm ncclComm = nullptr;
  tile_runtime *runtime = nullptr;
  int device = 0;
  int multiprocessors = 0;
  bool hasPeers = false;                               ///< every rank can access the memory of all others
  CUstream copies = nullptr;                           ///< stream for copies from and to peers
  std::atomic<const char *> lastOperation = "connect"; ///< the last operation, for messages
  std::vector<Reporter *> reporters;                   ///< queried by `synchronize`

private:
  Communicator() = default;
  void watchRanks();
  Status report();
  Status openDevice(const tile_dist_options &options);
  Status connectPeers();
  Status connectNccl(const tile_dist_options &options);
  Result<std::vector<CUdeviceptr>> exchangeAddresses(std::string_view subject, CUdeviceptr mine);

  CUdevice handle = 0;
  CUcontext context = nullptr;
  CUstream writes = nullptr; ///< also used by `rescue`
};

} // namespace tile::dist
