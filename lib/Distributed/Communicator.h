// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank: its device, the other ranks, NCCL, and memory that all ranks can access.
#pragma once

#include "Distributed/Driver.h"
#include "Distributed/HostGroup.h"
#include "Distributed/Nccl.h"

#include <memory>
#include <string>
#include <vector>

namespace tile::dist {

/// Memory of the same size on every rank, with its addresses for this rank.
struct Window {
  CUdeviceptr mine = 0;
  std::vector<CUdeviceptr> all; ///< one for each rank
};

class Communicator {
public:
  /// Collective.
  static Result<std::unique_ptr<Communicator>> make(std::unique_ptr<HostGroup> host, int device,
                                                    const tile_dist_options &options);
  ~Communicator();

  /// Collective: allocates zeroed memory on every rank. `subject` names it in messages.
  Result<Window> allocate(std::string_view subject, size_t bytes);
  /// Collective: waits until no rank uses the window any more.
  Status release(std::string_view subject, Window &window);

  /// Makes the context of the device current on the calling thread.
  Status activate() const;
  /// Fails if the communicator has become unusable.
  Status usable() const;
  /// Waits for a stream, at most for the time limit.
  Status synchronize(CUstream stream);
  /// Remembers flags that let waiting work go on if they are set.
  void watch(CUdeviceptr flags, size_t count) { watched.push_back({flags, count}); }
  void unwatch(CUdeviceptr flags);

  int rank() const { return host->rank; }
  int size() const { return host->size; }

  std::unique_ptr<HostGroup> host;
  std::unique_ptr<Driver> driver;
  std::unique_ptr<Nccl> nccl; ///< null without NCCL
  NcclComm ncclComm = nullptr;
  tile_runtime *runtime = nullptr;
  int device = 0;
  int multiprocessors = 0;
  bool hasPeers = false;     ///< every rank can access the memory of all others
  CUstream copies = nullptr; ///< of data from and to peers
  std::string lastOperation; ///< for messages

private:
  Communicator() = default;
  Status openDevice(const tile_dist_options &options);
  Status connectPeers();
  Status connectNccl(const tile_dist_options &options);
  Result<std::vector<CUdeviceptr>> exchangeAddresses(std::string_view subject, CUdeviceptr mine);
  /// Lets all work end that waits for other ranks.
  void releaseWork();

  struct Flags {
    CUdeviceptr address;
    size_t count;
  };

  CUdevice handle = 0;
  CUcontext context = nullptr;
  CUstream rescue = nullptr;
  std::vector<Flags> watched;
  Error failure = {TILE_OK, ""};
};

} // namespace tile::dist
