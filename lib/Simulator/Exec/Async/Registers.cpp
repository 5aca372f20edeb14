// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setmaxnreg: changes the number of registers of the threads of a warp group. PTX ISA 9.7.19.5.
//
// The warps of a CTA start with the same number of registers and share a pool of released registers. If the kernel does
// not declare the initial number, the instruction may have no effect, and only the set of warps that execute it is
// checked.
#include "Simulator/Exec/Async/Async.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

class SetMaxRegisters final : public Operation {
public:
  SetMaxRegisters(bool increases, uint32_t count) : increases(increases), count(count) { aligned = true; }

  Step execute(Warp &warp, Fragment &fragment, LaneMask) const override {
    if (fragment.progress == 0) {
      if (isNoOp(warp))
        return Step::Next;
      if (Step step = join(warp); step != Step::Next)
        return step;
    }
    fragment.progress = 1;
    Cta &cta = warp.cta;
    uint32_t before = warp.registersPerThread;
    if (before == 0)
      return Step::Next;
    if (increases && uint64_t(count - before) * warpSize > cta.freeRegisters)
      return Step::Wait;
    cta.freeRegisters += (before - count) * warpSize; // modulo 2^32, so the difference may be negative
    warp.registersPerThread = count;
    cta.cluster.noteProgress();
    return Step::Next;
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    if (fragment.progress == 0)
      return {};
    return fmt::format("waits for {} registers, {} per thread instead of {}; {} are free",
                       (count - warp.registersPerThread) * warpSize, count, warp.registersPerThread,
                       warp.cta.freeRegisters);
  }

private:
  template <typename... Arguments>
  Step refuse(Warp &warp, fmt::format_string<Arguments...> text, Arguments &&...arguments) const {
    return warp.fault(ReportKind::InvalidOperand, instruction->loc, -1,
                      fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  /// Returns true on sm_90, where this file enforces the rule of the ISA: all warps of a group must execute the same
  /// instruction, and must synchronize before the next one. Code for Blackwell (from Triton 3.6, CUTLASS) assigns roles
  /// to individual warps of a group: they request the same number from different instructions, and some request the
  /// number that they already have. There, only requests that change the number must agree within the group.
  static bool isStrict(const Warp &warp) { return warp.cta.cluster.machine.program.module.target.starts_with("sm_90"); }

  bool isSame(const Warp &warp, const Instruction &other) const {
    return &other == instruction || (!isStrict(warp) && other.suffixes == instruction->suffixes &&
                                     other.operands[0].bits == instruction->operands[0].bits);
  }

  bool isNoOp(const Warp &warp) const {
    const std::vector<const Instruction *> &own = warp.registerChanges;
    return !isStrict(warp) && count == (own.empty() ? warp.registersPerThread : own.back()->operands[0].bits);
  }

  /// Checks that all warps of the group execute the same instructions in the same order, and that the new number is not
  /// less (for inc) or more (for dec) than the current one.
  Step join(Warp &warp) const {
    std::vector<const Instruction *> &own = warp.registerChanges;
    own.push_back(instruction);
    unsigned first = warp.index / warpsInGroup * warpsInGroup;
    if (first + warpsInGroup > warp.cta.warps.size())
      return refuse(warp, "{} needs the four warps {} to {}, but the CTA has {} warps", instruction->text(), first,
                    first + warpsInGroup - 1, warp.cta.warps.size());
    for (unsigned i = first; i < first + warpsInGroup; ++i) {
      const std::vector<const Instruction *> &others = warp.cta.warps[i]->registerChanges;
      if (others.size() >= own.size() && !isSame(warp, *others[own.size() - 1]))
        return refuse(warp, "warp {} executes {}, but warp {} of its group executes the setmaxnreg at line {}",
                      warp.index, instruction->text(), i, others[own.size() - 1]->loc.ptxLine);
      if (others.size() + 1 < own.size())
        return refuse(
            warp,
            "{} comes before warp {} of the group has executed the previous setmaxnreg: the warps must synchronize",
            instruction->text(), i);
    }
    uint32_t before = warp.registersPerThread;
    if (before && (increases ? count < before : count > before))
      return refuse(warp, "{} of a warp that has {} registers per thread", instruction->text(), before);
    return Step::Next;
  }

  bool increases;
  uint32_t count;
};

} // namespace

Result<OperationPtr> decodeSetMaxRegisters(Decoding &d) {
  constexpr uint64_t least = 24, most = 256, step = 8;
  int action = d.takeOne({"inc", "dec"});
  if (action < 0 || !d.take("sync") || !d.take("aligned") || !d.take("u32") || !d.finished(1))
    return d.unsupported();
  const Operand &count = d.operand(0);
  if (count.kind != Operand::Kind::Immediate || count.bits < least || count.bits > most || count.bits % step)
    return d.error("the number of registers must be a multiple of 8 from 24 to 256");
  return make<SetMaxRegisters>(action == 0, uint32_t(count.bits));
}

} // namespace tile::sim
