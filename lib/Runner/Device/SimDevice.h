// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator as a device: runs the artifact's PTX on the CPU with the checks of lib/Simulator.
//
//   arguments ── laid out by lib/Runtime as in a launch (tensor maps, grid, scratch) ───▶ .param bytes of the entry
//   buffers   ── without their guards: an access outside is reported ────────────────────▶ GlobalMemory
//
// Each run uses another order of events: its seed is the seed of the options plus the number of earlier runs. If the
// simulator finds errors, the run fails, and the error message contains all reports.
#pragma once

#include "Runner/Device/Device.h"
#include "Runner/LongWork.h"
#include "Runner/Results/Sources.h"
#include "Runtime/Artifact.h"

#include <memory>

namespace tile::sim {
class Observer;
class Program;
} // namespace tile::sim

namespace tile::runner {

/// Observes runs in place of the profiler.
class RunWatcher {
public:
  virtual ~RunWatcher() = default;
  /// Called before the first instruction, with the program, its arguments, and the values of the arguments (for
  /// buffers, their addresses). The returned observer receives all events. The program lives as long as the run, and
  /// its function as long as the device.
  virtual sim::Observer &begin(const sim::Program &program, std::span<const DeviceArgument> arguments,
                               std::span<const uint64_t> values) = 0;
};

struct SimOptions {
  uint64_t seed = 0;              ///< seed for the order of the first run
  int multiprocessors = 4;        ///< number of multiprocessors on which a persistent kernel runs
  unsigned threads = 0;           ///< number of host threads; 0: one per core
  bool profile = false;           ///< print counters for each source line
  bool isPainted = false;         ///< use colours
  uint64_t steps = 0;             ///< instructions until a warp is considered hung; 0: the simulator's default
  Sources::Folders sourceFolders; ///< folders with sources that may be shown in reports
  std::string profileJson;        ///< file to which the counters of each run are appended, or ""
  RunWatcher *watcher = nullptr;
  std::optional<TimeLimit> limit = {};
  bool checks = true; ///< check for races, missing waits and uninitialized reads; false: only for fatal errors
};

/// Parses the artifact's PTX. Fails if the artifact has no PTX, or has PTX that the simulator cannot parse. Unsupported
/// instructions are found by the first run, before the kernel starts.
Result<std::unique_ptr<Device>> openSimDevice(const runtime::Artifact &artifact, const SimOptions &options);

} // namespace tile::runner
