// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of cards: what is written is read, and each mistake is named with its line. Constants follow from figures.
#include "Target/Card/CardTarget.h"
#include "Target/CostModel.h"

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

TEST(Card, readsWhatItPrints) {
  Card card = referenceCard();
  card.driver = "CUDA 13.0";
  card.date = "2026-12-01";
  card.notes["clock"] = {0.5, "fma.rn.f32; 9 launches"};
  for (const CardFigure &figure : cardFigures())
    if (card.figures.*figure.member > 0)
      card.notes[std::string(figure.key)];
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
            "line 5: unknown key 'speed'; tile-run tune --calibrate writes all keys that this version knows");
  EXPECT_EQ(errorOf("clock\t1.5"), "line 5: 'clock' has no unit; expected 'GHz'");
  EXPECT_EQ(errorOf("clock\t1500\tMHz"), "line 5: 'clock' is in 'MHz'; expected 'GHz'");
  EXPECT_EQ(errorOf("clock\t1500\tGHz"), "line 5: 'clock' is 1500 GHz; expected 0.1 to 10");
  EXPECT_EQ(errorOf("clock\tfast\tGHz"), "line 5: 'clock' is 'fast', which is not a number");
  EXPECT_EQ(errorOf("clock\tnan\tGHz"), "line 5: 'clock' is 'nan', which is not a number");
  EXPECT_EQ(errorOf("clock 1.5 GHz"), "line 5: 'clock 1.5 GHz' has no value: columns are separated by tabs");
  EXPECT_EQ(errorOf("name\tNVIDIA Y"), "line 5: 'name' occurs twice");
  EXPECT_EQ(errorOf("clock\t1.5\tGHz\tfew"),
            "line 5: the spread of 'clock' is 'few'; expected a percentage of the value, or -");
  EXPECT_EQ(parseCard("tile-card 2\n").error, "line 1: expected 'tile-card 1', not 'tile-card 2'");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\ncapability\tnew\n").error,
            "line 3: 'capability' is 'new'; expected a compute capability such as 9.0");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\nmultiprocessors\t1.5\t-\n").error,
            "line 3: 'multiprocessors' is 1.5; expected a whole number");
  EXPECT_EQ(parseCard("tile-card 1\nname\tX\n").error, "line 3: the file ends without 'capability'");
}

TEST(CardTarget, referenceIsTheMeasuredCard) {
  std::ifstream file(TILE_CARD);
  std::stringstream text;
  text << file.rdbuf();
  const Card measured = read(text.str()), &reference = referenceCard();
  EXPECT_EQ(measured.name, reference.name);
  EXPECT_EQ(measured.multiprocessors, reference.multiprocessors);
  EXPECT_EQ(measured.clockGHz, reference.clockGHz);
  EXPECT_EQ(measured.memory, reference.memory);
  EXPECT_EQ(measured.l2Bytes, reference.l2Bytes);
  for (const CardFigure &figure : cardFigures())
    if (measured.figures.*figure.member > 0)
      EXPECT_EQ(measured.figures.*figure.member, reference.figures.*figure.member) << figure.key;
}

TEST(CardTarget, referenceHasTheConstantsOfTheTable) {
  const GpuTarget &table = measuredTarget(), &card = targetOf(table, referenceCard());
  const std::vector<TunedConstant> expected = listTuned(table), derived = listTuned(card);
  ASSERT_EQ(expected.size(), derived.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_DOUBLE_EQ(derived[i].value, expected[i].value) << expected[i].name;
  EXPECT_DOUBLE_EQ(ratesOf(card).multiplyAdds16, ratesOf(table).multiplyAdds16);
  EXPECT_DOUBLE_EQ(ratesOf(card).memory, ratesOf(table).memory);
}

TEST(CardTarget, constantsFollowFromFigures) {
  const GpuTarget &table = measuredTarget();
  Card card = referenceCard();
  card.name = "half";
  card.multiprocessors = 66;
  card.figures.dramRead /= 2;
  card.figures.wgmmaF16 *= 2;
  const GpuTarget &gpu = targetOf(table, card);
  EXPECT_EQ(gpu.numSms, 66u);
  EXPECT_EQ(gpu.deviceName, "half");
  EXPECT_DOUBLE_EQ(tunedOf(gpu).wgmma.memory, tunedOf(table).wgmma.memory / 2);
  EXPECT_DOUBLE_EQ(tunedOf(gpu).wgmma.writes, tunedOf(table).wgmma.writes);
  EXPECT_DOUBLE_EQ(ratesOf(gpu).multiplyAdds(16), 2 * ratesOf(table).multiplyAdds(16));
  EXPECT_EQ(&targetOf(table, card), &gpu) << "equal cards share a target";
  EXPECT_TRUE(isMeasured(gpu));
}

TEST(CardTarget, propertiesAloneScaleConstants) {
  Card card = read(std::string(properties) + "memory_rate\t240.7\tB/ns\nl2\t31457280\tbytes\nclock_rate\t1.98\tGHz\n");
  const GpuTarget *gpu = findTarget("sm_89", card);
  EXPECT_FALSE(isMeasured(*gpu));
  EXPECT_DOUBLE_EQ(tunedOf(*gpu).mmaSyncByCopies.memory, tunedOf(measuredTarget()).mmaSyncByCopies.memory / 20);
  EXPECT_DOUBLE_EQ(tunedOf(*gpu).l2Bytes, tunedOf(measuredTarget()).l2Bytes / 2);
  EXPECT_DOUBLE_EQ(ratesOf(*gpu).multiplyAdds(16), 256);
  EXPECT_EQ(findTarget("sm_80", card), findTarget("sm_80")) << "another compute capability";
}

// Cards as their drivers report them, with the rate of f16 tensor cores of their data sheets.
TEST(CardTarget, mmaSyncKernelsHaveThePowerOfMmaSync) {
  struct Row {
    const char *target;
    double multiprocessors, clockGHz, memory, l2Bytes, mmaF16, power;
  };
  constexpr Row rows[] = {
      {"sm_80", 108, 1.41, 2039, 40 << 20, 1024, 281e3},  // A100
      {"sm_89", 142, 2.52, 864, 96 << 20, 512, 330e3},    // L40S
      {"sm_89", 128, 2.52, 1008, 72 << 20, 256, 149e3},   // RTX 4090
      {"sm_120", 170, 2.41, 1792, 96 << 20, 256, 189e3},  // RTX 5090
      {"sm_120", 188, 2.617, 1792, 96 << 20, 512, 454e3}, // RTX PRO 6000
  };
  for (const Row &row : rows) {
    const GpuTarget &table = *findTarget(row.target);
    Card card;
    card.name = "X";
    card.capability = table.capability;
    card.multiprocessors = row.multiprocessors;
    card.clockGHz = row.clockGHz;
    card.memory = row.memory;
    card.l2Bytes = row.l2Bytes;
    card.figures.mmaF16 = row.mmaF16;
    const GpuTarget &gpu = targetOf(table, card);
    EXPECT_NEAR(tunedOf(gpu).mmaSyncByCopies.power / row.power, 1, 0.01) << row.target;
    EXPECT_DOUBLE_EQ(ratesOf(gpu).ofMmaSync16, row.mmaF16) << row.target;
    const GemmConfig chosen = rankGemmConfigs(gpu, {}).front().config;
    EXPECT_GE(chosen.blockM * chosen.blockN, 64 * 64u) << row.target << ", " << row.multiprocessors;
  }
  // A card with wgmma: kernels of both kinds follow what it sustains.
  Card card = referenceCard();
  card.figures.sustainedF16 /= 2;
  const GpuTarget &gpu = targetOf(measuredTarget(), card);
  EXPECT_DOUBLE_EQ(tunedOf(gpu).wgmma.power, tunedOf(measuredTarget()).wgmma.power / 2);
  EXPECT_DOUBLE_EQ(tunedOf(gpu).mmaSyncByCopies.power, tunedOf(measuredTarget()).mmaSyncByCopies.power / 2);
}

TEST(CardTarget, saysWhereConstantsComeFrom) {
  EXPECT_TRUE(describeConstants(measuredTarget()).starts_with("measured on H100, H200"));
  EXPECT_TRUE(describeConstants(*findTarget("sm_89")).starts_with("modelled: no constants were measured on RTX 4090"));
  Card card = read(std::string(properties));
  EXPECT_TRUE(describeConstants(*findTarget("sm_89", card)).starts_with("modelled from the properties of NVIDIA X;"));
  card.date = "2026-12-01";
  card.figures.dramRead = 300;
  EXPECT_TRUE(describeConstants(*findTarget("sm_89", card))
                  .starts_with("measured on NVIDIA X, 2026-12-01: 1 figures, from which 5 constants follow; "))
      << describeConstants(*findTarget("sm_89", card));
}

TEST(CardTarget, choicesDependOnTheCard) {
  GemmProblem problem{.m = 1024, .n = 1024, .k = 1024, .element = MmaType::F16, .outputBytes = 2};
  problem.tensorMaps = problem.asyncCopies = true;
  problem.anyBlockSize = true;
  auto choose = [&](const Card &card) {
    return rankGemmConfigs(targetOf(measuredTarget(), card), problem, {}).front();
  };
  const GemmEstimate normal = choose(referenceCard());
  EXPECT_EQ(normal.config, rankGemmConfigs(measuredTarget(), problem, {}).front().config);
  EXPECT_EQ(normal.config.blockM * normal.config.blockN, 64 * 128u) << "one tile for each multiprocessor";
  Card card = referenceCard();
  card.figures.l2Read /= 4;
  GemmEstimate other = choose(card);
  EXPECT_EQ(other.config.blockM * other.config.blockN, 128 * 128u) << "larger tiles read less from a slow L2";
  EXPECT_GT(other.microseconds, normal.microseconds);
  card = referenceCard();
  card.multiprocessors = 66;
  other = choose(card);
  EXPECT_EQ(other.config.blockM * other.config.blockN, 128 * 128u) << "one tile for each multiprocessor";
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
