// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes instructions for the replay of the timeline: the effect of each instruction, and how long it uses the
// engines.
#pragma once

#include "Simulator/Profile/Profiler.h"
#include "Target/Rates.h"

#include <vector>

namespace tile::explain {

inline constexpr unsigned schedulers = 4; // per multiprocessor, each with a tensor core

/// The effect of an instruction in the replay.
enum class Action : uint8_t {
  Issue,
  Load,
  Store,
  Mma,
  AsyncMma,
  Copy, ///< bulk copy into shared memory
  CopyOut,
  LaneCopy,
  CommitMmas,
  WaitMmas,
  CommitCopies,
  WaitCopies,
  Init,
  Arrive,
  Test,
  Meet,
  MeetArrive
};

struct Decoded {
  Action action = Action::Issue;
  double clocks = 1; ///< clock cycles of the warp's scheduler that it takes to issue
  bool isSpecial = false;
  double portBytes = 0; ///< average per execution
  uint64_t pending = 0; ///< groups that may remain pending after a wait
  bool expects = false; ///< the instruction contains expect_tx, with or without an arrival
  bool arrives = true;
  unsigned line = 0;
  std::vector<uint32_t> registers; ///< all registers that occur in the instruction
  std::vector<uint32_t> results;   ///< destination registers of a load
};

/// Decodes an instruction. `counts` are the counters summed over all its executions.
Decoded decode(const sim::Instruction &instruction, const sim::Counts &counts, const target::Rates &rates,
               uint32_t mainFile);

} // namespace tile::explain
