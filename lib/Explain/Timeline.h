// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A modelled time line of one thread block: what its warps did in the simulated run, in the order of each warp,
// replayed with the rates of the target.
//
//   warp    issues on its scheduler, waits at barriers, for groups and for registers that a load fills
//   engines one queue each: the four tensor cores, the port through which copies and loads come
//   barrier completes when its arrivals and bytes are there, at the time of the last
//
// The block has the multiprocessor to itself, and what it reads is in L2: README.md.
#pragma once

#include "Explain/RunRecord.h"
#include "Target/Rates.h"

namespace tile::explain {

enum class SpanKind : uint8_t { Work, Wait, Copy, Product };

/// In clocks.
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
  std::vector<Lane> roles; ///< a warp for each group of four
  Lane tensor{"tensor cores", {}}, special{"special functions", {}}, copies{"copies", {}};
  std::vector<Lane> slots;            ///< of rings: from a slot's copy to its arrival, and to the next one
  Lane critical{"critical path", {}}; ///< what the end of the last warp waited for, back to the start
  double clocks = 0;                  ///< to the end of the last warp
  double products = 0;                ///< clocks in which a tensor core works
  double firstProduct = 0, lastProduct = 0;
  double awaitedCopies = 0; ///< of the clocks between, those in which the first warp that multiplies waits for copies
  unsigned waitingLine = 0; ///< of the longest of these waits
  bool isCut = false;       ///< the record has only the beginning
  bool isForced = false;    ///< a wait went on that the model could not explain: the block talks to others
};

/// `mainFile`: whose lines count.
Timeline replay(const RunRecord &run, const target::Rates &rates, uint32_t mainFile);

} // namespace tile::explain
