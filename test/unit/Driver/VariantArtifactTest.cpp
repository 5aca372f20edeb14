// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which variants are kept in an artifact.
#include "Driver/VariantArtifact.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile;
using namespace tile::driver;

namespace {

/// Returns incompressible bytes.
std::string noise(unsigned seed, size_t size) {
  std::mt19937 random(seed);
  std::string bytes(size, 0);
  for (char &byte : bytes)
    byte = char(random());
  return bytes;
}

MadeVariant makeVariant(const std::string &name, const std::string &image, int64_t divisibility, size_t rank,
                        const std::string &target = "sm_90a") {
  MadeVariant made;
  runtime::Manifest &manifest = made.packed.manifest;
  manifest.kernel = manifest.entry = "k";
  manifest.target = target;
  manifest.format = "cubin";
  manifest.variant = name;
  manifest.parameters.push_back({"x", runtime::DataType::F32, /*isPointer=*/true, 1, 1, {}, {}});
  manifest.parameters.push_back({"n", runtime::DataType::I32, /*isPointer=*/false, 1, divisibility, {}, {}});
  manifest.launch.threadsPerCta = 128;
  manifest.launch.grid = {"n"};
  made.packed.image = image;
  made.rank = rank;
  return made;
}

std::string namesOf(const std::vector<MadeVariant> &made) {
  std::string names;
  for (const MadeVariant &variant : made)
    names += (names.empty() ? "" : " ") + variant.packed.manifest.variant;
  return names;
}

} // namespace

TEST(VariantArtifact, dropsTheSameCodeWithMorePromises) {
  std::vector<MadeVariant> made = {makeVariant("general", "A", 1, 0), makeVariant("by8", "A", 8, 1),
                                   makeVariant("by16", "B", 16, 2), makeVariant("by4", "B", 4, 3)};
  std::vector<SkippedVariant> skipped;
  dropRedundant(made, skipped);
  EXPECT_EQ(namesOf(made), "general by16 by4"); // by4 assumes less than by16
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].name, "by8");
  EXPECT_EQ(skipped[0].why, "the same code as general");
}

TEST(VariantArtifact, keepsTheSameCodeThatIsLaunchedInAnotherWay) {
  std::vector<MadeVariant> made = {makeVariant("general", "A", 1, 0), makeVariant("wide", "A", 8, 1),
                                   makeVariant("general", "A", 1, 0, "sm_80")};
  made[1].packed.manifest.launch.grid = {"n // 2"};
  std::vector<SkippedVariant> skipped;
  dropRedundant(made, skipped);
  EXPECT_EQ(namesOf(made), "general wide general");
  EXPECT_TRUE(skipped.empty());
}

TEST(VariantArtifact, fitsToAnyBudget) {
  std::vector<MadeVariant> all;
  for (const char *target : {"sm_80", "sm_90a"})
    for (size_t rank = 0; rank < 6; ++rank)
      all.push_back(makeVariant(rank == 0 ? "general" : "v" + std::to_string(rank),
                                noise(unsigned(all.size()), 1000 * (rank + 1)), 1, rank, target));
  size_t whole = writeArtifact(all, EmitKind::Tilepack)->size();
  size_t most = 0;
  for (size_t budget = whole + 100; budget > 4000; budget -= 700) {
    std::vector<MadeVariant> made = all;
    std::vector<SkippedVariant> skipped;
    llvm::Expected<std::string> artifact = fitToBudget(made, EmitKind::Tilepack, budget, skipped);
    ASSERT_TRUE(bool(artifact));
    EXPECT_LE(artifact->size(), budget);
    EXPECT_EQ(*artifact, *writeArtifact(made, EmitKind::Tilepack));
    EXPECT_EQ(made.size() + skipped.size(), all.size());
    // One more variant would not fit.
    std::vector<MadeVariant> larger = all;
    llvm::erase_if(larger, [&](const MadeVariant &variant) {
      const runtime::Manifest &manifest = variant.packed.manifest;
      return llvm::any_of(llvm::ArrayRef(skipped).drop_front(skipped.empty() ? 0 : 1), [&](const SkippedVariant &left) {
        return left.name == manifest.variant && left.target == manifest.target;
      });
    });
    EXPECT_TRUE(skipped.empty() || writeArtifact(larger, EmitKind::Tilepack)->size() > budget);
    most = std::max(most, made.size());
  }
  EXPECT_EQ(most, all.size());
}

TEST(VariantArtifact, leavesOutTheLastPlansOfEveryTarget) {
  std::vector<MadeVariant> made;
  for (const char *target : {"sm_80", "sm_90a"})
    for (size_t rank = 0; rank < 3; ++rank)
      made.push_back(makeVariant("v" + std::to_string(rank), noise(unsigned(made.size()), 10000), 1, rank, target));
  std::vector<SkippedVariant> skipped;
  ASSERT_TRUE(bool(fitToBudget(made, EmitKind::Tilepack, 45000, skipped)));
  EXPECT_EQ(namesOf(made), "v0 v1 v0 v1");
  EXPECT_EQ(skipped[0].why, "the artifact would exceed 45000 bytes");
}

TEST(VariantArtifact, keepsNeededVariants) {
  std::vector<MadeVariant> made = {makeVariant("general", noise(1, 10000), 1, 0),
                                   makeVariant("fast", noise(2, 10000), 8, 1),
                                   makeVariant("general-2", noise(3, 10000), 1, 2)};
  made[2].isNeeded = true;
  std::vector<SkippedVariant> skipped;
  ASSERT_TRUE(bool(fitToBudget(made, EmitKind::Tilepack, 25000, skipped)));
  EXPECT_EQ(namesOf(made), "general general-2");
  llvm::Expected<std::string> artifact = fitToBudget(made, EmitKind::Tilepack, 15000, skipped);
  ASSERT_FALSE(bool(artifact));
  EXPECT_TRUE(llvm::StringRef(toString(artifact.takeError())).contains("with only its general variants"));
}

TEST(VariantArtifact, saysThatTheGeneralVariantsAreTooLarge) {
  std::vector<MadeVariant> made = {makeVariant("general", noise(1, 5000), 1, 0),
                                   makeVariant("by8", noise(2, 10), 8, 1)};
  std::vector<SkippedVariant> skipped;
  llvm::Expected<std::string> artifact = fitToBudget(made, EmitKind::Tilepack, 1000, skipped);
  ASSERT_FALSE(bool(artifact));
  llvm::Error error = artifact.takeError();
  EXPECT_TRUE(error.isA<BudgetError>());
  EXPECT_TRUE(llvm::StringRef(toString(std::move(error))).ends_with("but --variants-budget allows 1000"));
}
