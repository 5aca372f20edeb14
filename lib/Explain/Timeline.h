// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A modelled timeline of one thread block. It replays the instructions that the block's warps execute in the simulated
// run, each warp in its own order, with the rates of the target.
//
//   warp    issues on its scheduler; waits for barriers, for groups and for registers of pending loads
//   engines one queue each: the four tensor cores, the memory port of copies and loads
//   barrier completes when all arrivals and bytes that it expects have come
//
// Assumes that the block has the multiprocessor to itself and that its reads hit L2; see README.md.
#pragma once

#include "Explain/RunRecord.h"
#include "Target/Rates.h"

namespace tile::explain {

enum class SpanKind : uint8_t { Work, Wait, Copy, Mma };

/// An interval of a lane, in clock cycles.
struct Span {
  double start = 0, end = 0;
  SpanKind kind = SpanKind::Work;
  unsigned line = 0;
};

struct Lane {
  std::string name;
  std::vector<Span> spans;
};

struct Timeline {
  std::vector<Lane> roles; ///< one warp of each group of four
  Lane tensor{"tensor cores", {}}, special{"special functions", {}}, copies{"copies", {}};
  std::vector<Lane> slots; ///< ring slots: from a copy to its arrival, and then to the next copy
  /// The chain of causes that leads from the end of the last warp back to the start.
  Lane critical{"critical path", {}};
  double clocks = 0;    ///< clock cycles until the end of the last warp
  double mmaClocks = 0; ///< clock cycles in which the first tensor core works
  double firstMma = 0, lastMma = 0;
  /// Clock cycles between firstMma and lastMma in which the first MMA warp waits for copies or loads.
  double awaitedCopies = 0;
  unsigned waitingLine = 0; ///< line of the longest wait that awaitedCopies counts
  bool isCut = false;       ///< the record is truncated
  /// True if a wait was released although the model cannot explain it, for example in a block that communicates with
  /// other blocks.
  bool isForced = false;
};

/// Replays a run. Only instructions from the source file `mainFile` are attributed to lines.
Timeline replay(const RunRecord &run, const target::Rates &rates, uint32_t mainFile);

} // namespace tile::explain
