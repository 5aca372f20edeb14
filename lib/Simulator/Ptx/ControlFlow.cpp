// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the immediate post-dominators of basic blocks by the iterative algorithm of Cooper, Harvey and Kennedy ("A
// Simple, Fast Dominance Algorithm", 2001) on the reversed graph. The root of that graph is a node after all exits.
//
// A guarded `ret` or `exit` does not end its block: lanes that leave there never reach a reconvergence point, and the
// others continue with the next instruction.
#include "Simulator/Ptx/ControlFlow.h"

#include <algorithm>

namespace tile::sim {

namespace {

constexpr uint32_t none = ~0u;

bool isBranch(const Instruction &instruction) {
  return instruction.name == "bra" || instruction.name == "brx";
}
bool endsPath(const Instruction &instruction) {
  return instruction.guard < 0 &&
         (instruction.name == "ret" || instruction.name == "exit" || instruction.name == "trap");
}

std::vector<uint32_t> targetsOf(const Instruction &branch) {
  std::vector<uint32_t> targets;
  for (const Operand &operand : branch.operands) {
    if (operand.kind == Operand::Kind::Label)
      targets.push_back(operand.index);
    for (const Operand &element : operand.elements)
      if (element.kind == Operand::Kind::Label)
        targets.push_back(element.index);
  }
  return targets;
}

class PostDominators {
public:
  explicit PostDominators(const Function &function) : instructions(function.instructions) {
    findBlocks();
    connect();
    order();
    solve();
  }

  /// Returns the first instruction of the immediate post-dominator of the block that `branch` ends.
  uint32_t after(uint32_t branch) const {
    uint32_t parent = dominator[blockOf[branch]];
    return parent == none || parent == exit ? noInstruction : firsts[parent];
  }

private:
  void findBlocks() {
    std::vector<bool> isFirst(instructions.size(), false);
    if (!instructions.empty())
      isFirst[0] = true;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (!isBranch(instructions[i]) && !endsPath(instructions[i]))
        continue;
      if (i + 1 < instructions.size())
        isFirst[i + 1] = true;
      for (uint32_t target : targetsOf(instructions[i]))
        isFirst[target] = true;
    }
    blockOf.resize(instructions.size());
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      if (isFirst[i])
        firsts.push_back(i);
      blockOf[i] = uint32_t(firsts.size()) - 1;
    }
    exit = uint32_t(firsts.size());
  }

  void connect() {
    successors.resize(exit + 1);
    predecessors.resize(exit + 1);
    for (uint32_t block = 0; block < exit; ++block) {
      uint32_t end = block + 1 < exit ? firsts[block + 1] : uint32_t(instructions.size());
      const Instruction &last = instructions[end - 1];
      if (isBranch(last))
        for (uint32_t target : targetsOf(last))
          addEdge(block, blockOf[target]);
      if (endsPath(last) || (end == instructions.size() && !isBranch(last)))
        addEdge(block, exit);
      else if (end < instructions.size() && (!isBranch(last) || last.guard >= 0))
        addEdge(block, block + 1);
    }
  }

  void addEdge(uint32_t from, uint32_t to) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }

  /// Computes the post-order of the reversed graph, starting at the exit. It is not recursive, because chains of blocks
  /// may be long.
  void order() {
    number.assign(exit + 1, none);
    std::vector<std::pair<uint32_t, size_t>> stack{{exit, 0}};
    std::vector<bool> seen(exit + 1, false);
    seen[exit] = true;
    while (!stack.empty()) {
      auto &[block, next] = stack.back();
      if (next == predecessors[block].size()) {
        number[block] = uint32_t(postOrder.size());
        postOrder.push_back(block);
        stack.pop_back();
        continue;
      }
      uint32_t predecessor = predecessors[block][next++];
      if (!seen[predecessor]) {
        seen[predecessor] = true;
        stack.push_back({predecessor, 0});
      }
    }
  }

  uint32_t intersect(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (number[a] < number[b])
        a = dominator[a];
      while (number[b] < number[a])
        b = dominator[b];
    }
    return a;
  }

  void solve() {
    dominator.assign(exit + 1, none);
    dominator[exit] = exit;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = postOrder.size() - 1; i-- > 0;) {
        uint32_t block = postOrder[i], best = none;
        for (uint32_t successor : successors[block])
          if (dominator[successor] != none)
            best = best == none ? successor : intersect(successor, best);
        if (best != dominator[block]) {
          dominator[block] = best;
          changed = true;
        }
      }
    }
  }

  const std::vector<Instruction> &instructions;
  uint32_t exit = 0;             ///< the node after all exits; smaller indices are blocks
  std::vector<uint32_t> firsts;  ///< first instruction of each block
  std::vector<uint32_t> blockOf; ///< block of each instruction
  std::vector<std::vector<uint32_t>> successors, predecessors;
  std::vector<uint32_t> postOrder, number;
  std::vector<uint32_t> dominator; ///< immediate post-dominator of each block; `none` if it has no path to an exit
};

} // namespace

std::vector<uint32_t> reconvergencePoints(const Function &function) {
  PostDominators postDominators(function);
  std::vector<uint32_t> points(function.instructions.size(), noInstruction);
  for (uint32_t i = 0; i < points.size(); ++i) {
    const Instruction &instruction = function.instructions[i];
    if (isBranch(instruction) && (instruction.guard >= 0 || instruction.name == "brx"))
      points[i] = postDominators.after(i);
  }
  return points;
}

} // namespace tile::sim
