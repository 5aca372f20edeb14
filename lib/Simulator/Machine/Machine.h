// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch of a kernel: the grid, its parameters, and the state that all thread blocks share. Several GPUs may run
// the grid at the same time; each has its own parameters, and all see the same memory.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Machine/Cta.h"
#include "Simulator/Machine/Program.h"
#include "Simulator/Profile/Observer.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <set>

namespace tile::sim {

struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};                       ///< in CTAs
  uint32_t block[3] = {1, 1, 1};                      ///< threads per CTA
  uint32_t cluster[3] = {1, 1, 1};                    ///< CTAs per cluster
  uint32_t dynamicShared = 0;                         ///< bytes
  std::vector<std::byte> parameters;                  ///< as laid out by the driver, Program::parameterBytes bytes
  std::vector<std::vector<std::byte>> peerParameters; ///< parameters for further GPUs, which run the same grid
  uint32_t multiprocessors = 4;       ///< communicating CTAs must fit on these multiprocessors at the same time
  uint32_t ctasPerMultiprocessor = 1; ///< at most 32 are used
  uint64_t seed = 0;                  ///< seed of the schedule
  /// The address that %envreg1 and %envreg2 contain: for a cooperative launch, 8 bytes for the barrier of the grid; see
  /// grid_workspace in CUDA's cooperative_groups/details/driver_abi.h. 0: no cooperative launch.
  uint64_t gridWorkspace = 0;
  /// Selects a fair schedule: warps take turns, and asynchronous operations run only when no warp can proceed. No warp
  /// then misses an mbarrier phase that the tensor core or a copy completes, which CUTLASS's tutorials rely on.
  bool isFair = false;
  uint32_t hostThreads = 1;
  /// A cluster is considered hung after this many instructions that do not change memory.
  uint64_t idleLimit = 50'000'000;
  /// A warp is considered hung after this many instructions, even if they change memory. They take about half a minute.
  uint64_t stepLimit = 100'000'000;

  unsigned gpus() const { return unsigned(1 + peerParameters.size()); }
  const std::vector<std::byte> &parametersOf(unsigned gpu) const {
    return gpu == 0 ? parameters : peerParameters[gpu - 1];
  }
};

/// The output of vprintf from all host threads, up to the size of CUDA's buffer, and the number of calls that were
/// dropped.
class PrintBuffer {
public:
  static constexpr size_t capacity = 1 << 20; ///< bytes; CUDA programming guide, "Formatted Output": the default
  bool isFull() const { return full; }
  void add(const std::vector<std::string> &records);
  void drop() { ++dropped; }
  /// Returns the whole output. If calls were dropped, the last line says how many.
  std::string text() const;

private:
  mutable std::mutex mutex; ///< guards `bytes`
  std::string bytes;
  std::atomic<bool> full = false;
  std::atomic<uint64_t> dropped = 0; ///< number of dropped records
};

/// The addresses of tensor maps in global memory that a thread has changed (tensormap.replace) and that no
/// fence.proxy.tensormap::generic.release of its CTA has made visible since. Shared by all host threads.
class UnreleasedMaps {
public:
  void add(uint64_t address);
  void release(const std::vector<uint64_t> &addresses);
  bool contains(uint64_t address) const;

private:
  mutable std::mutex mutex;
  std::set<uint64_t> addresses;
};

class Machine {
public:
  Machine(const Program &program, GlobalMemory &memory, const LaunchConfig &config, Reports &reports)
      : program(program), memory(memory), config(config), reports(reports) {}

  const Program &program;
  GlobalMemory &memory;
  const LaunchConfig &config;
  Reports &reports;
  Checker *checker = nullptr;
  Observer *observer = nullptr;
  /// Called repeatedly by each host thread, with the number of clusters that have finished and the total number.
  /// Returns false to stop the launch.
  std::function<bool(uint64_t ended, uint64_t clusters)> shouldContinue;
  /// Returns true if thread blocks can observe each other's actions while they run.
  bool communicates() const { return program.communicates || config.gpus() > 1; }
  /// Cancels a cluster of a GPU that has not begun, and returns its index (clusterlaunchcontrol). Returns nullopt if
  /// all have begun.
  std::optional<uint64_t> takeCluster(unsigned gpu) {
    uint64_t &next = nextClusters[gpu];
    return next < numClusters ? std::optional(next++) : std::nullopt;
  }
  /// For communicating kernels, which run in one host thread: the next cluster of each GPU, and the number of clusters
  /// per GPU.
  std::vector<uint64_t> nextClusters = std::vector<uint64_t>(config.gpus());
  uint64_t numClusters = 0;
  /// Number of clusters that did not begin because another cluster took over their work.
  uint64_t cancelledClusters = 0;
  PrintBuffer printed;
  UnreleasedMaps unreleasedMaps;

  /// Runs the grid to its end, or until a report after which the kernel cannot continue. Returns an error if the launch
  /// itself is invalid (block size, parameters, shared memory). A stop by `shouldContinue` is not an error.
  runtime::Status run();
};

} // namespace tile::sim
