// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices of the simulated driver: their memory and their launches. Addresses are unique among all devices. All
// operations are synchronous: when a function returns, its work has been done or recorded for a graph (Capture.h).
#pragma once

#include "Runtime/Driver.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/Module.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace tile::sim {

/// Devices that a program sees.
constexpr int numDevices = 8;
/// Memory size reported to programs, in bytes; more can be allocated.
constexpr size_t deviceBytes = size_t(8) << 30;
/// Number of multiprocessors that a persistent kernel sees.
constexpr uint32_t numMultiprocessors = 4;
/// Bytes of shared memory, as of sm_90: per multiprocessor, reserved by the system per thread block, and the maximum
/// per thread block.
constexpr uint32_t sharedOfMultiprocessor = 228 << 10, sharedOfSystem = 1 << 10, mostShared = 227 << 10;

/// The PTX of a module, ready to run. The artifact is either PTX or a cubin with a PTX section.
struct LoadedPtx {
  Module module;
};

runtime::Result<std::unique_ptr<LoadedPtx>> loadPtx(const void *image);

struct LoadedFunction {
  const LoadedPtx *ptx = nullptr;
  std::string name;
  uint32_t staticShared = 0;
  std::vector<size_t> parameterBytes;
};

runtime::Result<std::unique_ptr<LoadedFunction>> findFunction(const LoadedPtx &ptx, const std::string &name);

class SimulatedDevices {
public:
  /// Allocates memory of a device filled with 0xFF, so that uninitialized floating-point values are NaN. Returns 0 if
  /// there is no such memory.
  uint64_t allocate(int device, size_t bytes);
  bool release(uint64_t address);
  /// Returns the bytes at a device address, or null if they are not all in one allocation.
  std::byte *find(uint64_t address, size_t bytes) const;
  const GlobalMemory &contents() const { return memory; }
  /// Returns the device on which memory was allocated.
  int ownerOf(const Allocation &allocation) const { return owners.at(allocation.address); }
  /// Lets kernels of `device` access the memory of `peer`. Returns false if they already may.
  bool enablePeer(int device, int peer) { return peers.emplace(device, peer).second; }
  bool disablePeer(int device, int peer) { return peers.erase({device, peer}) == 1; }
  /// Runs a kernel to completion. On failure the status contains the report of the simulator. Memory of devices that
  /// are not enabled as peers does not exist for the kernel.
  runtime::Status launch(int device, const runtime::LaunchConfig &config, const LoadedFunction &function,
                         void **arguments);

private:
  GlobalMemory memory;
  std::map<uint64_t, std::unique_ptr<std::byte[]>> buffers; ///< keyed by address
  std::map<uint64_t, int> owners;                           ///< devices, keyed by address
  std::set<std::pair<int, int>> peers;                      ///< devices, and whose memory their kernels may access
  uint64_t numLaunches = 0;                                 ///< seed of the launch's order of events
};

} // namespace tile::sim
