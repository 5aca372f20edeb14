// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulator has found: one report a cause, with the places that it involves.
#pragma once

#include "Simulator/Ptx/Module.h"

#include <map>
#include <mutex>

namespace tile::sim {

enum class ReportKind : uint8_t {
  Race,           ///< two accesses of one byte, one a write, unordered
  MissingFence,   ///< ordered, but the async proxy was not told (fence.proxy.async)
  EarlyUse,       ///< of what an asynchronous copy still writes or reads
  AccumulatorUse, ///< of a register that wgmma still reads or writes
  Uninitialized,
  OutOfBounds,
  Misaligned,
  BarrierMisuse,
  Deadlock,
  Endless,        ///< a warp that has executed too many instructions
  EarlyExit,      ///< a CTA ended that a peer still accesses, or with copies in flight
  Divergence,     ///< an aligned instruction without all threads of its warp
  Trap,           ///< trap, a failed assertion
  InvalidOperand, ///< a descriptor, tensor map or operand that the ISA does not allow
  TensorMemory    ///< columns that were not allocated, are allocated wrongly, or are never freed
};
std::string_view reportKindName(ReportKind kind); ///< "race", "missing-fence", …

/// Who did something, and where in the program.
struct Actor {
  Place place;
  uint32_t cta[3] = {0, 0, 0};
  int32_t warp = -1; ///< in the CTA; -1: not one warp
  int32_t lane = -1;
};

struct Report {
  ReportKind kind = ReportKind::Race;
  Actor actor;
  std::string message;                              ///< one sentence with the numbers
  std::vector<std::pair<Actor, std::string>> notes; ///< the other access, who waits for whom, …
  uint64_t count = 1;                               ///< how often, here
};

/// Collects reports from all threads; the second of the same kind and places only counts.
class Reports {
public:
  void add(Report report);
  bool empty() const;
  /// In the order of their PTX lines, then kinds: the same for every number of host threads.
  std::vector<Report> all() const;

private:
  mutable std::mutex mutex;
  std::map<std::vector<uint64_t>, Report> found; ///< by kind and PTX lines
};

} // namespace tile::sim
