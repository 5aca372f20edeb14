// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts, guards, fills and the search for damage.
#include "Runner/Inputs/HostBuffer.h"

#include "Runner/Inputs/Random.h"
#include "TestBuffers.h"

#include <cmath>

using namespace tile::runner;
using tile::test::makeBuffer;
using tile::test::valuesOf;

namespace {

std::string planError(std::vector<int64_t> shape, std::vector<int64_t> strides, bool isWritten = false) {
  Result<BufferLayout> layout = planBuffer(std::move(shape), std::move(strides), 4, isWritten);
  return layout ? "no error" : layout.error().message;
}

TEST(BufferLayout, physicalSizeFollowsFromStrides) {
  const auto physical = [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return planBuffer(std::move(shape), std::move(strides), 4, false)->physicalElements;
  };
  EXPECT_EQ(physical({3, 4}, {}), 12);
  EXPECT_EQ(physical({3, 4}, {10, 1}), 24);
  EXPECT_EQ(physical({3, 4}, {1, 3}), 12);
  EXPECT_EQ(physical({3, 4}, {0, 1}), 4);
  EXPECT_EQ(physical({0, 4}, {10, 1}), 0);
  EXPECT_EQ(physical({}, {}), 1);
  EXPECT_EQ(physical({1, 1}, {int64_t(1) << 62, int64_t(1) << 62}), 1);
}

TEST(BufferLayout, negative_errors) {
  EXPECT_NE(planError({-1, 4}, {}).find("negative size"), std::string::npos);
  EXPECT_NE(planError({2, 4}, {-4, 1}).find("negative entry"), std::string::npos);
  EXPECT_NE(planError({int64_t(1) << 40, int64_t(1) << 40}, {}).find("more than 2^63"), std::string::npos);
  EXPECT_NE(planError({3, 3}, {int64_t(1) << 62, 1}).find("overflows"), std::string::npos);
  EXPECT_NE(planError({int64_t(1) << 50}, {}).find("at most 1 TiB"), std::string::npos);
  for (const std::vector<int64_t> &strides : {std::vector<int64_t>{0, 1}, {1, 1}, {3, 1}, {1, 7}})
    EXPECT_NE(planError({8, 8}, strides, true).find("share memory"), std::string::npos) << strides[0];
  EXPECT_EQ(planError({8, 8}, {1, 1}, false), "no error"); // nothing is written
  EXPECT_EQ(planError({8, 8}, {1, 8}, true), "no error");
  EXPECT_EQ(planError({2, 0}, {0, 1}, true), "no error");         // there are no elements that could share memory
  EXPECT_EQ(planError({0, int64_t(1) << 62, 8}, {}), "no error"); // empty, so its size does not matter
}

TEST(HostBuffer, poisonIsNaNForEveryFloat) {
  using tile::runtime::DataType;
  for (DataType type :
       {DataType::F16, DataType::BF16, DataType::F32, DataType::F64, DataType::F8E4M3, DataType::F8E5M2}) {
    HostBuffer buffer = makeBuffer({2}, {1, 2}, type);
    buffer.poison();
    for (double value : valuesOf(buffer))
      EXPECT_TRUE(std::isnan(value));
  }
}

TEST(HostBuffer, randomValuesDependOnSeedAndLogicalIndexOnly) {
  HostBuffer dense = makeBuffer({4, 5}, std::vector<double>(20)),
             strided = makeBuffer({4, 5}, std::vector<double>(20), tile::runtime::DataType::F64, {1, 9});
  dense.fillRandom(7);
  strided.fillRandom(7);
  EXPECT_EQ(valuesOf(dense), valuesOf(strided));
  strided.fillRandom(8);
  EXPECT_NE(valuesOf(dense), valuesOf(strided));
}

TEST(Random, isNearlyNormalAndFixedForever) {
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (uint64_t i = 0; i < count; ++i) {
    const double value = randomNormal(1, i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_EQ(randomBits(0, 0), randomBits(0, 0));
  EXPECT_NE(randomBits(0, 0), randomBits(1, 0));
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_LE(std::fabs(randomElement(tile::runtime::DataType::I8, 1, i)), 8);
    EXPECT_GE(randomElement(tile::runtime::DataType::U8, 1, i), 0);
  }
}

TEST(HostBuffer, damageIsFoundAndNamed) {
  using tile::runtime::DataType;
  const HostBuffer before = makeBuffer({2, 2}, {1, 2, 3, 4}, DataType::F32, {3, 1}); // one gap element
  const auto damage = [&](int64_t offset, bool isInput) {
    HostBuffer after = std::move(*before.clone());
    after.data()[offset] ^= 1;
    return findDamage(before, after, isInput).value_or("none");
  };
  EXPECT_EQ(damage(0, false), "none"); // an output may change
  EXPECT_EQ(damage(0, true), "the kernel wrote to an input, at physical element 0");
  EXPECT_EQ(damage(-1, false), "out-of-bounds write: 1 byte(s) before the buffer of 20 bytes");
  EXPECT_EQ(damage(20, false), "out-of-bounds write: 1 byte(s) past the end of the buffer of 20 bytes");
  EXPECT_EQ(damage(8, false), "write into the gap between rows, at physical element 2");
  EXPECT_FALSE(findDamage(before, *before.clone(), true));
}

TEST(HostBuffer, largeGapsTakeNoMemoryAndAreStillWatched) {
  using tile::runtime::DataType;
  constexpr int64_t far = (int64_t(1) << 31) + 3; // 8 GiB between two rows
  HostBuffer before = makeBuffer({2, 2}, {1, 2, 3, 4}, DataType::F32, {far, 1});
  ASSERT_TRUE(before.isSparse());
  EXPECT_EQ(valuesOf(before), (std::vector<double>{1, 2, 3, 4}));
  const auto damage = [&](int64_t offset, bool isInput) {
    HostBuffer after = std::move(*before.clone());
    after.data()[offset] ^= 1;
    return findDamage(before, after, isInput).value_or("none");
  };
  EXPECT_FALSE(findDamage(before, *before.clone(), true));
  EXPECT_EQ(damage(4 * far, false), "none");
  EXPECT_EQ(damage(4 * far, true), "the kernel wrote to an input, at physical element 2147483651");
  EXPECT_EQ(damage(8, false), "write into the gap between rows, at physical element 2");
  EXPECT_EQ(damage(4 * far - 1, false), "write into the gap between rows, at physical element 2147483650");
  EXPECT_EQ(damage(int64_t(1) << 32, false), "write into the gap between rows, at physical element 1073741824");
  EXPECT_EQ(damage(-1, false), "out-of-bounds write: 1 byte(s) before the buffer of 8589934612 bytes");
  EXPECT_EQ(damage(4 * far + 8, false),
            "out-of-bounds write: 1 byte(s) past the end of the buffer of 8589934612 bytes");
  before.poison();
  EXPECT_TRUE(before.isPoison({1, 1}));
  EXPECT_FALSE(makeBuffer({2, 2}, {1, 2, 3, 4}, DataType::F32, {1000, 1}).isSparse());
}

TEST(HostBuffer, guardsMayDiffer) {
  Result<BufferLayout> layout = planBuffer({2}, {}, 4, true);
  ASSERT_TRUE(bool(layout));
  Result<HostBuffer> buffer = HostBuffer::create(tile::runtime::DataType::F32, *layout, 0x12);
  ASSERT_TRUE(bool(buffer));
  buffer->poison();
  EXPECT_EQ(buffer->storage().front(), 0x12);
  EXPECT_EQ(buffer->storage().back(), 0x12);
}

TEST(HostBuffer, offsetsMisalign) {
  Result<BufferLayout> layout = planBuffer({3}, {}, 4, true);
  ASSERT_TRUE(bool(layout));
  Result<HostBuffer> buffer =
      HostBuffer::create(tile::runtime::DataType::F32, *layout, HostBuffer::guardPattern, /*offset=*/5);
  ASSERT_TRUE(bool(buffer));
  buffer->fill(2);
  Result<HostBuffer> after = buffer->clone();
  ASSERT_TRUE(bool(after));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(after->data()) % 256, 20u);
  EXPECT_EQ(after->exportDense(), buffer->exportDense());
  EXPECT_FALSE(findDamage(*buffer, *after, true));
  after->data()[-1] = 0;
  EXPECT_EQ(findDamage(*buffer, *after, false), "out-of-bounds write: 1 byte(s) before the buffer of 12 bytes");
  after->data()[-1] = HostBuffer::guardPattern;
  after->data()[12] = 0;
  EXPECT_EQ(findDamage(*buffer, *after, false),
            "out-of-bounds write: 1 byte(s) past the end of the buffer of 12 bytes");
}

TEST(HostBuffer, negative_moreThanTheMachineHas) {
  Result<BufferLayout> layout = planBuffer({int64_t(1) << 39}, {}, 1, false);
  ASSERT_TRUE(bool(layout));
  Result<HostBuffer> buffer = HostBuffer::create(tile::runtime::DataType::I8, *layout);
  ASSERT_FALSE(bool(buffer));
  EXPECT_EQ(buffer.error().code, TILE_ERROR_OUT_OF_MEMORY);
}

} // namespace
