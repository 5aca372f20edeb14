// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of cards: what is written is read, and each mistake is named with its line.
#include "Target/Card/Card.h"
#include "Target/GpuTarget.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tile::target;

namespace {

constexpr std::string_view properties = "tile-card 1\nname\tNVIDIA X\ncapability\t8.9\nmultiprocessors\t58\t-\n";

Card read(const std::string &text) {
  CardResult result = parseCard(text);
  EXPECT_TRUE(result.card) << result.error;
  return result.card.value_or(Card());
}

/// Returns the error of a file with this line after the properties.
std::string errorOf(std::string_view line) {
  return parseCard(std::string(properties) + std::string(line) + "\n").error;
}

/// Returns the card that was measured last.
Card measuredCard() {
  std::ifstream file(TILE_CARD);
  std::stringstream text;
  text << file.rdbuf();
  return read(text.str());
}

TEST(Card, readsWhatItPrints) {
  const Card card = measuredCard();
  EXPECT_EQ(card.name, "NVIDIA H200");
  EXPECT_GT(card.figures.wgmmaF16, card.figures.mmaF16);
  EXPECT_EQ(card.figures.mmaFp8 > 0, card.notes.contains("mma_fp8"));
  EXPECT_EQ(read(printCard(card)), card);
}

TEST(Card, needsNoFiguresOrNotes) {
  const Card card = read(std::string(properties) + "# a comment\n\ndram_read\t300\tB/ns\r\n");
  EXPECT_EQ(card.capability, 89u);
  EXPECT_EQ(card.multiprocessors, 58);
  EXPECT_EQ(card.figures.dramRead, 300);
  EXPECT_FALSE(read(std::string(properties)).isMeasured());
}

TEST(Card, namesTheLineOfEachMistake) {
  EXPECT_EQ(errorOf("speed\t1\tGHz"),
            "line 5: unknown key 'speed'; tile-run tune --calibrate writes those that this version knows");
  EXPECT_EQ(errorOf("clock\t1.5"), "line 5: 'clock' has no unit; expected 'GHz'");
  EXPECT_EQ(errorOf("clock\t1500\tMHz"), "line 5: 'clock' is in 'MHz'; expected 'GHz'");
  EXPECT_EQ(errorOf("clock\t1500\tGHz"), "line 5: 'clock' is 1500 GHz; expected 0.1 to 10");
  EXPECT_EQ(errorOf("clock\tfast\tGHz"), "line 5: 'clock' is 'fast', which is no number");
  EXPECT_EQ(errorOf("clock\tnan\tGHz"), "line 5: 'clock' is 'nan', which is no number");
  EXPECT_EQ(errorOf("clock 1.5 GHz"), "line 5: 'clock 1.5 GHz' has no value: columns are separated by tabs");
  EXPECT_EQ(errorOf("name\tNVIDIA Y"), "line 5: 'name' is there twice");
  EXPECT_EQ(errorOf("clock\t1.5\tGHz\tfew"),
            "line 5: the spread of 'clock' is 'few'; expected per cent of the value, or -");
  EXPECT_EQ(parseCard("tile-card 2\n").error, "line 1: expected 'tile-card 1', not 'tile-card 2'");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\ncapability\tnew\n").error,
            "line 3: 'capability' is 'new'; expected a compute capability such as 9.0");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\nmultiprocessors\t1.5\t-\n").error,
            "line 3: 'multiprocessors' is 1.5; expected a whole number");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\n").error, "line 3: the file ends without 'capability'");
}

TEST(GpuTarget, isFoundByComputeCapability) {
  EXPECT_EQ(findTargetOf(90)->name, "sm_90a");
  EXPECT_EQ(findTargetOf(89)->name, "sm_89");
  EXPECT_EQ(findTargetOf(100)->name, "sm_100a");
  EXPECT_EQ(findTargetOf(103)->name, "sm_103a");
  EXPECT_EQ(findTargetOf(120)->name, "sm_120a");
  EXPECT_EQ(findTargetOf(88)->name, "sm_87") << "whose PTX it runs";
  EXPECT_EQ(findTargetOf(70), nullptr);
}

} // namespace
