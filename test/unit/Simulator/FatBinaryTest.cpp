// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images that a program passes to the simulated driver, and its settings.
#include "SimDriver/FatBinary.h"
#include "SimDriver/Settings.h"

#include "Runtime/Zstd.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace tile::sim;

namespace {

struct Part {
  uint16_t kind = 1;
  uint32_t architecture = 90;
  uint64_t flags = 0, decompressed = 0;
  std::string contents;
};

/// Returns a fat binary of these parts.
std::vector<char> fatBinary(const std::vector<Part> &parts) {
  std::vector<char> bytes;
  auto add = [&](auto value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof(value));
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  uint64_t total = 0;
  auto padded = [](const Part &part) { return (part.contents.size() + 8) / 8 * 8; };
  for (const Part &part : parts)
    total += 64 + padded(part);
  add(uint32_t(0xba55ed50)), add(uint16_t(1)), add(uint16_t(16)), add(total);
  for (const Part &part : parts) {
    add(part.kind), add(uint16_t(0x101)), add(uint32_t(64)), add(uint64_t(padded(part)));
    add(uint32_t(part.contents.size())), add(uint32_t(0)), add(uint16_t(7)), add(uint16_t(8));
    add(part.architecture), add(uint64_t(0)), add(part.flags), add(uint64_t(0)), add(part.decompressed);
    const size_t end = bytes.size() + padded(part);
    bytes.insert(bytes.end(), part.contents.begin(), part.contents.end());
    bytes.resize(end);
  }
  return bytes;
}

std::string found(const std::vector<char> &image, unsigned capability = 90) {
  const auto text = findPtx(image.data(), capability);
  return text ? *text : "error: " + text.error().message;
}

TEST(FatBinary, textAndCompressedText) {
  const char *plain = ".version 8.0";
  EXPECT_EQ(*findPtx(plain, 90), plain);
  EXPECT_EQ(found(fatBinary({{.contents = "PTX"}})), "PTX");
  const std::string text(1000, 'a');
  EXPECT_EQ(found(fatBinary({{.flags = 0x8000, .decompressed = 1000, .contents = tile::runtime::compressFrame(text)}})),
            text);
  // "ab", then 998 bytes copied from two bytes back: a length of 15 is followed by further bytes of up to 255.
  const std::string lz4("\x2f"
                        "ab"
                        "\x02\x00\xff\xff\xff\xd6"
                        "\x00",
                        10);
  std::string pairs;
  for (int i = 0; i < 500; ++i)
    pairs += "ab";
  EXPECT_EQ(found(fatBinary({{.flags = 0x2000, .decompressed = 1000, .contents = lz4}})), pairs);
}

TEST(FatBinary, choosesTheArchitecture) {
  const std::vector<char> image = fatBinary({{.architecture = 80, .contents = "80"},
                                             {.kind = 2, .architecture = 100, .contents = "ELF"},
                                             {.architecture = 120, .contents = "120"},
                                             {.architecture = 90, .contents = "90"}});
  EXPECT_EQ(found(image, 90), "90");
  EXPECT_EQ(found(image, 100), "90");
  EXPECT_EQ(found(image, 120), "120");
  EXPECT_EQ(found(image, 75), "120"); // no entry is for such an old device
  EXPECT_EQ(found(fatBinary({{.kind = 2, .contents = "ELF"}})).find("error: the fat binary has no PTX"), 0u);
}

TEST(FatBinary, damaged) {
  std::vector<char> image = fatBinary({{.contents = "PTX"}});
  image[16 + 8] = 127; // a wrong size of the entry
  EXPECT_EQ(found(image).find("error: the fat binary is damaged"), 0u);
  image = fatBinary({{.flags = 0x8000, .contents = "not zstd"}});
  EXPECT_EQ(found(image).find("error: "), 0u);
  for (const std::string &block : {std::string("\x2f"
                                               "a"),
                                   std::string("\x10"
                                               "a\x02",
                                               3),
                                   std::string("\x10"
                                               "a\x02\x00",
                                               4),
                                   std::string("\xf0"),
                                   std::string("\x20"
                                               "abc")})
    EXPECT_FALSE(decompressLz4(block, 8));
}

TEST(Settings, readsAndCompares) {
  auto settings = Settings::read(nullptr, "", nullptr);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->major, 9);
  EXPECT_TRUE(settings->runs("sm_100a"));
  EXPECT_FALSE(settings->order);
  settings = Settings::read("sm_103a", "warn", "12");
  ASSERT_TRUE(settings);
  EXPECT_EQ(10 * settings->major + settings->minor, 103);
  EXPECT_EQ(settings->check, Settings::Check::Warn);
  EXPECT_EQ(settings->order, 12u);
  for (const char *target : {"sm_90", "sm_75", "sm_100", "sm_100f", "sm_103f", "sm_103a", "sm_103"})
    EXPECT_TRUE(settings->runs(target)) << target;
  for (const char *target : {"sm_90a", "sm_100a", "sm_120", "sm_110f", "sm_120a", "", "sm_x"})
    EXPECT_FALSE(settings->runs(target)) << target;
  for (const char *target : {"100", "sm_", "sm_100b", "sm_9", "sm_1000"})
    EXPECT_FALSE(Settings::read(target, nullptr, nullptr)) << target;
  EXPECT_FALSE(Settings::read(nullptr, "some", nullptr));
  EXPECT_FALSE(Settings::read(nullptr, nullptr, "7a"));
}

} // namespace
