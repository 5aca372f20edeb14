// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a warp: chooses the fragment to run, merges fragments, and checks every instruction.
#include "Simulator/Check/Checker.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/ControlFlow.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

Warp::Turn Warp::run(uint64_t budget) {
  Turn turn;
  for (Fragment &fragment : fragments)
    fragment.waits = false;
  // Chooses the first fragment in program order, so that the fragments reach the same instruction and merge. Sometimes
  // chooses the last one instead, since the first may loop until another fragment makes progress.
  bool lastFirst = fragments.size() > 1 && cta.cluster.random.below(4) == 0;
  while (turn.instructions < budget && !fragments.empty()) {
    Fragment *chosen = nullptr;
    for (Fragment &fragment : fragments)
      if (!fragment.waits && (!chosen || (lastFirst ? fragment.pc > chosen->pc : fragment.pc < chosen->pc)))
        chosen = &fragment;
    if (!chosen) {
      turn.idle = true;
      break;
    }
    if (isAtBarrier(*chosen))
      continue;
    Step result = step(*chosen);
    if (result == Step::Fault) {
      turn.faulted = true;
      break;
    }
    if (result != Step::Wait)
      ++turn.instructions;
    if (!diverged.empty()) {
      fragments.insert(fragments.end(), std::make_move_iterator(diverged.begin()),
                       std::make_move_iterator(diverged.end()));
      diverged.clear();
    }
    if (fragments.size() > 1)
      mergeFragments();
    else if (!fragments.empty() && fragments.front().lanes == 0)
      fragments.clear();
  }
  instructionsRun += turn.instructions;
  return turn;
}

Step Warp::step(Fragment &fragment) {
  const Machine &machine = cta.cluster.machine;
  const Operation &operation = *machine.program.operations[fragment.pc];
  LaneMask active = fragment.lanes;
  if (operation.guard >= 0) {
    LaneMask guard = predicate(operation.guard);
    active &= operation.guardNegated ? ~guard : guard;
    if (!active && !operation.alwaysRuns) {
      ++fragment.pc;
      return Step::Next;
    }
  }
  const Instruction &instruction = *operation.instruction;
  if (operation.aligned && active != alive) {
    if (fragment.lanes != alive) { // the other lanes may still arrive
      fragment.waits = true;
      return Step::Wait;
    }
    return fault(ReportKind::Divergence, instruction.loc, firstLane(alive & ~active),
                 fmt::format("{} is executed by lanes {:#010x} of {:#010x}: its guard differs between the lanes of the "
                             "warp, all of which must execute it together",
                             instruction.text(), active, alive));
  }
  if (!registersInFlight.empty() && !operation.ownsRegisters && touchesInFlight(operation, fragment) == Step::Fault)
    return Step::Fault;
  if (!registersLoading.empty())
    noteLoading(operation, fragment);
  if (machine.observer)
    machine.observer->issue(*this, instruction, active);

  Step result = operation.execute(*this, fragment, active);
  switch (result) {
  case Step::Next:
    ++fragment.pc;
    fragment.progress = 0;
    break;
  case Step::Spin:
    fragment.spunAt = fragment.pc++;
    fragment.progress = 0;
    fragment.waits = true;
    break;
  case Step::Wait:
    fragment.waits = true;
    break;
  case Step::Exited:
    exit(fragment, active);
    break;
  case Step::Jumped:
    fragment.progress = 0;
    break;
  case Step::Fault:
    break;
  }
  return result;
}

Step Warp::touchesInFlight(const Operation &operation, const Fragment &fragment) const {
  for (uint32_t offset : operation.touched)
    if (std::find(registersInFlight.begin(), registersInFlight.end(), offset) != registersInFlight.end())
      return fault(
          ReportKind::AccumulatorUse, operation.instruction->loc, firstLane(fragment.lanes),
          fmt::format("{} uses a register that a wgmma still reads or writes: wgmma.wait_group must come first",
                      operation.instruction->text()));
  return Step::Next;
}

/// Handles registers that a tcgen05.ld is still loading. An instruction that reads such a register waits for the load
/// (PTX ISA 9.7.16.6.4.3: a true dependency is respected without wait::ld), so loads are complete once all their
/// registers have been read. A write to such a register is reported, because the load may overwrite the new value on a
/// GPU. Here the register already contains the loaded value, so the kernel can continue.
void Warp::noteLoading(const Operation &operation, const Fragment &fragment) {
  for (uint32_t offset : operation.touched) {
    if (std::erase(registersLoading, offset) == 0)
      continue;
    const auto count = [&](const std::vector<uint32_t> &offsets) { return std::ranges::count(offsets, offset); };
    if (count(operation.touched) == count(operation.written))
      fault(ReportKind::EarlyUse, operation.instruction->loc, firstLane(fragment.lanes),
            fmt::format("{} overwrites a register that a tcgen05.ld still writes: tcgen05.wait::ld must come first",
                        operation.instruction->text()));
    else if (registersLoading.empty())
      finishTensorLoads();
  }
}

void Warp::finishTensorLoads() {
  registersLoading.clear();
  ++tensorLoadWaits;
  if (Checker *checker = cta.cluster.machine.checker)
    checker->raise(*this, {component(Waitable::TensorLoads), tensorLoadWaits}, allLanes, /*collective=*/true);
}

void Warp::branch(Fragment &fragment, LaneMask taken, uint32_t target, uint32_t meeting) {
  LaneMask others = fragment.lanes & ~taken;
  if (!others || !taken) {
    fragment.pc = taken ? target : fragment.pc + 1;
    return;
  }
  // If lanes leave a loop one by one, one reconvergence point after the loop is enough; it is not repeated per
  // iteration.
  if (meeting != noInstruction && (fragment.meetings.empty() || fragment.meetings.back().pc != meeting))
    fragment.meetings.push_back({meeting, fragment.lanes});
  Fragment jumping = fragment;
  jumping.pc = target;
  jumping.lanes = taken;
  jumping.progress = 0;
  diverged.push_back(std::move(jumping));
  fragment.lanes = others;
  ++fragment.pc;
}

void Warp::exit(Fragment &fragment, LaneMask lanes) {
  fragment.lanes &= ~lanes;
  alive &= ~lanes;
  cta.liveThreads -= std::popcount(lanes);
  ++fragment.pc; // lanes whose guard was false skip the instruction
  fragment.progress = 0;
  for (Fragment &other : fragments)
    other.waits = false; // a waiting fragment now waits for fewer lanes
  cta.cluster.noteProgress();
}

bool Warp::isAtBarrier(Fragment &fragment) {
  while (!fragment.meetings.empty() && fragment.meetings.back().pc == fragment.pc) {
    if (fragment.meetings.back().lanes & alive & ~fragment.lanes) { // some lanes are missing
      fragment.waits = true;
      return true;
    }
    fragment.meetings.pop_back();
  }
  return false;
}

void Warp::mergeFragments() {
  std::erase_if(fragments, [](const Fragment &fragment) { return fragment.lanes == 0; });
  for (size_t i = 0; i < fragments.size(); ++i)
    for (size_t j = fragments.size() - 1; j > i; --j) {
      Fragment &into = fragments[i], &from = fragments[j];
      if (into.pc != from.pc || into.progress || from.progress)
        continue;
      into.lanes |= from.lanes;
      into.waits = false;
      // A fragment that has given up waiting at a reconvergence point does not wait there again.
      auto [end, other] =
          std::mismatch(into.meetings.begin(), into.meetings.end(), from.meetings.begin(), from.meetings.end());
      into.meetings.erase(end, into.meetings.end());
      fragments.erase(fragments.begin() + j);
    }
}

bool Warp::releaseBarriers() {
  bool any = false;
  for (Fragment &fragment : fragments)
    while (!fragment.meetings.empty() && fragment.meetings.back().pc == fragment.pc) {
      fragment.meetings.pop_back();
      any = true;
    }
  return any;
}

} // namespace tile::sim
