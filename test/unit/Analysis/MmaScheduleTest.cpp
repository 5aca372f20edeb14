// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of loops with several MMAs, on small graphs.
#include "Analysis/Loops/MmaSchedule.h"

#include <gtest/gtest.h>

using namespace tile;
using Kind = LoopNodeKind;

namespace {

LoopNode make(Kind kind, std::initializer_list<unsigned> needs = {}, std::initializer_list<unsigned> needsPrevious = {},
              std::optional<unsigned> leftOperand = std::nullopt) {
  return {kind, needs, needsPrevious, leftOperand};
}

std::string print(const MmaSchedule &schedule) {
  return LoopPlan{.order = schedule}.print();
}

/// s = q k;  p = exp(s);  o = p v + o, with a slot of a ring for k and for v.
std::vector<LoopNode> attention() {
  return {
      make(Kind::light),                 // 0: k's slot
      make(Kind::light),                 // 1: v's slot
      make(Kind::mma, {0}),              // 2: s
      make(Kind::await, {2}),            // 3
      make(Kind::release, {3}),          // 4: k's release
      make(Kind::other, {3}, {5}),       // 5: maximum, exp
      make(Kind::other, {5}),            // 6: p
      make(Kind::other, {5}, {9}),       // 7: o, scaled
      make(Kind::mma, {1, 6, 7}, {}, 6), // 8: o
      make(Kind::await, {8}),            // 9
      make(Kind::release, {9}),          // 10: v's release
  };
}

/// Late MMAs stay in flight until the next round.
constexpr AheadOrder oneGroup{.operandsLate = true, .awaitsNext = true};

} // namespace

// The MMA of the next scores is issued before this iteration's MMA. Exponentials overlap with that MMA until the next
// round, which overwrites the operand that it has read.
TEST(MmaSchedule, ahead) {
  std::vector<LoopNode> nodes = attention();
  std::optional<MmaSchedule> schedule = planAhead(nodes, oneGroup);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(print(*schedule), "9'' 10'' 6' 0 2 1' 7' 8' 3 4 5");
}

// Both MMAs are in flight together. The operand of the second one is computed one iteration earlier.
TEST(MmaSchedule, together) {
  std::vector<LoopNode> nodes = attention();
  std::optional<MmaSchedule> schedule = planAhead(nodes, {.lateFirst = true});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(print(*schedule), "1' 7' 8' 0 2 9' 10' 3 4 5 6");
}

// With alternating warp groups, the second MMA is awaited in the round that issues it; it is issued first if threads do
// not access its accumulator.
TEST(MmaSchedule, aheadInTurns) {
  std::vector<LoopNode> nodes = attention();
  EXPECT_EQ(print(planAhead(nodes, {}).value()), "0 2 1' 7' 8' 3 4 5 6 9' 10'");
  EXPECT_EQ(print(planAhead(nodes, {.operandsLate = true, .lateFirst = true}).value()), "6' 1' 7' 8' 0 2 9' 10' 3 4 5");
}

// The result of the second MMA is used in the same iteration.
TEST(MmaSchedule, negative_resultIsUsed) {
  std::vector<LoopNode> nodes = attention();
  nodes.push_back(make(Kind::other, {9}));
  EXPECT_FALSE(planAhead(nodes, oneGroup));
}

// The sum is computed from the second MMA's operand.
TEST(MmaSchedule, negative_operandIsUsed) {
  std::vector<LoopNode> nodes = attention();
  nodes.push_back(make(Kind::other, {6}));
  EXPECT_FALSE(planAhead(nodes, oneGroup));
}

TEST(MmaSchedule, withinOneIteration) {
  EXPECT_EQ(print(planWithin(attention()).value()), "0 2 1 3 4 5 6 7 8 9 10");
}

// Independent MMAs are in flight together, and each is awaited where it is needed.
TEST(MmaSchedule, independentMmas) {
  std::vector<LoopNode> nodes = {
      make(Kind::mma),           // 0
      make(Kind::await, {0}),    // 1
      make(Kind::other, {1}),    // 2
      make(Kind::mma),           // 3
      make(Kind::await, {3}),    // 4
      make(Kind::other, {2, 4}), // 5
  };
  EXPECT_FALSE(planAhead(nodes, oneGroup));
  std::optional<MmaSchedule> schedule = planWithin(nodes);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(print(*schedule), "0 3 1 2 4 5");
}

// The first MMA of the next iteration reads the result of the second one of this iteration.
TEST(MmaSchedule, negative_recurrence) {
  std::vector<LoopNode> nodes = {
      make(Kind::mma, {}, {3}), // 0
      make(Kind::await, {0}),   // 1
      make(Kind::mma, {1}),     // 2
      make(Kind::await, {2}),   // 3
  };
  EXPECT_FALSE(planAhead(nodes, oneGroup));
  EXPECT_FALSE(planAhead(nodes, {.lateFirst = true}));
  EXPECT_EQ(print(planWithin(nodes).value()), "0 1 2 3");
}

// An MMA is issued before the MMA of the previous iteration is awaited and its slot released. Only MMAs use the
// accumulator, so the MMA need not wait.
TEST(MmaSchedule, inFlight) {
  std::vector<LoopNode> nodes = {
      make(Kind::light),         // 0: the slot
      make(Kind::mma, {0}, {2}), // 1
      make(Kind::await, {1}),    // 2
      make(Kind::other),         // 3
      make(Kind::release, {2}),  // 4
  };
  EXPECT_FALSE(planInFlight(nodes));
  nodes[1].accumulates = true;
  std::optional<MmaSchedule> schedule = planInFlight(nodes);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(print(*schedule), "0' 1' 2'' 4'' 3'");
  EXPECT_FALSE(planWithin(nodes));
}

// The registers of a left operand are in use until the MMA is awaited; the right operand is stored meanwhile.
TEST(MmaSchedule, inFlightUntilLeftOperand) {
  std::vector<LoopNode> nodes = {
      make(Kind::light),               // 0: the slot
      make(Kind::other, {0}),          // 1: the right operand
      make(Kind::other, {0}),          // 2: the left one
      make(Kind::mma, {1, 2}, {4}, 2), // 3
      make(Kind::await, {3}),          // 4
  };
  nodes[3].accumulates = true;
  EXPECT_EQ(print(planInFlight(nodes).value()), "0' 1' 4'' 2' 3'");
}

// A condition decides whether the slot is released in this iteration.
TEST(MmaSchedule, negative_inFlight) {
  std::vector<LoopNode> nodes = {make(Kind::mma, {}, {1}), make(Kind::await, {0}), make(Kind::other, {1})};
  nodes[0].accumulates = true;
  EXPECT_FALSE(planInFlight(nodes));
}

// An operation that orders memory keeps everything in its iteration.
TEST(MmaSchedule, negative_order) {
  std::vector<LoopNode> nodes = attention();
  nodes.push_back(make(Kind::order, {9}));
  EXPECT_FALSE(planAhead(nodes, oneGroup));
}

// Overlaps as many MMAs as fit; MMAs of one warp group are issued together if they take long.
TEST(MmaSchedule, planLoop) {
  std::vector<LoopNode> nodes = attention();
  auto always = [](const MmaSchedule &) { return true; };
  auto never = [](const MmaSchedule &) { return false; };
  auto notAhead = [&](const MmaSchedule &schedule) { return schedule != *planAhead(nodes, oneGroup); };
  EXPECT_EQ(planLoop(nodes, {}, always)->order, *planAhead(nodes, oneGroup));
  EXPECT_EQ(planLoop(nodes, {.takesLong = true}, notAhead)->order, *planAhead(nodes, {.lateFirst = true}));
  EXPECT_EQ(planLoop(nodes, {}, notAhead)->overlap, MmaOverlap::withinIteration);
  EXPECT_EQ(planLoop(nodes, {.groupsKeepBusy = true}, never)->print(), "0 2 1 3 4 5 6 7 8 9 10");
  EXPECT_EQ(planLoop(nodes, {.groupsKeepBusy = true}, always)->order, *planAhead(nodes, {}));
  // The second MMA adds to its accumulator, which is not scaled.
  nodes[7] = make(Kind::other, {5});
  nodes[8].needsPrevious = {9};
  EXPECT_EQ(planLoop(nodes, {.groupsKeepBusy = true}, always)->order,
            *planAhead(nodes, {.operandsLate = true, .lateFirst = true}));

  std::vector<LoopNode> one = {make(Kind::mma, {}, {1}), make(Kind::await, {0})};
  EXPECT_FALSE(planLoop(one, {.takesLong = true}, always));
  one[0].accumulates = true;
  EXPECT_EQ(planLoop(one, {}, always)->overlap, MmaOverlap::nextMmas);
  EXPECT_FALSE(planLoop(one, {}, never));
}
