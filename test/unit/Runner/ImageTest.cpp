// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Netpbm images in and out, and files that are not images.
#include "Runner/Inputs/Image.h"

#include <gtest/gtest.h>

using namespace tile::runner;

namespace {

TEST(Image, allFormatsHoldTheSamePixels) {
  const std::vector<int64_t> colour = {1, 2, 3}, grey = {2, 1, 1};
  Result<Image> p3 = parseImage("P3 # a comment\n2 1\n255\n1 2 3\n4 5 255"),
                p6 = parseImage("P6\n2 1 255\n\1\2\3\4\5\xff");
  ASSERT_TRUE(bool(p3)) << p3.error().message;
  ASSERT_TRUE(bool(p6)) << p6.error().message;
  EXPECT_EQ(p3->shape, colour);
  EXPECT_EQ(p6->shape, colour);
  EXPECT_EQ(p3->pixels, "\1\2\3\4\5\xff");
  EXPECT_EQ(p6->pixels, p3->pixels);
  Result<Image> p2 = parseImage("P2\n1 2\n255\n65\n66\n"), p5 = parseImage("P5\n1 2\n255\nAB");
  ASSERT_TRUE(bool(p2)) << p2.error().message;
  ASSERT_TRUE(bool(p5)) << p5.error().message;
  EXPECT_EQ(p2->shape, grey);
  EXPECT_EQ(p2->pixels, p5->pixels);
}

TEST(Image, writtenImagesAreReadAgain) {
  Result<std::string> colour = formatImage({2, 1, 3}, "abcdef"), grey = formatImage({1, 3}, "abc");
  ASSERT_TRUE(bool(colour));
  ASSERT_TRUE(bool(grey));
  EXPECT_EQ(*colour, "P6\n1 2\n255\nabcdef");
  EXPECT_EQ(parseImage(*colour)->pixels, "abcdef");
  EXPECT_EQ(*grey, "P5\n3 1\n255\nabc");
  EXPECT_NE(formatImage({2, 2, 4}, "").error().message.find("shape [2, 2, 4] is not an image"), std::string::npos);
}

TEST(Image, negative_brokenFilesAreErrors) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "does not start with P2, P3, P5 or P6"},
      {"P4 1 1 1", "does not start with"},
      {"P6 2", "no width, height and largest value"},
      {"P6 -2 2 255 ", "no width, height and largest value"},
      {"P6 99999999 2 255 ", "no width, height and largest value"},
      {"P6 2 2 65535 ", "the largest value is 65535"},
      {"P6 2 2 255 abc", "2x2 pixels need 12 bytes, the file has 3"},
      {"P5 1 1 255", "1x1 pixels need 1 bytes, the file has 0"},
      {"P3 1 1 255 1 2", "value 3 of 3 is not a number up to 255"},
      {"P2 1 1 255 256", "value 1 of 1 is not a number up to 255"},
      {"P2 9999 9999 255 1", "9999x9999 pixels do not fit the file"},
  };
  for (const auto &[text, expected] : cases) {
    Result<Image> image = parseImage(text);
    ASSERT_FALSE(bool(image)) << text;
    EXPECT_NE(image.error().message.find(expected), std::string::npos) << image.error().message;
  }
}

} // namespace
