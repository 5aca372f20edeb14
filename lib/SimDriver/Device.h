// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one device of the simulated driver: its memory, and launches in it. Everything happens at once: when a function
// returns, its work is done, or kept for a graph (Capture.h).
#pragma once

#include "Runtime/Driver.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/Module.h"

#include <map>
#include <memory>
#include <mutex>

namespace tile::sim {

/// Bytes that programs are told it has; more can be allocated.
constexpr size_t deviceBytes = size_t(8) << 30;
/// Multiprocessors that a persistent kernel finds.
constexpr uint32_t numMultiprocessors = 4;
/// Bytes of shared memory, as of sm_90: of a multiprocessor, what the system takes of it for a thread block, and the
/// most of one block.
constexpr uint32_t sharedOfMultiprocessor = 228 << 10, sharedOfSystem = 1 << 10, mostShared = 227 << 10;

/// The PTX of a module, ready to run. It is in the artifact: in a section of a cubin, or it is all.
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

class SimulatedDevice {
public:
  /// Filled with 0xFF: floating-point numbers are NaN until something is written. Null: no such memory.
  uint64_t allocate(size_t bytes);
  bool release(uint64_t address);
  /// The bytes behind device addresses, or null where they are not all in one allocation.
  std::byte *find(uint64_t address, size_t bytes) const;
  const GlobalMemory &contents() const { return memory; }
  /// Runs a kernel to its end. An error has what the simulator reports.
  runtime::Status launch(const runtime::LaunchConfig &config, const LoadedFunction &function, void **arguments);

private:
  GlobalMemory memory;
  std::map<uint64_t, std::unique_ptr<std::byte[]>> buffers; ///< by address
  uint64_t numLaunches = 0;                                 ///< each has an order of events of its own
};

} // namespace tile::sim
