// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests tuning tables: text, merging, validity, and their effect on the choice.
#include "Runtime/Artifact.h"
#include "Runtime/Choice.h"
#include "SmallVariants.h"

#include <gtest/gtest.h>

using namespace tile::runtime;
using namespace tile::test;

namespace {

TuningTable smallTable() {
  TuningTable table{"gemm", "sha256:01", "fnv1a64:0", "card", 12080, {"M", "K"}, {}};
  table.entries = {{{512, 512}, "7", "general", 5.5}, {{4096, 512}, "3", "rows-64x64", 7}};
  return table;
}

std::string errorOf(const std::string &from, const std::string &to) {
  std::string text = toJson(smallTable());
  const size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << text;
  Result<TuningTable> table = parseTuning(text.replace(position, from.size(), to));
  return table ? "" : table.error().message;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Tuning, tablesComeBack) {
  const TuningTable table = smallTable();
  Result<TuningTable> read = parseTuning(toJson(table));
  ASSERT_TRUE(bool(read)) << read.error().message;
  EXPECT_EQ(*read, table);
}

TEST(Tuning, textDependsOnContentsAlone) {
  TuningTable table = smallTable();
  std::swap(table.entries[0], table.entries[1]);
  table.entries.push_back({{512, 512}, "7", "general", 6}); // a slower entry for the same sizes
  EXPECT_EQ(toJson(table), toJson(smallTable()));
}

TEST(Tuning, mergeKeepsTheFastest) {
  TuningTable other = smallTable();
  other.driver = 12090;
  other.entries = {{{512, 512}, "7", "general", 4.5}, {{8, 8}, "1", "general", 1}};
  Result<TuningTable> merged = mergeTuning(smallTable(), other);
  ASSERT_TRUE(bool(merged)) << merged.error().message;
  EXPECT_EQ(merged->entries.size(), 3u);
  EXPECT_EQ(merged->driver, 12090);
  EXPECT_EQ(merged->entries[1], (TuningEntry{{512, 512}, "7", "general", 4.5}));
  EXPECT_EQ(toJson(*mergeTuning(other, smallTable())), toJson(*merged));
}

TEST(Tuning, negative_merge) {
  TuningTable other = smallTable();
  other.device = "another card";
  EXPECT_EQ(mergeTuning(smallTable(), other).error().message,
            "tuning tables differ in device: 'card' and 'another card'");
  other = smallTable();
  other.driver = 13000;
  EXPECT_EQ(mergeTuning(smallTable(), other).error().message,
            "tuning tables were measured with a driver for CUDA 12.8 and a driver for CUDA 13.0");
  other = smallTable();
  other.parameters = {"M", "N"};
  EXPECT_TRUE(has(mergeTuning(smallTable(), other).error().message, "different parameters: M, K and M, N"));
}

TEST(Tuning, negative_damagedText) {
  EXPECT_EQ(errorOf("\"schema\": 1", "\"schema\": 2"),
            "tuning table: schema 2 is unknown; this version reads schema 1");
  EXPECT_EQ(errorOf("[512,512]", "[512]"),
            "tuning table: entries[0].sizes: 1 sizes; expected one for each of 2 parameters");
  EXPECT_EQ(errorOf("\"microseconds\": 5.5", "\"microseconds\": -1"),
            "tuning table: entries[0].microseconds: -1 is not a time");
  EXPECT_EQ(errorOf("\"serves\": \"7\"", "\"serves\": \"x\""),
            "tuning table: entries[0].serves: 'x'; expected hexadecimal digits");
  EXPECT_EQ(errorOf("\"device\"", "\"other\""), "tuning table: device: is missing");
  const std::string text = toJson(smallTable());
  for (size_t size = 0; size + 1 < text.size(); ++size)
    EXPECT_FALSE(bool(parseTuning(text.substr(0, size)))) << size;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 0x11;
    (void)parseTuning(damaged); // must not crash
  }
}

TEST(Tuning, transferToFewerVariants) {
  const std::vector<PackedVariant> variants = smallVariants();
  std::vector<PackedVariant> measured = variants;
  for (size_t i = 0; i < 2; ++i) {
    PackedVariant alternative = variants[i];
    alternative.manifest.variant += "+warps.2";
    alternative.manifest.isAlternative = true;
    measured.insert(measured.begin() + 1, alternative);
  }
  Result<Pack> all = Pack::read(bytesOf(*writePack(measured)));
  ASSERT_TRUE(bool(all)) << all.error().message;
  TuningTable table = smallTable();
  table.kernel = all->manifest(0).kernel;
  table.source = all->manifest(0).sourceHash;
  table.variants = namesOfVariants(*all);
  const std::string chosen = measured[1].manifest.variant;
  table.entries = {{{512, 512}, "f", chosen, 5.5}, {{8, 8}, "d", "general", 7}};
  std::vector<PackedVariant> few = variants;
  few.push_back(measured[1]);
  Result<Pack> pack = Pack::read(bytesOf(*writePack(few)));
  ASSERT_TRUE(bool(pack));
  Result<TuningTable> transferred = transferTuning(table, *pack);
  ASSERT_TRUE(bool(transferred)) << transferred.error().message;
  EXPECT_EQ(transferred->pack, pack->hash());
  EXPECT_EQ(transferred->variants, namesOfVariants(*pack));
  EXPECT_EQ(transferred->entries[0], (TuningEntry{{512, 512}, "b", chosen, 5.5}));
  EXPECT_EQ(transferred->entries[1], (TuningEntry{{8, 8}, "3", "general", 7}));

  table.entries = {{{512, 512}, "f", measured[2].manifest.variant, 5.5}};
  EXPECT_EQ(transferTuning(table, *pack).error().message, "none of the variants that it chooses is in the artifact");
  table.variants.pop_back();
  EXPECT_TRUE(has(transferTuning(table, *pack).error().message, "was not measured; tune again"));
  table.source = "sha256:02";
  EXPECT_TRUE(has(transferTuning(table, *pack).error().message, "has changed since it was measured"));
  table.kernel = "other";
  EXPECT_TRUE(has(transferTuning(table, *pack).error().message, "it is for kernel 'other'"));
}

TEST(Tuning, onlyTablesChooseAlternatives) {
  std::vector<PackedVariant> all = smallVariants();
  for (PackedVariant &variant : all)
    variant.manifest.isAlternative = &variant != &all.front();
  std::vector<const Manifest *> manifests;
  for (const PackedVariant &variant : all)
    manifests.push_back(&variant.manifest);
  Result<Chooser> chooser = Chooser::make(manifests);
  ASSERT_TRUE(bool(chooser));
  uint64_t pointer = 0x1000;
  int32_t m = 512, n = 4096, k = 512, lda = 4096;
  void *arguments[] = {&pointer, &pointer, &pointer, &m, &n, &k, &lda};
  const Call call{arguments, nullptr};
  const DeviceVariants untuned = chooser->onDevice({9, 0, 132, 232448, true});
  EXPECT_EQ(chooser->choose(call, untuned).index, 0);
  TuningTable table = smallTable();
  table.entries = {{{512, 512}, chooser->callClass(call, untuned), all[1].manifest.variant, 5.5}};
  Result<std::shared_ptr<const TunedChoice>> tuned = chooser->compile(table);
  ASSERT_TRUE(bool(tuned)) << tuned.error().message;
  EXPECT_EQ(chooser->choose(call, chooser->onDevice({9, 0, 132, 232448, true}, *tuned)).index, 1);
}

TEST(Tuning, hexadecimalSets) {
  VariantSet set;
  EXPECT_EQ(toHex(set), "0");
  set.set(0).set(5).set(1023);
  EXPECT_EQ(parseHex(toHex(set)), set);
  EXPECT_EQ(toHex(*parseHex("1f")), "1f");
  for (const std::string &wrong : {std::string(), std::string("1F"), std::string(257, '1')})
    EXPECT_FALSE(parseHex(wrong)) << wrong;
}

/// Chooses a variant of the GEMM by a table.
class TunedTest : public testing::Test {
protected:
  void SetUp() override {
    for (const PackedVariant &variant : variants)
      manifests.push_back(&variant.manifest);
  }

  Choice choose(const TuningTable &table, int32_t m, int32_t k, int32_t lda = 4096) {
    Result<Chooser> chooser = Chooser::make(manifests);
    EXPECT_TRUE(bool(chooser));
    Result<std::shared_ptr<const TunedChoice>> tuned = chooser->compile(table);
    EXPECT_TRUE(bool(tuned)) << tuned.error().message;
    uint64_t pointer = 0x1000;
    int32_t n = 4096;
    void *arguments[] = {&pointer, &pointer, &pointer, &m, &n, &k, &lda};
    const DeviceVariants device = chooser->onDevice({9, 0, 132, 232448, true}, *tuned);
    const Choice first = chooser->choose({arguments, nullptr}, device);
    const Choice again = chooser->choose({arguments, nullptr}, device); // this time, the choice comes from the memo
    EXPECT_EQ(first.index, again.index);
    EXPECT_EQ(first.isMeasured, again.isMeasured);
    return first;
  }

  std::vector<PackedVariant> variants = smallVariants();
  std::vector<const Manifest *> manifests;
};

TEST_F(TunedTest, exactSizesComeFirst) {
  TuningTable table = smallTable();
  table.entries = {
      {{4096, 4096}, "7", "rows-64x64", 100}, {{4096, 4096}, "7", "general", 90}, {{4097, 4096}, "7", "rows-64x64", 1}};
  const Choice choice = choose(table, 4096, 4096);
  EXPECT_EQ(choice.index, 0);
  EXPECT_TRUE(choice.isMeasured);
  EXPECT_EQ(choice.microseconds, 90);
}

TEST_F(TunedTest, elseTheNearestWithinAFactorOfTwo) {
  TuningTable table = smallTable();
  table.entries = {{{1000, 4096}, "7", "rows-64x64", 10}, {{3000, 4096}, "7", "general", 20}};
  EXPECT_EQ(choose(table, 1200, 4096).index, 2);
  EXPECT_NE(choose(table, 1200, 4096).microseconds, 10); // the time of other sizes is not used
  EXPECT_EQ(choose(table, 2900, 4096).index, 0);
  EXPECT_FALSE(choose(table, 8192, 4096).isMeasured); // the model predicts the time
  EXPECT_EQ(choose(table, 8192, 4096).index, 1);
}

TEST_F(TunedTest, onlyOfCallsThatTheSameVariantsServe) {
  TuningTable table = smallTable();
  table.entries = {{{4096, 4096}, "3", "general", 10}}; // measured where rows-64x64 did not serve
  EXPECT_FALSE(choose(table, 4096, 4096).isMeasured);
  EXPECT_TRUE(choose(table, 4096, 4096, /*lda=*/4104).isMeasured);
  // A variant that does not serve the call is not chosen, whatever the table contains.
  table.entries = {{{4096, 4096}, "3", "rows-64x64", 10}};
  EXPECT_EQ(choose(table, 4096, 4096, /*lda=*/4104).index, 1);
}

TEST_F(TunedTest, withoutAModelTheNearestOfAll) {
  for (PackedVariant &variant : variants)
    variant.manifest.cost.reset();
  TuningTable table = smallTable();
  table.entries = {{{16, 16}, "7", "general", 10}, {{1, 1}, "7", "rows-64x64", 10}};
  EXPECT_EQ(choose(table, 4096, 4096).index, 0);
  EXPECT_TRUE(choose(table, 4096, 4096).isMeasured);
}

TEST_F(TunedTest, integersOfTheTableAreRemembered) {
  // The choice depends on this size only through the table.
  for (PackedVariant &variant : variants)
    variant.manifest.parameters.insert(variant.manifest.parameters.begin(),
                                       {"mode", DataType::I32, false, 1, 1, {}, {}});
  TuningTable table = smallTable();
  table.parameters = {"mode"};
  table.entries = {{{1}, "7", "general", 1}, {{2}, "7", "rows-64x64", 1}};
  Result<Chooser> chooser = Chooser::make(manifests);
  ASSERT_TRUE(bool(chooser));
  const DeviceVariants device = chooser->onDevice({9, 0, 132, 0, true}, *chooser->compile(table));
  uint64_t pointer = 0;
  int32_t size = 4096, mode = 0;
  void *arguments[] = {&mode, &pointer, &pointer, &pointer, &size, &size, &size, &size};
  for (int i = 0; i < 4; ++i) {
    mode = 1 + i % 2;
    EXPECT_EQ(chooser->choose({arguments, nullptr}, device).index, mode == 1 ? 0 : 2);
  }
}

TEST_F(TunedTest, negative_tablesOfOtherKernels) {
  Result<Chooser> chooser = Chooser::make(manifests);
  TuningTable table = smallTable();
  table.parameters = {"M", "Q"};
  EXPECT_EQ(chooser->compile(table).error().message, "tuning table: 'Q' is not an integer parameter of kernel 'gemm'");
  table = smallTable();
  table.entries[0].variant = "odd";
  EXPECT_EQ(chooser->compile(table).error().message, "tuning table: kernel 'gemm' has no variant 'odd'");
}

TEST(Tuning, insideOfArtifacts) {
  const std::string tilepack = *writePack(smallVariants());
  std::vector<PackedVariant> variants = smallVariants();
  variants[0].image.clear();
  const std::string cubin = *appendVariants(bytesOf(smallElf()), variants);
  for (const std::string &artifact : {tilepack, cubin}) {
    TuningTable table = smallTable();
    EXPECT_TRUE(has(withTuning(bytesOf(artifact), table).error().message, "other variants of kernel 'gemm'"));
    table.pack = readArtifact(bytesOf(artifact))->pack->hash();
    Result<std::string> tuned = withTuning(bytesOf(artifact), table);
    ASSERT_TRUE(bool(tuned)) << tuned.error().message;
    TuningTable other = table;
    other.device = "another card";
    Result<std::string> both = withTuning(bytesOf(*tuned), other);
    ASSERT_TRUE(bool(both));
    EXPECT_EQ(*withTuning(bytesOf(*withTuning(bytesOf(artifact), other)), table), *both);
    EXPECT_EQ(*withTuning(bytesOf(*both), table), *both); // instead of the one for the same card
    const std::vector<Result<std::string>> texts = readArtifact(bytesOf(*both))->pack->tuning();
    ASSERT_EQ(texts.size(), 2u);
    EXPECT_EQ(*parseTuning(*texts[1]), table);
    EXPECT_EQ(selectVariant(*readArtifact(bytesOf(*both)), 1)->image, "image of aligned");
  }
  const std::string one = *appendManifestSection(bytesOf(smallElf()), toJson(gemmManifest("general")));
  EXPECT_EQ(withTuning(bytesOf(one), smallTable()).error().message,
            "kernel 'gemm' has one variant; there is nothing to choose");
}

} // namespace
