// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/TimelineCode.h"

#include "Explain/Evidence.h"

#include <algorithm>

namespace tile::explain {
namespace {

void collect(const sim::Operand &operand, std::vector<uint32_t> &into) {
  if (operand.kind == sim::Operand::Kind::Register)
    into.push_back(operand.index);
  for (const sim::Operand &element : operand.elements)
    collect(element, into);
}

Action actionOf(const sim::Instruction &one) {
  if (one.name == "wgmma")
    return one.has("mma_async")      ? Action::AsyncMma
           : one.has("commit_group") ? Action::CommitMmas
           : one.has("wait_group")   ? Action::WaitMmas
                                     : Action::Issue;
  if (one.name == "mma")
    return Action::Mma;
  if (one.name == "mbarrier")
    return one.has("init")                               ? Action::Init
           : one.has("try_wait") || one.has("test_wait") ? Action::Test
           : one.has("arrive") || one.has("expect_tx")   ? Action::Arrive
                                                         : Action::Issue;
  if (one.name == "bar" || one.name == "barrier")
    return one.has("cluster") || one.has("warp") ? Action::Issue
           : one.has("arrive")                   ? Action::MeetArrive
                                                 : Action::Meet;
  if (one.name == "cp") {
    if (one.has("commit_group"))
      return Action::CommitCopies;
    if (one.has("wait_group") || one.has("wait_all"))
      return Action::WaitCopies;
    return !one.has("bulk")                          ? Action::LaneCopy
           : one.has("mbarrier::complete_tx::bytes") ? Action::Copy
                                                     : Action::CopyOut;
  }
  if (one.has("global") && (one.name == "ld" || one.name == "atom"))
    return Action::Load;
  if (one.has("global") && (one.name == "st" || one.name == "red"))
    return Action::Store;
  return Action::Issue;
}

} // namespace

Decoded decode(const sim::Instruction &one, const sim::Counts &counts, const target::Rates &rates, uint32_t mainFile) {
  using C = sim::Counter;
  Decoded decoded;
  decoded.action = actionOf(one);
  decoded.line = one.loc.file == mainFile ? one.loc.sourceLine : 0;
  for (const sim::Operand &operand : one.operands)
    collect(operand, decoded.registers);
  if (decoded.action == Action::Load)
    collect(one.operands.front(), decoded.results);
  const double times = std::max<double>(double(counts[C::Instructions]), 1);
  decoded.isSpecial = engineOf(one) == "special functions";
  decoded.clocks = 32 / ((decoded.isSpecial ? rates.special : rates.lanes) / schedulers);
  decoded.clocks += double(counts[C::SharedBytes] ? counts[C::SharedWavefronts] : 0) / times;
  decoded.portBytes = double(32 * counts[C::GlobalSectors] + counts[C::CopiedIn] + counts[C::CopiedOut]) / times;
  if (one.has("expect_tx")) {
    decoded.expects = true;
    decoded.arrives = one.has("arrive");
  }
  if (!one.operands.empty() && one.operands[0].kind == sim::Operand::Kind::Immediate)
    decoded.pending = one.operands[0].bits;
  return decoded;
}

} // namespace tile::explain
