// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs: round trips, and damage of every kind, which is an error that says where.
#include "Runtime/Artifact.h"
#include "Runtime/Zstd.h"
#include "SmallVariants.h"

#include <gtest/gtest.h>

using namespace tile::runtime;
using namespace tile::test;

namespace {

std::string packOf(const std::vector<PackedVariant> &variants) {
  Result<std::string> pack = writePack(variants);
  EXPECT_TRUE(bool(pack)) << pack.error().message;
  return pack ? *pack : "";
}

std::string cubinOf(std::vector<PackedVariant> variants) {
  const std::string elf = variants[0].image;
  variants[0].image.clear();
  Result<std::string> cubin = appendVariants(bytesOf(elf), variants);
  EXPECT_TRUE(bool(cubin)) << cubin.error().message;
  return cubin ? *cubin : "";
}

/// Reads everything; returns the first error, or "".
std::string errorOf(const std::string &bytes) {
  Result<Artifact> artifact = readArtifact(bytesOf(bytes));
  if (!artifact)
    return artifact.error().message;
  for (size_t i = 0; i < variantCount(*artifact); ++i)
    if (Result<Artifact> variant = selectVariant(*artifact, i); !variant)
      return variant.error().message;
  return "";
}

std::string writeError(const std::vector<PackedVariant> &variants) {
  Result<std::string> pack = writePack(variants);
  return pack ? "" : pack.error().message;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

void expectVariants(const std::string &bytes, const std::vector<PackedVariant> &expected) {
  Result<Artifact> artifact = readArtifact(bytesOf(bytes));
  ASSERT_TRUE(bool(artifact)) << artifact.error().message;
  ASSERT_EQ(variantCount(*artifact), expected.size());
  EXPECT_EQ(artifact->manifest.variant, "general");
  for (size_t i = 0; i < expected.size(); ++i) {
    Result<Artifact> variant = selectVariant(*artifact, i);
    ASSERT_TRUE(bool(variant)) << variant.error().message;
    EXPECT_EQ(variant->manifestText, toJson(expected[i].manifest));
    EXPECT_EQ(toJson(variant->manifest), toJson(expected[i].manifest));
    if (i > 0)
      EXPECT_EQ(variant->image, expected[i].image);
    EXPECT_EQ(variant->ptx, expected[i].ptx);
    EXPECT_FALSE(variant->pack);
    Result<size_t> found = findVariant(*artifact, expected[i].manifest.variant);
    ASSERT_TRUE(bool(found));
    EXPECT_EQ(*found, i);
  }
}

TEST(Pack, allVariantsComeBack) {
  const std::vector<PackedVariant> variants = smallVariants();
  const std::string pack = packOf(variants);
  expectVariants(pack, variants);
  EXPECT_EQ(selectVariant(*readArtifact(bytesOf(pack)), 0)->image, variants[0].image);
}

TEST(Pack, cubinIsTheElfOfTheFirstVariant) {
  const std::vector<PackedVariant> variants = smallVariants();
  const std::string cubin = cubinOf(variants);
  expectVariants(cubin, variants);
  EXPECT_EQ(selectVariant(*readArtifact(bytesOf(cubin)), 0)->image, cubin);   // the bytes that the driver loads
  EXPECT_EQ(cubin.substr(64, smallElf().size() - 64), smallElf().substr(64)); // after the header, whose offsets change
  EXPECT_EQ(*findPtx(*readArtifact(bytesOf(cubin))), "PTX of general");
  EXPECT_EQ(*findElfSection(bytesOf(cubin), manifestSectionName), toJson(variants[0].manifest));
  EXPECT_FALSE(hasElfSection(bytesOf(cubin), ptxSectionName));
}

TEST(Pack, oneVariantNeedsNoPack) {
  const std::vector<PackedVariant> variants = {{gemmManifest("general"), smallElf(), "PTX"}};
  EXPECT_EQ(cubinOf(variants), *appendManifestSection(bytesOf(smallElf()), toJson(variants[0].manifest), "PTX"));
}

TEST(Pack, equalImagesAreStoredOnce) {
  std::vector<PackedVariant> variants = smallVariants();
  std::string noise; // incompressible bytes
  for (uint32_t i = 0, state = 1; i < 4096; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  variants[1].image = noise + "1";
  variants[2].image = noise + "2";
  const size_t different = packOf(variants).size();
  variants[2].image = variants[1].image;
  EXPECT_LT(packOf(variants).size() + 4000, different);
  expectVariants(packOf(variants), variants);
}

TEST(Pack, sameVariantsMakeTheSameBytes) {
  EXPECT_EQ(packOf(smallVariants()), packOf(smallVariants()));
  std::vector<PackedVariant> changed = smallVariants();
  const std::string hash = Pack::read(bytesOf(packOf(changed)))->hash();
  changed[1].image += '.';
  EXPECT_NE(Pack::read(bytesOf(packOf(changed)))->hash(), hash);
}

TEST(Pack, targetsMayHaveVariantsOfTheSameName) {
  std::vector<PackedVariant> variants = smallVariants();
  variants.push_back({gemmManifest("general", "sm_80"), "image for sm_80", ""});
  const std::string pack = packOf(variants);
  Result<Artifact> artifact = readArtifact(bytesOf(pack));
  ASSERT_TRUE(bool(artifact));
  EXPECT_EQ(*findVariant(*artifact, "general", "sm_80"), 3u);
  EXPECT_TRUE(has(findVariant(*artifact, "general").error().message, "for sm_90a and sm_80"));
  EXPECT_TRUE(has(findVariant(*artifact, "odd").error().message, "it has general, aligned-128x256, rows-64x64;"));
}

TEST(Pack, aWrongNameIsAnsweredByTheNearestOfMany) {
  std::vector<PackedVariant> variants = smallVariants();
  for (int rows = 16; rows <= 128; rows *= 2)
    variants.push_back({gemmManifest("rows-" + std::to_string(rows) + "x128"), "image", ""});
  const std::string pack = packOf(variants);
  Result<Artifact> artifact = readArtifact(bytesOf(pack));
  ASSERT_TRUE(bool(artifact)) << artifact.error().message;
  const std::string message = findVariant(*artifact, "rows-64x129").error().message;
  EXPECT_TRUE(has(message, "the nearest of its 7 names: rows-64x128, ")) << message;
  EXPECT_FALSE(has(message, "general")) << message;
  EXPECT_TRUE(has(message, "tile-run list-variants prints all")) << message;
}

TEST(Pack, tuningTablesAreReplaced) {
  const std::vector<PackedVariant> variants = smallVariants();
  Result<Pack> pack = Pack::read(bytesOf(packOf(variants)));
  ASSERT_TRUE(bool(pack));
  EXPECT_TRUE(pack->tuning().empty());
  const std::string two[] = {"first table", "second table"}, one[] = {"third table"};
  const std::string tuned = pack->withTuning(two);
  expectVariants(tuned, variants);
  Result<Pack> again = Pack::read(bytesOf(tuned));
  ASSERT_TRUE(bool(again));
  ASSERT_EQ(again->tuning().size(), 2u);
  EXPECT_EQ(*again->tuning()[1], "second table");
  EXPECT_EQ(again->hash(), pack->hash());
  EXPECT_EQ(again->withTuning(one), pack->withTuning(one)); // nothing of the old ones remains
  EXPECT_EQ(again->withTuning({}), packOf(variants));
}

TEST(Pack, negative_whatCannotBePacked) {
  std::vector<PackedVariant> variants = smallVariants();
  EXPECT_TRUE(has(writeError({}), "no variants; expected at least a general one"));
  variants[2].manifest.variant = "aligned-128x256";
  EXPECT_TRUE(has(writeError(variants), "variants 1 and 2 for sm_90a are both called 'aligned-128x256'"));
  variants = smallVariants();
  variants[1].manifest.variant.clear();
  EXPECT_TRUE(has(writeError(variants), "variant 1 has no name"));
  variants = smallVariants();
  variants[1].image.clear();
  EXPECT_TRUE(has(writeError(variants), "variant 'aligned-128x256' has no image"));
  variants = smallVariants();
  std::swap(variants[0], variants[1]);
  EXPECT_TRUE(has(writeError(variants),
                  "'aligned-128x256', the first, is not general: it assumes more about parameter 'a' than 'general'"));
  variants = smallVariants();
  variants[0].manifest.parameters.pop_back();
  EXPECT_TRUE(
      has(writeError(variants), "'aligned-128x256' has a parameter 'lda', which the general variant 'general' lacks"));
  variants = smallVariants();
  variants[2].manifest.constants.pop_back();
  EXPECT_TRUE(
      has(writeError(variants), "variant 'rows-64x64' lacks parameter 'lda' and does not fix it to an integer"));
  variants = smallVariants();
  variants[1].manifest.kernel = "other";
  EXPECT_TRUE(has(writeError(variants), "'aligned-128x256' is of kernel 'other', variant 'general' of 'gemm'"));
  variants = smallVariants();
  variants[1].manifest.parameters[3].type = DataType::I64;
  EXPECT_TRUE(has(writeError(variants), "parameter 'M' of variant 'aligned-128x256' has type i64"));
  variants = smallVariants();
  variants[1].manifest.format = "elf";
  EXPECT_TRUE(has(writeError(variants), "'aligned-128x256' has the format 'elf'; expected cubin or ptx"));
}

TEST(Pack, negative_everyPrefix) {
  const std::string pack = packOf(smallVariants());
  for (size_t size = 0; size < pack.size(); ++size)
    EXPECT_NE(errorOf(pack.substr(0, size)), "") << size;
}

TEST(Pack, negative_everyFlippedByte) {
  const std::vector<PackedVariant> variants = smallVariants();
  const std::string pack = packOf(variants);
  for (size_t i = 0; i < pack.size(); ++i) {
    std::string damaged = pack;
    damaged[i] ^= 0x20;
    if (errorOf(damaged).empty()) // a bit in a frame's header that changes the format but not the contents
      expectVariants(damaged, variants);
  }
}

TEST(Pack, negative_damageNamesTheVariant) {
  std::string pack = packOf(smallVariants());
  // The frames are in the order of the variants, each image before its PTX; the last frame is the PTX of the last
  // variant.
  pack.back() ^= 1;
  EXPECT_TRUE(has(errorOf(pack), "the PTX of variant 'rows-64x64' is damaged: ")) << errorOf(pack);
  std::string cubin = cubinOf(smallVariants());
  cubin[cubin.find("image of aligned")] ^= 1; // the image is too short to be compressed
  EXPECT_TRUE(has(errorOf(cubin), "the artifact is damaged: its checksum is ")) << errorOf(cubin);
}

TEST(Pack, negative_versionsAndSizes) {
  const std::string pack = packOf(smallVariants());
  std::string changed = pack;
  changed[8] = 3;
  EXPECT_EQ(errorOf(changed), "pack: version 3 is unknown; this version of tile reads versions 1 and 2");
  changed = pack;
  changed[15] = '\x7f';
  EXPECT_TRUE(has(errorOf(changed), "pack: the index has 21")) << errorOf(changed);
}

/// Returns the pack with a modification of its index, given as JSON text.
std::string withIndex(const std::string &pack, const std::string &from, const std::string &to) {
  uint32_t size = 0;
  std::memcpy(&size, pack.data() + 12, sizeof(size));
  std::string index = *decompressFrame(pack.substr(16, size), 1 << 20);
  const size_t position = index.find(from);
  EXPECT_NE(position, std::string::npos) << index;
  const std::string frame = compressFrame(index.replace(position, from.size(), to));
  const uint32_t newSize = static_cast<uint32_t>(frame.size());
  std::string changed = pack.substr(0, 12);
  changed.append(reinterpret_cast<const char *>(&newSize), sizeof(newSize));
  return changed + frame + pack.substr(16 + size);
}

TEST(Pack, negative_indexThatLies) {
  const std::string pack = packOf(smallVariants());
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("frames":[[0,)", R"("frames":[[4294967295,)")),
                  "it is truncated: it has ")); // beyond the end
  EXPECT_TRUE(
      has(errorOf(withIndex(pack, R"("frames":[[0,)", R"("frames":[[-1,)")), "frames[0]: expected three sizes"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("image":2)", R"("image":99)")),
                  "variants[1].image: frame 99 does not exist; there are 5"));
  EXPECT_TRUE(
      has(errorOf(withIndex(pack, R"("image":2)", R"("image":"x")")), "variants[1].image: expected an integer"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("image":2)", R"("other":2)")), "variant 'aligned-128x256' has no image"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("variants":[)", R"("variants":[7,)")), "variants[0]: expected an object"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("variants")", R"("other")")), "no variants"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, "{", "[")), "not valid JSON"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"(\"schema\":1)", R"(\"schema\":9)")), "variants[0]: manifest: schema 9"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, R"("hash")", R"("cash")")), "hash: is missing"));
}

/// A few bytes must not exhaust memory when they are decompressed.
TEST(Pack, negative_indexOfMillionsOfValues) {
  std::string values = "\"other\":[";
  for (int i = 0; i < (1 << 20); ++i)
    values += "[],";
  const std::string pack = withIndex(packOf(smallVariants()), R"("variants")", values + R"(0],"variants")");
  EXPECT_LT(pack.size(), 5000u);
  EXPECT_TRUE(has(errorOf(pack), "not valid JSON, or nested too deeply or too large")) << errorOf(pack);
}

TEST(Pack, negative_framesWithOtherSizesThanTheIndexSays) {
  const std::string pack = packOf(smallVariants());
  // "image of aligned" has 16 bytes.
  EXPECT_TRUE(has(errorOf(withIndex(pack, ",16]", ",15]")), "is damaged: 16 decompressed bytes; expected at most 15"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, ",16]", ",17]")), "is damaged: 16 bytes; expected 17"));
  EXPECT_TRUE(has(errorOf(withIndex(pack, ",16]", ",1099511627776]")), "1099511627776 bytes after decompression"));
}

TEST(Pack, negative_frameThatClaimsATerabyte) {
  // A frame's header: magic, 8 bytes of content size, single segment; then nothing.
  const std::string frame("\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00", 13);
  Result<std::string> contents = decompressFrame(frame, uint64_t(1) << 28);
  ASSERT_FALSE(bool(contents));
  EXPECT_TRUE(has(contents.error().message, "1099511627776 decompressed bytes")) << contents.error().message;
}

TEST(Pack, negative_packOfAnotherCubin) {
  std::vector<PackedVariant> other = smallVariants();
  other[0].manifest.entry = "other";
  const std::string cubin = cubinOf(smallVariants()), wrong = cubinOf(other);
  Result<std::string> mixed =
      replaceLastSection(bytesOf(cubin), {variantsSectionName, *findElfSection(bytesOf(wrong), variantsSectionName)});
  ASSERT_TRUE(bool(mixed));
  EXPECT_TRUE(has(errorOf(*mixed), "belongs to another cubin"));
  EXPECT_EQ(
      *replaceLastSection(bytesOf(*mixed), {variantsSectionName, *findElfSection(bytesOf(cubin), variantsSectionName)}),
      cubin);
  EXPECT_TRUE(has(replaceLastSection(bytesOf(cubin), {manifestSectionName, "{}"}).error().message, "not the last"));
  EXPECT_TRUE(has(replaceLastSection(bytesOf(smallElf()), {manifestSectionName, "{}"}).error().message, "no section"));
}

TEST(Pack, negative_everyFlippedByteOfACubinIsSurvived) {
  const std::string cubin = cubinOf(smallVariants());
  for (size_t i = 0; i < cubin.size(); ++i) {
    std::string damaged = cubin;
    damaged[i] ^= 0xff;
    (void)errorOf(damaged); // the driver checks the bytes of the first image
    (void)errorOf(cubin.substr(0, i));
  }
}

} // namespace
