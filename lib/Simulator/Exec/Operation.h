// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoded instruction.
#pragma once

#include "Simulator/Machine/Warp.h"

namespace tile::sim {

class Operation {
public:
  virtual ~Operation() = default;
  /// Runs it for the lanes `active` of the fragment, those whose guard is true; `active` is 0 only for operations that
  /// `alwaysRuns`.
  virtual Step execute(Warp &warp, Fragment &fragment, LaneMask active) const = 0;
  /// Describes what a fragment waits for here: "mbarrier at shared+57344, phase 3 (parity 1): 1 of 4 arrivals, 8192
  /// bytes missing"; for the report of a deadlock.
  virtual std::string describeWait(const Warp &warp, const Fragment &fragment) const { return {}; }
  /// An aligned instruction (.aligned, bar.sync): all living lanes of the warp must execute it together. The machine
  /// waits for them before it calls execute, and reports Divergence if they cannot arrive.
  bool aligned = false;
  /// Runs even if no lane's guard is true: guarded branches, bar with a false guard for a part.
  bool alwaysRuns = false;
  /// True for wgmma, which tracks the registers in flight itself, so that `touched` is not checked.
  bool ownsRegisters = false;

  const Instruction *instruction = nullptr;
  int32_t guard = -1; ///< offset of the predicate in the register file
  bool guardNegated = false;
  /// Offsets in the register file of all registers that it reads or writes: checked against wgmma in flight.
  std::vector<uint32_t> touched;
  std::vector<uint32_t> written; ///< registers that it writes, except predicates
};

} // namespace tile::sim
