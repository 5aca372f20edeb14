// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of elements that a tensor copy loads: flushed subnormal values, and tf32 rounded to nearest even.
#include "Simulator/Exec/Async/BoxRows.h"

#include <gtest/gtest.h>

using namespace tile::sim;

namespace {

TEST(BoxRows, convertsWhatItLoads) {
  auto convert = [](MapType type, uint32_t bits) {
    convertLoaded(type, reinterpret_cast<std::byte *>(&bits), 4);
    return bits;
  };
  EXPECT_EQ(convert(MapType::F32, 0x00000001u), 0x00000001u);
  EXPECT_EQ(convert(MapType::F32Ftz, 0x80000001u), 0x80000000u);
  EXPECT_EQ(convert(MapType::F32Ftz, 0x3f800001u), 0x3f800001u);
  EXPECT_EQ(convert(MapType::TF32, 0x3f801000u), 0x3f800000u); // a tie, to even
  EXPECT_EQ(convert(MapType::TF32, 0x3f803000u), 0x3f804000u);
  EXPECT_EQ(convert(MapType::TF32, 0x3f801001u), 0x3f802000u);
  EXPECT_EQ(convert(MapType::TF32Ftz, 0x00400000u), 0u);
  EXPECT_EQ(convert(MapType::TF32, 0x7f800000u), 0x7f800000u);
}

} // namespace
