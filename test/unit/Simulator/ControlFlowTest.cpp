// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests reconvergencePoints on graphs of many shapes against a slow but simple definition.
#include "Simulator/Ptx/ControlFlow.h"
#include "Simulator/Ptx/Parser.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace tile::sim;

namespace {

Function parseBody(const std::string &body) {
  tile::runtime::Result<Module> module = parsePtx(".entry k() { .reg .pred p; .reg .b32 r;\n" + body + "\n}");
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return module ? module->functions.at(0) : Function();
}

TEST(ControlFlow, IfElse) {
  Function function = parseBody("@p bra a; nop; bra b; a: nop; b: ret;");
  EXPECT_EQ(reconvergencePoints(function),
            (std::vector<uint32_t>{4, noInstruction, noInstruction, noInstruction, noInstruction}));
}

TEST(ControlFlow, LoopEndsBehindIt) {
  Function function = parseBody("a: nop; @p bra a; nop; ret;");
  EXPECT_EQ(reconvergencePoints(function)[1], 2u);
}

TEST(ControlFlow, NoMeetingWhereOnePathEnds) {
  Function function = parseBody("@p bra a; ret; a: trap; ret;");
  EXPECT_EQ(reconvergencePoints(function)[0], noInstruction);
}

TEST(ControlFlow, GuardedExitGoesOn) {
  Function function = parseBody("@p bra a; @p ret; nop; a: ret;");
  EXPECT_EQ(reconvergencePoints(function)[0], 3u);
}

TEST(ControlFlow, EndlessLoop) {
  Function function = parseBody("@p bra a; ret; a: @p bra a; bra a;");
  EXPECT_EQ(reconvergencePoints(function), (std::vector<uint32_t>{1, noInstruction, noInstruction, noInstruction}));
}

TEST(ControlFlow, IndexedBranch) {
  Function function = parseBody("t: .branchtargets a, b, c; brx.idx r, t; a: nop; bra c; b: nop; c: ret;");
  EXPECT_EQ(reconvergencePoints(function)[0], 4u);
}

/// An instruction post-dominates another if, without it, no exit can be reached; the immediate one is the one that all
/// others post-dominate, too. Only first instructions of blocks count, so instructions are compared by reachability.
class SlowPostDominators {
public:
  explicit SlowPostDominators(const Function &function) : code(function.instructions) {}

  uint32_t after(uint32_t branch) const {
    if (!reachesExit(branch, noInstruction))
      return noInstruction;
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < code.size(); ++i)
      if (i != branch && !reachesExit(branch, i))
        all.push_back(i);
    // Choose the first of them on every path: no path avoids any of the others after it.
    for (uint32_t candidate : all) {
      bool isFirst = true;
      for (uint32_t other : all)
        isFirst &= other == candidate || !reachesExit(candidate, other);
      if (isFirst)
        return candidate;
    }
    return noInstruction;
  }

private:
  std::vector<uint32_t> successors(uint32_t i) const {
    std::vector<uint32_t> next;
    bool isBranch = code[i].name == "bra";
    if (isBranch)
      next.push_back(code[i].operands[0].index);
    if ((isBranch && code[i].guard < 0) || (code[i].name == "ret" && code[i].guard < 0))
      return next;
    next.push_back(i + 1);
    return next;
  }
  bool reachesExit(uint32_t from, uint32_t without) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> open{from};
    while (!open.empty()) {
      uint32_t i = open.back();
      open.pop_back();
      if (i == without || !seen.insert(i).second)
        continue;
      if (code[i].name == "ret" && code[i].guard < 0)
        return true;
      for (uint32_t next : successors(i))
        open.push_back(next);
    }
    return false;
  }
  const std::vector<Instruction> &code;
};

TEST(ControlFlow, RandomGraphs) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    unsigned count = 2 + random() % 12;
    std::string body;
    for (unsigned i = 0; i < count; ++i) {
      body += "l" + std::to_string(i) + ": ";
      unsigned kind = random() % 8;
      std::string target = "l" + std::to_string(random() % count);
      body += kind < 4 ? "@p bra " + target + ";" : kind == 4 ? "bra " + target + ";" : kind == 5 ? "ret;" : "nop;";
    }
    Function function = parseBody(body + " ret;");
    SlowPostDominators slow(function);
    std::vector<uint32_t> points = reconvergencePoints(function);
    for (uint32_t i = 0; i < points.size(); ++i) {
      const Instruction &instruction = function.instructions[i];
      bool diverges = instruction.name == "bra" && instruction.guard >= 0;
      EXPECT_EQ(points[i], diverges ? slow.after(i) : noInstruction) << body << " at " << i;
    }
  }
}

} // namespace
