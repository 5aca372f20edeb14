// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spills in machine code.
#include "Codegen/SpillPlaces.h"

#include "CubinText.h"

#include <gtest/gtest.h>

using namespace tile::codegen;

namespace {

constexpr Words store{0x0000000201007387, 0x000fe80000100800}; // STL [R1], R2
constexpr Words load{0x0000000001027983, 0x000ea80000100800};  // LDL R2, [R1]

} // namespace

TEST(SpillPlaces, areFoundOutsideOfLoops) {
  EXPECT_TRUE(spillsHardlyInLoops(makeCubin({store, other, other, branch(-2), load}), 4));
  // Branches forward, and to the end.
  EXPECT_TRUE(spillsHardlyInLoops(makeCubin({branch(2), other, store, other, branch(-1), branch(0)}), 4));
}

TEST(SpillPlaces, negative_inLoops) {
  EXPECT_FALSE(spillsHardlyInLoops(makeCubin({store, other, load, branch(-2), other}), 4));
  EXPECT_FALSE(spillsHardlyInLoops(makeCubin({other, store, branch(-1), load}), 4));
}

TEST(SpillPlaces, codeWithoutLoopsIsOne) {
  EXPECT_FALSE(spillsHardlyInLoops(makeCubin({store, other, branch(0)}), 4));
  std::vector<Words> code(220, other);
  code.push_back(store);
  EXPECT_TRUE(spillsHardlyInLoops(makeCubin(code), 4));
}

TEST(SpillPlaces, fewOfALongLoopAreNone) {
  auto loopOf = [](size_t loads, size_t others) {
    std::vector<Words> code(loads, load);
    code.insert(code.end(), others, other);
    code.push_back(branch(-int64_t(loads + others)));
    return makeCubin(code);
  };
  EXPECT_TRUE(spillsHardlyInLoops(loopOf(2, 220), 4));
  EXPECT_FALSE(spillsHardlyInLoops(loopOf(2, 220), 0));
  EXPECT_FALSE(spillsHardlyInLoops(loopOf(2, 150), 4));
  EXPECT_FALSE(spillsHardlyInLoops(loopOf(5, 900), 4));
}

TEST(SpillPlaces, negative_whatIsNotUnderstood) {
  EXPECT_FALSE(spillsHardlyInLoops(makeCubin({other, other}), 4)); // the code spills by other instructions
  EXPECT_FALSE(spillsHardlyInLoops("", 4));
  EXPECT_FALSE(spillsHardlyInLoops("PTX", 4));
  std::string cut = makeCubin({store, load});
  EXPECT_FALSE(spillsHardlyInLoops(llvm::StringRef(cut).drop_back(30), 4));
}
