// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text forms.

#include "Layout/Print.h"

#include "RandomLayouts.h"

#include <gtest/gtest.h>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

std::string parseError(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse(text, &error)) << text;
  return error;
}

} // namespace

TEST(Print, TextOfADistributedAndASharedLayout) {
  EXPECT_EQ(toString(LinearLayout::distributed({1, 2}, {4, 8, 16, 32, 0}, {}, {2, 32})),
            "[2, 32], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [0, 0]], warp = []");
  EXPECT_EQ(toString(LinearLayout::shared({1, 2}, {4})), "[4], offset = [[1], [2]]");
}

TEST(Print, ParseUndoesPrint) {
  RandomLayouts random(71);
  for (int round = 0; round < 50; ++round) {
    LinearLayout layout = random.distributed(random.shape(1 + random.below(4), 9), random.below(4), 1, true);
    EXPECT_EQ(parse(toString(layout), nullptr), layout);
  }
  LinearLayout scalar = LinearLayout::distributed({}, {0, 0, 0, 0, 0}, {0}, {});
  EXPECT_EQ(parse(toString(scalar), nullptr), scalar);
}

TEST(Print, ParseIgnoresSpaces) {
  EXPECT_EQ(parse(" [4] ,offset=[ [1],[2 ] ]\n", nullptr), LinearLayout::shared({1, 2}, {4}));
}

TEST(Print, negative_ParseSaysWhereAndWhat) {
  EXPECT_EQ(parseError(""), "found the end at byte 0 of the layout, expected '['");
  EXPECT_EQ(parseError("[4"), "found the end at byte 2 of the layout, expected ','");
  EXPECT_EQ(parseError("[4, x]"), "found 'x' at byte 4 of the layout, expected a non-negative integer");
  EXPECT_EQ(parseError("[4] offset"), "found 'o' at byte 4 of the layout, expected ','");
  EXPECT_EQ(parseError("[4], = []"), "found '=' at byte 5 of the layout, expected the name of an input dimension");
  EXPECT_EQ(parseError("[4], offset [1]"), "found '[' at byte 12 of the layout, expected '='");
  EXPECT_EQ(parseError("[4], offset = [1]"), "found '1' at byte 15 of the layout, expected '['");
  EXPECT_EQ(parseError("[4], offset = [[-1]]"), "found '-' at byte 16 of the layout, expected a non-negative integer");
  EXPECT_EQ(parseError("[4], offset = [[1],]"), "found ']' at byte 19 of the layout, expected '['");
  EXPECT_EQ(parseError("[99999999999999999999]"), "found '9' at byte 10 of the layout, expected an integer below 2^31");
  EXPECT_EQ(parseError("[5]"), "dimension 0 of [5] is 5, expected a power of two up to 2^30");
  EXPECT_EQ(parseError("[4], offset = [[1, 1]]"),
            "basis 0 of 'offset' has 2 coordinates but the shape has 1 dimensions");
}

TEST(PrintTable, NamesTheOwnerOfEveryElement) {
  LinearLayout layout = LinearLayout::distributed({1}, {2, 4, 0, 0, 0}, {8}, {2, 8});
  EXPECT_EQ(printTable(layout), "tensor [2, 8], each cell is warp:lane:register+copies\n"
                                "             0       1       2       3       4       5       6       7\n"
                                "    0: 0:0:0+7 0:0:1+7 0:1:0+7 0:1:1+7 0:2:0+7 0:2:1+7 0:3:0+7 0:3:1+7\n"
                                "    1: 1:0:0+7 1:0:1+7 1:1:0+7 1:1:1+7 1:2:0+7 1:2:1+7 1:3:0+7 1:3:1+7\n");
}

TEST(PrintTable, OffsetsOfABuffer) {
  EXPECT_EQ(printTable(LinearLayout::shared({1, 6, 4}, {2, 4})), "tensor [2, 4], each cell is offset\n"
                                                                 "       0 1 2 3\n"
                                                                 "    0: 0 1 6 7\n"
                                                                 "    1: 4 5 2 3\n");
}

TEST(PrintTable, CutsLargeTensorsAndSlicesHigherRanks) {
  LinearLayout layout = LinearLayout::shared({1, 2, 4, 8}, {2, 2, 4});
  EXPECT_EQ(printTable(layout, 3, 2), "tensor [2, 2, 4], each cell is offset\n"
                                      "slice [0]\n"
                                      "       0 1\n"
                                      "    0: 0 1\n"
                                      "    1: 4 5\n"
                                      "slice [1]\n"
                                      "       0 1\n"
                                      "    0: 8 9\n"
                                      "cut to 3 of 4 rows and 2 of 4 columns\n");
}

TEST(PrintTable, ScalarAndHoles) {
  EXPECT_EQ(printTable(LinearLayout::shared({}, {})), "tensor [], each cell is offset\n"
                                                      "       0\n"
                                                      "    0: 0\n");
  EXPECT_EQ(printTable(LinearLayout::shared({2}, {4})), "tensor [4], each cell is offset\n"
                                                        "       0 1 2 3\n"
                                                        "    0: 0 - 1 -\n");
}
