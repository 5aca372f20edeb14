// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator as a device: the artifact's PTX, run on the CPU with the checks of lib/Simulator.
//
//   arguments ── lib/Runtime lays them out as for a launch (tensor maps, grid, scratch) ──▶ the entry's .param bytes
//   buffers   ── without their guards: an access outside is a report ─────────────────────▶ GlobalMemory
//
// Each run takes the next order of events: its seed is that of the options plus the number of the runs before it. What
// the simulator finds makes the run fail; the error has all reports as text.
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

/// Watches runs from inside, in place of the profiler.
class RunWatcher {
public:
  virtual ~RunWatcher() = default;
  /// Before the first instruction: the program, its arguments, and their values (of buffers: addresses). What is
  /// returned is told what happens; the program lives as long as the run, its function as long as the device.
  virtual sim::Observer &begin(const sim::Program &program, std::span<const DeviceArgument> arguments,
                               std::span<const uint64_t> values) = 0;
};

struct SimOptions {
  uint64_t seed = 0;              ///< of the first order
  int multiprocessors = 4;        ///< what a persistent kernel finds
  unsigned threads = 0;           ///< of the host; 0: as many as it has cores
  bool profile = false;           ///< print what each line of the source did
  bool isPainted = false;         ///< in colours
  uint64_t steps = 0;             ///< instructions after which a warp hangs; 0: as many as the simulator thinks
  Sources::Folders sourceFolders; ///< where sources are searched that reports show
  std::string profileJson;        ///< file to which the counters of each run are appended, or ""
  RunWatcher *watcher = nullptr;
  std::optional<TimeLimit> limit = {};
  bool checks = true; ///< races, uses before a wait, uninitialized reads; without: only what stops a kernel
};

/// Parses the artifact's PTX. Fails for a cubin without it and for PTX that the simulator cannot read; instructions
/// that it does not know are found by the first run, before the kernel starts.
Result<std::unique_ptr<Device>> openSimDevice(const runtime::Artifact &artifact, const SimOptions &options);

} // namespace tile::runner
