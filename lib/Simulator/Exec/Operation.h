// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoded instruction.
#pragma once

#include "Simulator/Machine/Warp.h"

namespace tile::sim {

class Operation {
public:
  virtual ~Operation() = default;
  /// Executes the instruction for the lanes `active` of the fragment, whose guard is true. `active` is 0 only for
  /// operations with `alwaysRuns`.
  virtual Step execute(Warp &warp, Fragment &fragment, LaneMask active) const = 0;
  /// Describes what a fragment waits for at this instruction, for the report of a deadlock: "mbarrier at shared+57344,
  /// phase 3 (parity 1): 1 of 4 arrivals, 8192 bytes missing".
  virtual std::string describeWait(const Warp &warp, const Fragment &fragment) const { return {}; }
  /// True for an aligned instruction (.aligned, bar.sync), which all living lanes of the warp must execute together.
  /// The machine waits for these lanes before it calls execute, and reports Divergence if they cannot arrive.
  bool aligned = false;
  /// True if the instruction runs even if the guard is false for all lanes: guarded branches, and bar, whose guard may
  /// be false for a part of the lanes.
  bool alwaysRuns = false;
  /// True for wgmma, which tracks the registers in flight itself, so `touched` is not checked.
  bool ownsRegisters = false;

  const Instruction *instruction = nullptr;
  int32_t guard = -1; ///< offset of the predicate in the register file
  bool guardNegated = false;
  /// The offsets in the register file of all registers that the instruction reads or writes. They are checked against
  /// the registers of wgmmas in flight.
  std::vector<uint32_t> touched;
  std::vector<uint32_t> written; ///< registers that the instruction writes, except predicates
};

} // namespace tile::sim
