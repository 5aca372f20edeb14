// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and reads manifests in cubin and PTX; no truncation and no flipped bit may crash the reader.
#include "Runtime/Artifact.h"
#include "SmallElf.h"

#include <gtest/gtest.h>

using namespace tile::runtime;
using tile::test::smallElf;

namespace {

Bytes bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

const std::string minimalManifest =
    R"({"schema":1,"abi_version":1,"entry":"k","target":"sm_90a","launch":{"threads_per_cta":32}})";

TEST(ElfSection, appendedManifestIsFoundAgain) {
  const std::string elf = smallElf();
  Result<std::string> appended = appendManifestSection(bytesOf(elf), minimalManifest);
  ASSERT_TRUE(bool(appended));
  Result<std::string_view> found = findElfSection(bytesOf(*appended), manifestSectionName);
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(*found, minimalManifest);
}

TEST(ElfSection, oldContentsKeepTheirOffsets) {
  const std::string elf = smallElf();
  Result<std::string> appended = appendManifestSection(bytesOf(elf), minimalManifest);
  ASSERT_TRUE(bool(appended));
  EXPECT_EQ(appended->substr(sizeof(Elf64_Ehdr), elf.size() - sizeof(Elf64_Ehdr)), elf.substr(sizeof(Elf64_Ehdr)));
  Result<std::string_view> text = findElfSection(bytesOf(*appended), ".text");
  ASSERT_TRUE(bool(text));
  EXPECT_EQ(*text, "code");
}

TEST(ElfSection, negative_secondManifestIsRefused) {
  Result<std::string> once = appendManifestSection(bytesOf(smallElf()), minimalManifest);
  ASSERT_TRUE(bool(once));
  Result<std::string> twice = appendManifestSection(bytesOf(*once), minimalManifest);
  ASSERT_FALSE(bool(twice));
  EXPECT_NE(twice.error().message.find("already has"), std::string::npos);
}

TEST(ElfSection, negative_elfWithoutManifestSaysWhichSectionIsMissing) {
  Result<Artifact> artifact = readArtifact(bytesOf(smallElf()));
  ASSERT_FALSE(bool(artifact));
  EXPECT_EQ(artifact.error().code, TILE_ERROR_NOT_AN_ARTIFACT);
  EXPECT_NE(artifact.error().message.find(".tile.manifest"), std::string::npos);
}

TEST(ElfSection, negative_everyTruncationIsAnError) {
  Result<std::string> whole = appendManifestSection(bytesOf(smallElf()), minimalManifest);
  ASSERT_TRUE(bool(whole));
  for (size_t size = 0; size < whole->size(); ++size) {
    const std::string part = whole->substr(0, size);
    EXPECT_FALSE(bool(readArtifact(bytesOf(part)))) << size;
    (void)appendManifestSection(bytesOf(part), minimalManifest);
  }
}

TEST(ElfSection, everyCorruptedByteIsSurvived) {
  Result<std::string> whole = appendManifestSection(bytesOf(smallElf()), minimalManifest);
  ASSERT_TRUE(bool(whole));
  for (size_t i = 0; i < whole->size(); ++i)
    for (unsigned char value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string damaged = *whole;
      damaged[i] = static_cast<char>(value);
      (void)readArtifact(bytesOf(damaged));
      (void)appendManifestSection(bytesOf(damaged), minimalManifest);
    }
}

/// Flips each bit of the parts that the driver loads (headers, code, and its layout in memory), of the assumptions of
/// the launch, and of the PTX.
TEST(ElfSection, negative_everyFlippedBitIsFound) {
  Result<std::string> whole = appendManifestSection(bytesOf(smallElf()), minimalManifest, ".version 8.7\n");
  ASSERT_TRUE(bool(whole));
  for (size_t i = 0; i < whole->size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = *whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      // otherwise it is treated as written by an earlier version
      if (hasElfSection(bytesOf(damaged), checksumSectionName))
        EXPECT_FALSE(bool(readArtifact(bytesOf(damaged)))) << i;
    }
}

TEST(ElfSection, negative_damageIsNamed) {
  const std::string elf = smallElf();
  Result<std::string> whole = appendManifestSection(bytesOf(elf), minimalManifest, ".version 8.7\n");
  ASSERT_TRUE(bool(whole));
  for (const size_t place : {sizeof(Elf64_Ehdr), elf.size() + 1, whole->find(".version"), whole->size() - 1}) {
    std::string damaged = *whole;
    damaged[place] ^= 1;
    Result<Artifact> artifact = readArtifact(bytesOf(damaged));
    ASSERT_FALSE(bool(artifact)) << place;
    EXPECT_NE(artifact.error().message.find("the artifact is damaged: its checksum is "), std::string::npos) << place;
  }
}

/// Artifacts of earlier versions.
TEST(ElfSection, artifactsWithoutChecksumAreRead) {
  const NamedSection manifest[] = {{manifestSectionName, minimalManifest}};
  Result<std::string> old = appendSections(bytesOf(smallElf()), manifest);
  ASSERT_TRUE(bool(old));
  EXPECT_TRUE(bool(readArtifact(bytesOf(*old))));
}

TEST(ElfSection, ptxIsFoundAgain) {
  Result<std::string> appended = appendManifestSection(bytesOf(smallElf()), minimalManifest, ".version 8.7\n");
  ASSERT_TRUE(bool(appended));
  Result<Artifact> artifact = readArtifact(bytesOf(*appended));
  ASSERT_TRUE(bool(artifact));
  EXPECT_EQ(artifact->manifestText, minimalManifest);
  Result<std::string> ptx = findPtx(*artifact);
  ASSERT_TRUE(bool(ptx));
  EXPECT_EQ(*ptx, ".version 8.7\n");
  Result<std::string_view> text = findElfSection(bytesOf(*appended), ".text");
  ASSERT_TRUE(bool(text));
  EXPECT_EQ(*text, "code");
}

TEST(ElfSection, negative_cubinWithoutPtx) {
  Result<std::string> appended = appendManifestSection(bytesOf(smallElf()), minimalManifest);
  ASSERT_TRUE(bool(appended));
  Result<Artifact> artifact = readArtifact(bytesOf(*appended));
  ASSERT_TRUE(bool(artifact));
  Result<std::string> ptx = findPtx(*artifact);
  ASSERT_FALSE(bool(ptx));
  EXPECT_NE(ptx.error().message.find(".tile.ptx"), std::string::npos);
}

TEST(PtxManifest, roundTrip) {
  Result<std::string> ptx = appendPtxManifest(".version 8.4\n.target sm_90a\n", minimalManifest);
  ASSERT_TRUE(bool(ptx));
  Result<Artifact> artifact = readArtifact(bytesOf(*ptx));
  ASSERT_TRUE(bool(artifact)) << artifact.error().message;
  EXPECT_EQ(artifact->format, ArtifactFormat::Ptx);
  EXPECT_EQ(artifact->manifest.entry, "k");
  EXPECT_FALSE(bool(appendPtxManifest(*ptx, minimalManifest)));
}

TEST(PtxManifest, onlyAtTheStartOfALine) {
  EXPECT_FALSE(bool(findPtxManifest(".version 8.4 // tile.manifest: {}")));
  EXPECT_FALSE(bool(appendPtxManifest("", "{\n}")));
}

TEST(Artifact, negative_otherFilesSayWhatTheyAre) {
  Result<Artifact> text = readArtifact(bytesOf("hello"));
  ASSERT_FALSE(bool(text));
  EXPECT_NE(text.error().message.find("neither a cubin nor PTX"), std::string::npos);
  Result<Artifact> ptx = readArtifact(bytesOf(".version 8.4\n.target sm_90a\n"));
  ASSERT_FALSE(bool(ptx));
  EXPECT_NE(ptx.error().message.find("tile.manifest"), std::string::npos);
  Result<Artifact> missing = readArtifactFile("/nonexistent/a.cubin");
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(missing.error().code, TILE_ERROR_FILE);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  EXPECT_NE(readArtifactFile("/tmp").error().message.find("directory"), std::string::npos);
}

} // namespace
