// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Order/PtxValues.h"

#include "Order/Hash.h"

#include <algorithm>

namespace tile::order {

using sim::Instruction;
using sim::Operand;

Value combine(uint64_t operation, const std::vector<const Value *> &operands) {
  constexpr size_t maxBlocks = 32; // an expression that reads more blocks is too complex to describe
  Value result{.label = operation};
  std::vector<std::pair<uint32_t, int64_t>> &lowest = result.lowest;
  for (const Value *operand : operands) {
    result.isData |= operand->isData;
    for (const auto &[block, offset] : operand->lowest) {
      auto at = std::lower_bound(lowest.begin(), lowest.end(), block,
                                 [](const auto &entry, uint32_t other) { return entry.first < other; });
      if (at == lowest.end() || at->first != block)
        lowest.insert(at, {block, offset});
      else
        at->second = std::min(at->second, offset);
    }
  }
  std::vector<int64_t> distances;
  for (const Value *operand : operands) {
    result.label = mix(result.label, operand->label);
    distances.clear();
    for (const auto &[block, offset] : operand->lowest) {
      auto at = std::lower_bound(lowest.begin(), lowest.end(), block,
                                 [](const auto &entry, uint32_t other) { return entry.first < other; });
      distances.push_back(offset - at->second);
    }
    std::sort(distances.begin(), distances.end()); // the indices of blocks are arbitrary
    for (const int64_t distance : distances)
      result.label = mix(result.label, uint64_t(distance));
  }
  if (lowest.size() > maxBlocks)
    lowest.clear();
  return result;
}

std::vector<uint32_t> definedRegisters(const Instruction &one) {
  std::vector<uint32_t> registers;
  if (one.operands.empty() || one.name == "bar" || one.name == "barrier" || one.name == "bra" || one.name == "brx" ||
      one.name == "nanosleep" || one.name == "st" || one.name == "red")
    return registers;
  const Operand &first = one.operands.front();
  if (first.kind == Operand::Kind::Register)
    registers.push_back(first.index);
  if (first.kind == Operand::Kind::Vector || first.kind == Operand::Kind::Pair)
    for (const Operand &element : first.elements)
      if (element.kind == Operand::Kind::Register)
        registers.push_back(element.index);
  return registers;
}

std::vector<bool> blockStarts(const sim::Function &function) {
  std::vector<bool> starts(function.instructions.size() + 1, false);
  starts[0] = true;
  const auto mark = [&](const auto &self, const Operand &operand) -> void {
    if (operand.kind == Operand::Kind::Label && operand.index < starts.size())
      starts[operand.index] = true;
    for (const Operand &element : operand.elements)
      self(self, element);
  };
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction &one = function.instructions[i];
    if (one.name != "bra" && one.name != "brx" && one.name != "ret" && one.name != "exit" && one.name != "trap")
      continue;
    starts[i + 1] = true;
    for (const Operand &operand : one.operands)
      mark(mark, operand);
  }
  return starts;
}

Locations::Locations(const sim::Function &function) : function(function), definitions(function.registers.size(), -1) {
  for (size_t i = 0; i < function.instructions.size(); ++i)
    for (const uint32_t reg : definedRegisters(function.instructions[i])) {
      const bool isOnly = definitions[reg] == -1 && function.instructions[i].guard < 0;
      definitions[reg] = isOnly ? int64_t(i) : -2;
    }
}

Location Locations::find(const Operand &operand) const {
  constexpr uint32_t variables = 1u << 31;    // blocks from here on are variables
  constexpr uint32_t absolute = ~uint32_t(0); // addresses without a block
  constexpr int deepest = 16;                 // maximum length of a chain of additions of constants
  Location location;
  const Operand *at = &operand;
  for (int depth = 0; depth < deepest; ++depth) {
    location.offset += at->offset;
    if (at->kind == Operand::Kind::Address && !at->elements.empty()) {
      at = &at->elements.front();
      continue;
    }
    if (at->kind == Operand::Kind::Symbol) {
      location.block = variables + at->index;
      return location;
    }
    if (at->kind != Operand::Kind::Register) {
      location.block = absolute;
      location.offset += int64_t(at->bits);
      return location;
    }
    location.block = at->index;
    if (definitions[at->index] < 0)
      return location;
    const Instruction &one = function.instructions[size_t(definitions[at->index])];
    const bool isMove =
        (one.name == "mov" || one.name == "cvt" || one.name == "cvta") && one.operands.size() == 2 &&
        one.operands.front().kind == Operand::Kind::Register &&
        (one.operands[1].kind == Operand::Kind::Register || one.operands[1].kind == Operand::Kind::Symbol);
    const bool hasConstant = one.operands.size() == 3 && one.operands[1].kind == Operand::Kind::Register &&
                             one.operands[2].kind == Operand::Kind::Immediate;
    if (hasConstant && one.name == "add")
      location.offset += int64_t(one.operands[2].bits);
    else if (hasConstant && one.name == "or")
      location.constant = mix(location.constant, one.operands[2].bits);
    else if (!isMove)
      return location;
    at = &one.operands[1];
  }
  if (at->kind == Operand::Kind::Register)
    location.block = at->index;
  return location;
}

} // namespace tile::order
