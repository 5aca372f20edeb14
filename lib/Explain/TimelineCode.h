// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions as the replay of the time line sees them: what each does, and what it takes of the engines.
#pragma once

#include "Simulator/Profile/Profiler.h"
#include "Target/Rates.h"

#include <vector>

namespace tile::explain {

inline constexpr unsigned schedulers = 4; // of a multiprocessor, each with a tensor core

/// What the replay does with an instruction.
enum class Action : uint8_t {
  Issue,
  Load,
  Store,
  Product,
  AsyncProduct,
  Copy, ///< bulk, into shared memory
  CopyOut,
  LaneCopy,
  CommitProducts,
  WaitProducts,
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
  double clocks = 1; ///< on the warp's scheduler
  bool isSpecial = false;
  double portBytes = 0; ///< of an average execution
  uint64_t pending = 0; ///< of a wait for groups
  bool expects = false; ///< an arrival with bytes, or only bytes
  bool arrives = true;
  unsigned line = 0;
  std::vector<uint32_t> registers; ///< all that it names
  std::vector<uint32_t> results;   ///< of a load
};

/// `counts`: of all its executions.
Decoded decode(const sim::Instruction &instruction, const sim::Counts &counts, const target::Rates &rates,
               uint32_t mainFile);

} // namespace tile::explain
