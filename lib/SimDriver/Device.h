// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices of the simulated driver: their memory and their launches. An address belongs to at most one device. All
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
/// The memory size that programs see, in bytes. More can be allocated.
constexpr size_t deviceBytes = size_t(8) << 30;
/// The number of multiprocessors that programs see.
constexpr uint32_t numMultiprocessors = 4;
/// The shared memory that the system reserves for each thread block, in bytes.
constexpr uint32_t sharedOfSystem = 1 << 10;
/// The dynamic shared memory that a kernel may use without opting in, in bytes.
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

/// Decodes a kernel. Returns an error for instructions that are unknown or that the target lacks.
runtime::Result<std::unique_ptr<LoadedFunction>> findFunction(const LoadedPtx &ptx, const std::string &name);

/// Returns true for a cooperative launch, all thread blocks of which run at the same time.
bool isCooperative(const runtime::LaunchConfig &config);

class SimulatedDevices {
public:
  Settings settings;

  /// Allocates memory on a device and fills it with 0xFF, so uninitialized floating-point values are NaN. Returns 0 if
  /// the host has too little memory.
  uint64_t allocate(int device, size_t bytes);
  bool release(uint64_t address);
  /// Parses a module and allocates its variables on a device. Fails with TILE_ERROR_ARCHITECTURE if the module is for a
  /// target that the devices of the settings cannot run.
  runtime::Result<std::unique_ptr<LoadedPtx>> load(int device, const void *image);
  /// Returns the target whose limits these devices have.
  const target::GpuTarget &limits() const;
  /// Returns how many thread blocks of a kernel fit on a multiprocessor; at least 1.
  uint32_t residentCtas(const LoadedFunction &function, uint64_t threads, uint64_t dynamicShared) const;
  /// Returns the bytes at a device address, or null if they do not lie in one allocation.
  std::byte *find(uint64_t address, size_t bytes) const;
  const GlobalMemory &contents() const { return memory; }
  /// Returns the device on which memory was allocated.
  int ownerOf(const Allocation &allocation) const { return owners.at(allocation.address); }
  /// Lets kernels of `device` access the memory of `peer`. Returns false if they were already allowed to.
  bool enablePeer(int device, int peer) { return peers.emplace(device, peer).second; }
  bool disablePeer(int device, int peer) { return peers.erase({device, peer}) == 1; }
  /// Runs a kernel to completion. If it fails, the status contains the simulator's report. For the kernel, the memory
  /// of devices that are not enabled as peers does not exist. `footprint`, if not null, collects the bytes that the
  /// kernel accesses.
  runtime::Status launch(int device, const runtime::LaunchConfig &config, const LoadedFunction &function,
                         void **arguments, Footprint *footprint);

private:
  runtime::Status judge(const Reports &reports, const LoadedFunction &function) const;
  uint64_t add(int device, std::string name, size_t bytes, size_t alignment, std::byte fill);

  GlobalMemory memory;
  std::map<uint64_t, std::unique_ptr<std::byte[]>> buffers; ///< keyed by address
  std::map<uint64_t, int> owners;                           ///< device numbers, keyed by address
  std::set<std::pair<int, int>> peers;                      ///< {device, peer}: kernels may access the peer
  uint64_t numLaunches = 0;                                 ///< determines the seed of the next launch
};

} // namespace tile::sim
