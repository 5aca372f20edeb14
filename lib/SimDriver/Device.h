// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices of the simulated driver: their memory and their launches. Addresses are unique among all devices. All
// operations are synchronous: when a function returns, its work has been done or recorded for a graph (Capture.h).
#pragma once

#include "Runtime/Driver.h"
#include "SimDriver/Settings.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Machine/Program.h"
#include "Simulator/Ptx/Module.h"
#include "Target/GpuTarget.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace tile::sim {

class Footprint;

/// The number of devices that a program sees.
constexpr int numDevices = 8;
/// Memory size reported to programs, in bytes; more can be allocated.
constexpr size_t deviceBytes = size_t(8) << 30;
/// Number of multiprocessors that a persistent kernel sees.
constexpr uint32_t numMultiprocessors = 4;
/// Bytes of shared memory that the system reserves for each thread block.
constexpr uint32_t sharedOfSystem = 1 << 10;
/// Bytes of dynamic shared memory that a kernel may have without opting in.
constexpr uint32_t sharedWithoutOptIn = 48 << 10;

/// A module: its PTX, and its variables, which keep their values between launches.
struct LoadedPtx {
  Module module;
  ModuleVariables variables;
};

struct LoadedFunction {
  const LoadedPtx *ptx = nullptr;
  std::string name;
  uint32_t staticShared = 0, constantBytes = 0, localBytes = 0;
  uint32_t maxDynamicShared = 0; ///< CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  std::vector<size_t> parameterBytes, parameterOffsets;
};

/// Decodes a kernel. Reports instructions that are unknown or that the target lacks.
runtime::Result<std::unique_ptr<LoadedFunction>> findFunction(const LoadedPtx &ptx, const std::string &name);

class SimulatedDevices {
public:
  Settings settings;

  /// Allocates memory of a device filled with 0xFF, so that uninitialized floating-point values are NaN. Returns 0 if
  /// there is no such memory.
  uint64_t allocate(int device, size_t bytes);
  bool release(uint64_t address);
  /// Parses a module and allocates its variables on a device. Fails with TILE_ERROR_ARCHITECTURE if it is not for a
  /// device of the settings.
  runtime::Result<std::unique_ptr<LoadedPtx>> load(int device, const void *image);
  /// Returns the target with the limits of these devices.
  const target::GpuTarget &limits() const;
  /// Returns how many thread blocks of a kernel a multiprocessor holds, at least 1.
  uint32_t residentCtas(const LoadedFunction &function, uint64_t threads, uint64_t dynamicShared) const;
  /// Returns the bytes at a device address, or null if they are not all in one allocation.
  std::byte *find(uint64_t address, size_t bytes) const;
  const GlobalMemory &contents() const { return memory; }
  /// Returns the device on which memory was allocated.
  int ownerOf(const Allocation &allocation) const { return owners.at(allocation.address); }
  /// Lets kernels of `device` access the memory of `peer`. Returns false if they already may.
  bool enablePeer(int device, int peer) { return peers.emplace(device, peer).second; }
  bool disablePeer(int device, int peer) { return peers.erase({device, peer}) == 1; }
  /// Runs a kernel to completion. On failure the status contains the report of the simulator. Memory of devices that
  /// are not enabled as peers does not exist for the kernel. `footprint`: null, or gets what the kernel accesses.
  runtime::Status launch(int device, const runtime::LaunchConfig &config, const LoadedFunction &function,
                         void **arguments, Footprint *footprint);

private:
  runtime::Status judge(const Reports &reports, const LoadedFunction &function) const;
  uint64_t add(int device, std::string name, size_t bytes, size_t alignment, std::byte fill);

  GlobalMemory memory;
  std::map<uint64_t, std::unique_ptr<std::byte[]>> buffers; ///< keyed by address
  std::map<uint64_t, int> owners;                           ///< devices, keyed by address
  std::set<std::pair<int, int>> peers;                      ///< devices, and whose memory their kernels may access
  uint64_t numLaunches = 0;                                 ///< seed of the next launch's order of events
};

} // namespace tile::sim
