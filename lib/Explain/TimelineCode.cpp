// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/TimelineCode.h"

#include "Explain/Evidence.h"

#include <algorithm>

namespace tile::explain {
namespace {

bool has(const sim::Instruction &instruction, std::string_view suffix) {
  return std::find(instruction.suffixes.begin(), instruction.suffixes.end(), suffix) != instruction.suffixes.end();
}

void collect(const sim::Operand &operand, std::vector<uint32_t> &into) {
  if (operand.kind == sim::Operand::Kind::Register)
    into.push_back(operand.index);
  for (const sim::Operand &element : operand.elements)
    collect(element, into);
}

Action actionOf(const sim::Instruction &one) {
  if (one.name == "wgmma")
    return has(one, "mma_async")      ? Action::AsyncProduct
           : has(one, "commit_group") ? Action::CommitProducts
           : has(one, "wait_group")   ? Action::WaitProducts
                                      : Action::Issue;
  if (one.name == "mma")
    return Action::Product;
  if (one.name == "mbarrier")
    return has(one, "init")                                ? Action::Init
           : has(one, "try_wait") || has(one, "test_wait") ? Action::Test
           : has(one, "arrive") || has(one, "expect_tx")   ? Action::Arrive
                                                           : Action::Issue;
  if (one.name == "bar" || one.name == "barrier")
    return has(one, "cluster") || has(one, "warp") ? Action::Issue
           : has(one, "arrive")                    ? Action::MeetArrive
                                                   : Action::Meet;
  if (one.name == "cp") {
    if (has(one, "commit_group"))
      return Action::CommitCopies;
    if (has(one, "wait_group") || has(one, "wait_all"))
      return Action::WaitCopies;
    return !has(one, "bulk")                          ? Action::LaneCopy
           : has(one, "mbarrier::complete_tx::bytes") ? Action::Copy
                                                      : Action::CopyOut;
  }
  if (has(one, "global") && (one.name == "ld" || one.name == "atom"))
    return Action::Load;
  if (has(one, "global") && (one.name == "st" || one.name == "red"))
    return Action::Store;
  return Action::Issue;
}

} // namespace

Decoded decode(const sim::Instruction &one, const sim::Counts &counts, const target::Rates &rates, uint32_t mainFile) {
  using C = sim::Counter;
  Decoded decoded;
  decoded.action = actionOf(one);
  decoded.line = one.place.file == mainFile ? one.place.sourceLine : 0;
  for (const sim::Operand &operand : one.operands)
    collect(operand, decoded.registers);
  if (decoded.action == Action::Load)
    collect(one.operands.front(), decoded.results);
  const double times = std::max<double>(double(counts[C::Instructions]), 1);
  decoded.isSpecial = engineOf(one) == "special functions";
  decoded.clocks = 32 / ((decoded.isSpecial ? rates.special : rates.lanes) / schedulers);
  decoded.clocks += double(counts[C::SharedBytes] ? counts[C::SharedWavefronts] : 0) / times;
  decoded.portBytes = double(32 * counts[C::GlobalSectors] + counts[C::CopiedIn] + counts[C::CopiedOut]) / times;
  if (has(one, "expect_tx")) {
    decoded.expects = true;
    decoded.arrives = has(one, "arrive");
  }
  if (!one.operands.empty() && one.operands[0].kind == sim::Operand::Kind::Immediate)
    decoded.pending = one.operands[0].bits;
  return decoded;
}

} // namespace tile::explain
