// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's findings: one report per cause, with the locations that are involved.
#pragma once

#include "Simulator/Ptx/Module.h"

#include <map>
#include <mutex>

namespace tile::sim {

enum class ReportKind : uint8_t {
  Race,           ///< two unordered accesses to one byte, at least one of them a write
  MissingFence,   ///< ordered, but without the fence for the async proxy (fence.proxy.async)
  EarlyUse,       ///< an access to bytes that an asynchronous copy still writes or reads
  AccumulatorUse, ///< an access to a register that wgmma still reads or writes
  Uninitialized,
  OutOfBounds,
  Misaligned,
  BarrierMisuse,
  Deadlock,
  Endless,        ///< a warp executed too many instructions
  EarlyExit,      ///< a CTA ended while a peer still accessed its memory, or with copies in flight
  Divergence,     ///< not all threads of a warp executed an aligned instruction
  Trap,           ///< a trap or a failed assertion
  InvalidOperand, ///< a descriptor, tensor map or operand that the ISA does not allow
  TensorMemory    ///< columns that were not allocated, were allocated incorrectly, or are never freed
};
std::string_view reportKindName(ReportKind kind); ///< Returns "race", "missing-fence", …

/// The origin of an action: a thread and its position in the program.
struct Actor {
  SourceLoc loc;
  int32_t gpu = -1; ///< -1: there is only one GPU
  uint32_t cta[3] = {0, 0, 0};
  int32_t warp = -1; ///< index in the CTA; -1: the actor is not one warp
  int32_t lane = -1;
};

struct Report {
  ReportKind kind = ReportKind::Race;
  Actor actor;
  std::string message;                              ///< one sentence with the values
  std::vector<std::pair<Actor, std::string>> notes; ///< the other access, the waiting threads, …
  uint64_t count = 1;                               ///< number of occurrences at this location
  uint32_t instructions = 1;                        ///< number of merged PTX instructions, or pairs of them
  /// True if a rule of the ISA is broken, but all known devices behave as if it were not, and compilers rely on that.
  bool isLatent = false;
  bool isFatal = false; ///< the thread block could not continue
};

/// Collects reports from all host threads. A repeated report of the same kind and locations is only counted. Reports
/// about the same source lines are merged, because one line of a kernel becomes many instructions.
class Reports {
public:
  void add(Report report);
  bool empty() const;
  /// Returns one report for each kind and pair of source lines, or PTX lines if the source is unknown. The reports are
  /// sorted by PTX line, so they do not depend on the number of host threads.
  std::vector<Report> all() const;

private:
  mutable std::mutex mutex;
  std::map<std::vector<uint64_t>, Report> found; ///< by PTX lines and kind
};

} // namespace tile::sim
