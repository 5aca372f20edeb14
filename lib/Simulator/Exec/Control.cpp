// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow: branches, thread exit, and the two functions that the system provides (vprintf, __assertfail). PTX ISA
// 9.7.12.
#include "Simulator/Exec/Decoding.h"
#include "Simulator/Exec/SystemCalls.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

class Branch final : public Operation {
public:
  Branch(uint32_t target, uint32_t meeting) : target(target), meeting(meeting) { alwaysRuns = true; }
  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    warp.branch(fragment, active, target, meeting);
    return Step::Jumped;
  }

private:
  uint32_t target, meeting;
};

/// brx.idx. Each lane jumps to the target that its index selects.
class IndexedBranch final : public Operation {
public:
  IndexedBranch(Source<uint32_t> index, std::vector<uint32_t> targets, uint32_t meeting)
      : index(index), targets(std::move(targets)), meeting(meeting) {}

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
      if (uint32_t value = index.one(warp, firstLane(remaining)); value >= targets.size())
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, firstLane(remaining),
                          fmt::format("index {} of a branch with {} targets", value, targets.size()));
    const uint32_t here = fragment.pc;
    for (LaneMask remaining = active; remaining;) {
      const uint32_t target = targets[index.one(warp, firstLane(remaining))];
      LaneMask taken = 0;
      forLanes(remaining, [&](unsigned lane) { taken |= LaneMask(targets[index.one(warp, lane)] == target) << lane; });
      remaining &= ~taken;
      fragment.pc = here;
      warp.branch(fragment, taken, target, meeting);
    }
    return Step::Jumped;
  }

private:
  Source<uint32_t> index;
  std::vector<uint32_t> targets; ///< by index
  uint32_t meeting;
};

class Exit final : public Operation {
  Step execute(Warp &, Fragment &, LaneMask) const override { return Step::Exited; }
};

class Trap final : public Operation {
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    return warp.fault(ReportKind::Trap, instruction->loc, firstLane(active), instruction->text() + " was executed");
  }
};

class Nothing final : public Operation {
  Step execute(Warp &, Fragment &, LaneMask) const override { return Step::Next; }
};

Result<OperationPtr> decodeBranch(Decoding &d) {
  d.take("uni");
  if (!d.finished(1) || d.operand(0).kind != Operand::Kind::Label)
    return d.unsupported();
  size_t index = &d.instruction - d.program.function.instructions.data();
  return make<Branch>(d.operand(0).index, d.program.reconvergence[index]);
}

/// brx.idx{.uni} index, targets;
Result<OperationPtr> decodeIndexedBranch(Decoding &d) {
  if (!d.take("idx"))
    return d.unsupported();
  d.take("uni");
  if (!d.finished(2) || d.operand(1).kind != Operand::Kind::Vector)
    return d.unsupported();
  std::vector<uint32_t> targets;
  for (const Operand &label : d.operand(1).elements)
    targets.push_back(label.index);
  size_t index = &d.instruction - d.program.function.instructions.data();
  return make<IndexedBranch>(d.source<uint32_t>(0), std::move(targets), d.program.reconvergence[index]);
}

Result<OperationPtr> decodeExit(Decoding &d) {
  d.take("uni");
  return d.finished(0) ? Result<OperationPtr>(make<Exit>()) : d.unsupported();
}

Result<OperationPtr> decodeTrap(Decoding &d) {
  return d.finished(0) ? Result<OperationPtr>(make<Trap>()) : d.unsupported();
}

Result<OperationPtr> decodeNop(Decoding &) {
  return make<Nothing>();
}

/// call{.uni} (result), function, (arguments);
Result<OperationPtr> decodeCall(Decoding &d) {
  d.take("uni");
  std::string_view name;
  std::vector<uint32_t> arguments, results;
  bool isNamed = false;
  for (const Operand &operand : d.instruction.operands) {
    if (operand.kind == Operand::Kind::Function) {
      name = operand.name;
      isNamed = true;
    } else if (operand.kind == Operand::Kind::Arguments) {
      for (const Operand &element : operand.elements)
        if (element.kind == Operand::Kind::Symbol)
          (isNamed ? arguments : results).push_back(d.program.variableAddress(element.index));
    }
  }
  if (name == "vprintf" && arguments.size() == 2 && results.size() <= 1)
    return makePrint(arguments[0], arguments[1], results);
  if (name == "__assertfail" && arguments.size() == 5)
    return makeAssertFail(arguments);
  return d.error(fmt::format("calls to '{}' are not supported, only calls to vprintf and __assertfail", name));
}

} // namespace

OperationPtr makeExit() {
  return make<Exit>();
}

std::span<const DecoderEntry> controlDecoders() {
  static constexpr DecoderEntry table[] = {
      {"bra", decodeBranch}, {"brx", decodeIndexedBranch}, {"ret", decodeExit},  {"exit", decodeExit},
      {"trap", decodeTrap},  {"brkpt", decodeTrap},        {"call", decodeCall}, {"nop", decodeNop}};
  return table;
}

} // namespace tile::sim
