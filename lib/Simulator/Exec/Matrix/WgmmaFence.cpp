// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds missing wgmma.fence instructions statically: walks back from each wgmma along all paths until a fence.
#include "Simulator/Exec/Matrix/Wgmma.h"

#include <algorithm>

namespace tile::sim::matrix {

namespace {

bool isWgmma(const Instruction &instruction, std::string_view kind) {
  return instruction.name == "wgmma" && !instruction.suffixes.empty() && instruction.suffixes.front() == kind;
}

void collectLabels(const Operand &operand, std::vector<uint32_t> &labels) {
  if (operand.kind == Operand::Kind::Label)
    labels.push_back(operand.index);
  for (const Operand &element : operand.elements)
    collectLabels(element, labels);
}

/// Returns for each instruction the instructions that may be executed just before it.
std::vector<std::vector<uint32_t>> findPredecessors(const Function &function) {
  std::vector<std::vector<uint32_t>> predecessors(function.instructions.size());
  auto add = [&](uint32_t from, uint32_t to) {
    if (to < predecessors.size())
      predecessors[to].push_back(from);
  };
  for (uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction &instruction = function.instructions[i];
    bool isJump = instruction.name == "bra" || instruction.name == "brx";
    if (isJump) {
      std::vector<uint32_t> labels;
      for (const Operand &operand : instruction.operands)
        collectLabels(operand, labels);
      for (uint32_t label : labels)
        add(i, label);
    }
    bool ends = isJump || instruction.name == "ret" || instruction.name == "exit";
    if (!ends || instruction.guard >= 0)
      add(i, i + 1);
  }
  return predecessors;
}

bool findRegister(const Operand &operand, const std::vector<uint32_t> &registers, uint32_t &found) {
  if (operand.kind == Operand::Kind::Register &&
      std::binary_search(registers.begin(), registers.end(), operand.index)) {
    found = operand.index;
    return true;
  }
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand &element) { return findRegister(element, registers, found); });
}

void collectRegisters(const Operand &operand, std::vector<uint32_t> &registers) {
  for (const Operand &element : operand.elements)
    if (element.kind == Operand::Kind::Register)
      registers.push_back(element.index);
}

} // namespace

std::optional<MissingFence> findMissingFence(const Function &function, uint32_t index) {
  const Instruction &wgmma = function.instructions[index];
  std::vector<uint32_t> accumulators, left, all;
  collectRegisters(wgmma.operands[0], accumulators);
  collectRegisters(wgmma.operands[1], left);
  all = accumulators;
  all.insert(all.end(), left.begin(), left.end());
  for (auto *registers : {&accumulators, &left, &all})
    std::sort(registers->begin(), registers->end());

  std::vector<std::vector<uint32_t>> predecessors = findPredecessors(function);
  std::vector<bool> visited(function.instructions.size());
  std::vector<uint32_t> pending = {index};
  while (!pending.empty()) {
    uint32_t at = pending.back();
    pending.pop_back();
    if (at == 0)
      return MissingFence{true, 0, 0};
    for (uint32_t before : predecessors[at]) {
      const Instruction &instruction = function.instructions[before];
      if (isWgmma(instruction, "fence") || visited[before])
        continue;
      visited[before] = true;
      uint32_t reg = 0;
      bool touches = false;
      for (size_t i = 0; i < instruction.operands.size() && !touches; ++i) {
        // Two wgmmas may use the same accumulators if they have the same shape, and may read the same left operand.
        const std::vector<uint32_t> *registers = &all;
        if (isWgmma(instruction, "mma_async") && i == 0 && instruction.suffixes == wgmma.suffixes)
          registers = &left;
        else if (isWgmma(instruction, "mma_async") && i == 1)
          registers = &accumulators;
        touches = findRegister(instruction.operands[i], *registers, reg);
      }
      if (touches)
        return MissingFence{false, before, reg};
      pending.push_back(before);
    }
  }
  return std::nullopt;
}

} // namespace tile::sim::matrix
