// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator as a device: runs the artifact's PTX on the CPU with the checks of lib/Simulator.
//
//   arguments ── laid out by lib/Runtime as for a launch (tensor maps, grid, scratch) ──▶ .param bytes of the entry
//   buffers   ── without their guards: an access outside is reported ────────────────────▶ GlobalMemory
//
// Each run uses the next order of events: its seed is that of the options plus the number of earlier runs. An error
// found by the simulator makes the run fail; the error contains all reports as text.
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
  /// Called before the first instruction with the program, its arguments, and their values (addresses for buffers). The
  /// returned observer receives all events. The program lives as long as the run, its function as long as the device.
  virtual sim::Observer &begin(const sim::Program &program, std::span<const DeviceArgument> arguments,
                               std::span<const uint64_t> values) = 0;
};

struct SimOptions {
  uint64_t seed = 0;              ///< seed of the first order
  int multiprocessors = 4;        ///< number seen by a persistent kernel
  unsigned threads = 0;           ///< host threads; 0: one per core
  bool profile = false;           ///< print counters for each source line
  bool isPainted = false;         ///< use colours
  uint64_t steps = 0;             ///< instructions after which a warp is considered hung; 0: the simulator's default
  Sources::Folders sourceFolders; ///< folders with sources that reports show
  std::string profileJson;        ///< file to which the counters of each run are appended, or ""
  RunWatcher *watcher = nullptr;
  std::optional<TimeLimit> limit = {};
  bool checks = true; ///< check for races, missing waits, uninitialized reads; false: only fatal errors
};

/// Parses the artifact's PTX. Fails for a cubin without PTX, and for PTX that the simulator cannot parse. Unsupported
/// instructions are detected by the first run, before the kernel starts.
Result<std::unique_ptr<Device>> openSimDevice(const runtime::Artifact &artifact, const SimOptions &options);

} // namespace tile::runner
