// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterates backwards over the instructions until nothing changes: live before = (live after − defined) ∪ used.
#include "Simulator/Ptx/Liveness.h"

#include <algorithm>
#include <bit>

namespace tile::sim {
namespace {

using Bits = std::vector<uint64_t>;

struct Effects {
  std::vector<uint32_t> defined, used;
  std::vector<uint32_t> next; ///< the instructions that may be executed next
};

void collect(const Operand &operand, std::vector<uint32_t> &registers) {
  if (operand.kind == Operand::Kind::Register)
    registers.push_back(operand.index);
  for (const Operand &element : operand.elements)
    collect(element, registers);
}

void collectLabels(const Operand &operand, std::vector<uint32_t> &labels) {
  if (operand.kind == Operand::Kind::Label)
    labels.push_back(operand.index);
  for (const Operand &element : operand.elements)
    collectLabels(element, labels);
}

/// Returns true if the first operand is a result. This holds for all instructions whose first operand is not an
/// address, except for the ones listed here.
bool hasResult(const Instruction &one) {
  if (one.operands.empty() || one.name == "bar" || one.name == "barrier" || one.name == "brx" ||
      one.name == "nanosleep")
    return false;
  const Operand::Kind kind = one.operands.front().kind;
  return kind == Operand::Kind::Register || kind == Operand::Kind::Vector || kind == Operand::Kind::Pair ||
         kind == Operand::Kind::Arguments;
}

Effects effectsOf(const Instruction &one, uint32_t index, uint32_t count) {
  Effects effects;
  const bool accumulates = one.name == "wgmma"; // the result is also an addend
  for (size_t i = 0; i < one.operands.size(); ++i)
    collect(one.operands[i], i == 0 && hasResult(one) ? effects.defined : effects.used);
  if (accumulates)
    effects.used.insert(effects.used.end(), effects.defined.begin(), effects.defined.end());
  if (one.guard >= 0) { // if the guard is false, the old value is kept
    effects.used.push_back(uint32_t(one.guard));
    effects.defined.clear();
  }
  const bool isBranch = one.name == "bra" || one.name == "brx";
  if (isBranch)
    for (const Operand &operand : one.operands)
      collectLabels(operand, effects.next);
  const bool ends = one.name == "ret" || one.name == "exit" || one.name == "trap" || isBranch;
  if ((!ends || one.guard >= 0) && index + 1 < count)
    effects.next.push_back(index + 1);
  std::erase_if(effects.next, [&](uint32_t next) { return next >= count; });
  return effects;
}

/// Returns the number of 32-bit registers that a value occupies.
uint32_t wordsOf(Type type) {
  return type == Type::Pred ? 0 : std::max(1u, bitWidth(type) / 32);
}

} // namespace

std::vector<uint32_t> liveRegisters(const Function &function) {
  const uint32_t count = uint32_t(function.instructions.size());
  const size_t words = (function.registers.size() + 63) / 64;
  std::vector<Effects> effects;
  for (uint32_t i = 0; i < count; ++i)
    effects.push_back(effectsOf(function.instructions[i], i, count));
  std::vector<Bits> before(count, Bits(words));
  const auto liveAfter = [&](uint32_t i) {
    Bits live(words);
    for (uint32_t next : effects[i].next)
      for (size_t word = 0; word < words; ++word)
        live[word] |= before[next][word];
    return live;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = count; i-- > 0;) {
      Bits live = liveAfter(i);
      for (uint32_t index : effects[i].defined)
        live[index / 64] &= ~(uint64_t(1) << index % 64);
      for (uint32_t index : effects[i].used)
        live[index / 64] |= uint64_t(1) << index % 64;
      if (live != before[i]) {
        before[i] = std::move(live);
        changes = true;
      }
    }
  }
  std::vector<uint32_t> liveWords;
  for (uint32_t i = 0; i < count; ++i) {
    Bits live = liveAfter(i); // values needed after the instruction; those needed by it are added next
    for (size_t word = 0; word < words; ++word)
      live[word] |= before[i][word];
    uint32_t number = 0;
    for (size_t word = 0; word < words; ++word)
      for (uint64_t remaining = live[word]; remaining; remaining &= remaining - 1)
        number += wordsOf(function.registers[word * 64 + size_t(std::countr_zero(remaining))].type);
    liveWords.push_back(number);
  }
  return liveWords;
}

} // namespace tile::sim
