// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Boxes against a model of what TMA does: it writes a box row by row, and XORs bits 4… of each address with bits 7….

#include "Layout/TmaBoxes.h"

#include "Layout/SharedLayouts.h"
#include "RandomLayouts.h"

#include <gtest/gtest.h>

#include <map>

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

/// The indices below `count`; of a large box only 0, the powers of two and the last one. The others follow from these:
/// both the buffer and the address of an element in a box are XORs of what the bits of its coordinates contribute.
std::vector<int64_t> checkedIndices(int64_t count, bool isLarge) {
  std::vector<int64_t> indices;
  for (int64_t index = 0; index < count; ++index)
    if (!isLarge || (index & (index - 1)) == 0 || index == count - 1)
      indices.push_back(index);
  return indices;
}

/// Returns the element that TMA stores at each byte of a buffer, or at some bytes of a large one. Addresses begin at 0,
/// a multiple of any swizzle pattern. PTX ISA, "Swizzling modes".
std::map<int64_t, std::vector<int32_t>> fillByTma(const TmaBoxes &boxes, unsigned elementBytes, bool isLarge = false) {
  std::map<int64_t, std::vector<int32_t>> memory;
  int64_t columns = boxes.shape.back(), rows = boxes.shape.size() == 2 ? boxes.shape.front() : 1;
  // Rows of a swizzle are as far apart as the swizzle is wide, even if a box has fewer columns.
  int64_t pitch = columns;
  int64_t mask = boxes.swizzleBytes == 0 ? 0 : boxes.swizzleBytes / 16 - 1;
  for (const TmaBoxes::Box &box : boxes.boxes)
    for (int64_t row : checkedIndices(rows, isLarge))
      for (int64_t column : checkedIndices(box.isTail ? boxes.tailColumns : columns, isLarge)) {
        int64_t address = box.byteOffset + (row * pitch + column) * elementBytes;
        address ^= (address >> 7 & mask) << 4;
        std::vector<int32_t> element{int32_t(box.coordinates.back() + column)};
        if (boxes.shape.size() == 2)
          element.insert(element.begin(), int32_t(box.coordinates.front() + row));
        EXPECT_TRUE(memory.emplace(address, element).second) << "two elements at byte " << address;
      }
  return memory;
}

/// CUDA driver API, cuTensorMapEncodeTiled; PTX ISA, "cp.async.bulk.tensor".
void expectPossible(const TmaBoxes &boxes, unsigned elementBytes) {
  for (int64_t extent : boxes.shape)
    EXPECT_LE(extent, 256);
  int64_t rowBytes = boxes.shape.back() * elementBytes;
  EXPECT_EQ(rowBytes % 16, 0);
  if (boxes.swizzleBytes != 0) {
    EXPECT_LE(rowBytes, boxes.swizzleBytes);
  }
  for (const TmaBoxes::Box &box : boxes.boxes)
    EXPECT_EQ(box.byteOffset % 128, 0);
}

void expectFilled(const LinearLayout &buffer, const TmaBoxes &boxes, unsigned elementBytes) {
  bool isLarge = buffer.numElements() > 4096;
  std::map<int64_t, std::vector<int32_t>> memory = fillByTma(boxes, elementBytes, isLarge);
  int64_t elements = 0;
  for (const TmaBoxes::Box &box : boxes.boxes)
    elements +=
        (boxes.shape.size() == 2 ? boxes.shape.front() : 1) * (box.isTail ? boxes.tailColumns : boxes.shape.back());
  ASSERT_EQ(elements, buffer.numElements());
  for (const auto &[address, element] : memory)
    ASSERT_EQ(buffer.apply({{offsetDim, int32_t(address / elementBytes)}}), element) << "at byte " << address;
}

} // namespace

TEST(TmaBoxes, FillMatricesOfAllSizesAndSwizzles) {
  unsigned planned = 0;
  for (unsigned elementBytes : {1u, 2u, 4u, 8u})
    for (unsigned swizzle : {0u, 32u, 64u, 128u})
      for (int64_t rows = 1; rows <= 512; rows *= 2)
        for (int64_t columns = std::max(16u, swizzle) / elementBytes; columns <= 512; columns *= 2) {
          SCOPED_TRACE(testing::Message()
                       << rows << " x " << columns << " of " << elementBytes << " bytes, swizzle " << swizzle);
          LinearLayout buffer = swizzledShared({rows, columns}, elementBytes, {1, 0}, swizzle);
          std::optional<TmaBoxes> boxes = planTmaBoxes(buffer, elementBytes);
          // Without a swizzle, rows are not cut.
          ASSERT_EQ(boxes.has_value(), swizzle != 0 || columns <= 256 || rows == 1);
          if (!boxes)
            continue;
          ++planned;
          // Panels of few rows begin at addresses that TMA does not support; no pass creates several panels with narrow
          // swizzles.
          if (rows * swizzle % 128 == 0 || columns * elementBytes == swizzle)
            expectPossible(*boxes, elementBytes);
          expectFilled(buffer, *boxes, elementBytes);
        }
  EXPECT_GT(planned, 500u);
}

TEST(TmaBoxes, FillWhatTheWidestSwizzleGives) {
  for (unsigned elementBytes : {1u, 2u, 4u, 8u})
    for (int64_t rows = 1; rows <= 512; rows *= 2)
      for (int64_t columns = 16 / elementBytes; columns <= 512; columns *= 2) {
        unsigned swizzle = chooseSwizzle({rows, columns}, elementBytes, {1, 0});
        std::optional<TmaBoxes> boxes =
            planTmaBoxes(swizzledShared({rows, columns}, elementBytes, {1, 0}, swizzle), elementBytes);
        ASSERT_TRUE(boxes) << rows << " x " << columns << " of " << elementBytes << " bytes";
        expectPossible(*boxes, elementBytes);
      }
}

TEST(TmaBoxes, FillVectors) {
  for (unsigned elementBytes : {1u, 2u, 4u, 8u})
    for (int64_t size = 16 / elementBytes; size <= 4096; size *= 2) {
      LinearLayout buffer = unswizzledShared({size}, {0});
      std::optional<TmaBoxes> boxes = planTmaBoxes(buffer, elementBytes);
      ASSERT_TRUE(boxes);
      expectPossible(*boxes, elementBytes);
      expectFilled(buffer, *boxes, elementBytes);
    }
}

TEST(TmaBoxes, ArePanels) {
  std::optional<TmaBoxes> boxes = planTmaBoxes(swizzledShared({512, 128}, 2, {1, 0}, 128), 2);
  ASSERT_TRUE(boxes);
  EXPECT_EQ(boxes->shape, (std::vector<int64_t>{256, 64}));
  EXPECT_EQ(boxes->swizzleBytes, 128u);
  std::vector<TmaBoxes::Box> expected{{{0, 0}, 0}, {{256, 0}, 32768}, {{0, 64}, 65536}, {{256, 64}, 98304}};
  EXPECT_EQ(boxes->boxes, expected);
}

TEST(TmaBoxes, PartsAreRowsOfOneBox) {
  std::optional<TmaParts> parts = splitTmaBoxes(swizzledShared({256, 64}, 2, {1, 0}, 128), 2, 2);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->boxes.shape, (std::vector<int64_t>{128, 64}));
  EXPECT_EQ(parts->boxes.boxes, (std::vector<TmaBoxes::Box>{{{0, 0}, 0}}));
  EXPECT_EQ(parts->coordinates, (std::vector<int64_t>{128, 0}));
  EXPECT_EQ(parts->bytes, 16384);
}

TEST(TmaBoxes, PartsAreWholeBoxes) {
  std::optional<TmaParts> parts = splitTmaBoxes(swizzledShared({64, 256}, 2, {1, 0}, 128), 2, 2);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->boxes.shape, (std::vector<int64_t>{64, 64}));
  EXPECT_EQ(parts->boxes.boxes, (std::vector<TmaBoxes::Box>{{{0, 0}, 0}, {{0, 64}, 8192}}));
  EXPECT_EQ(parts->coordinates, (std::vector<int64_t>{0, 128}));
  EXPECT_EQ(parts->bytes, 16384);
}

TEST(TmaBoxes, negative_Parts) {
  LinearLayout small = swizzledShared({8, 64}, 2, {1, 0}, 128);
  EXPECT_FALSE(splitTmaBoxes(small, 2, 2)); // a part would be half of a swizzle pattern
  EXPECT_FALSE(splitTmaBoxes(swizzledShared({64, 64}, 2, {1, 0}, 128), 2, 0));
  EXPECT_FALSE(splitTmaBoxes(unswizzledShared({64}, {0}), 2, 2)); // the buffer is a single row
}

// 160 rows are one box of 160, 160 columns are five panels of 32; the bytes are those that the buffer needs.
TEST(TmaBoxes, FillNoMoreThanTheBufferHas) {
  for (int64_t extent : {48, 96, 160, 192, 224})
    for (bool isRows : {false, true}) {
      int64_t padded = extent <= 64    ? 64
                       : extent <= 128 ? 128
                                       : 256,
              panelBytes = std::min<int64_t>(2 * (extent & -extent), 128);
      std::vector<int64_t> shape = isRows ? std::vector<int64_t>{extent, 64} : std::vector<int64_t>{64, extent};
      std::vector<int64_t> whole = isRows ? std::vector<int64_t>{padded, 64} : std::vector<int64_t>{64, padded};
      LinearLayout buffer = swizzledShared(whole, 2, {1, 0}, isRows ? 128 : panelBytes);
      std::optional<TmaBoxes> boxes = planTmaBoxes(buffer, 2, shape);
      ASSERT_TRUE(boxes);
      expectPossible(*boxes, 2);
      std::map<int64_t, std::vector<int32_t>> memory = fillByTma(*boxes, 2);
      EXPECT_EQ(int64_t(memory.size()), 64 * extent);
      EXPECT_EQ(usedExtent(buffer, shape), std::optional<int64_t>(64 * extent));
      EXPECT_LT(memory.rbegin()->first, 2 * 64 * extent);
      for (const auto &[address, element] : memory)
        ASSERT_EQ(buffer.apply({{offsetDim, int32_t(address / 2)}}), element);
    }
  // Each of two panels must contain all rows.
  EXPECT_FALSE(planTmaBoxes(swizzledShared({512, 128}, 2, {1, 0}, 128), 2, {384, 128}));
}

// 144 columns are two panels of 64 and 16 columns of a third, which takes as much memory.
TEST(TmaBoxes, LastPanelMayHaveFewerColumns) {
  LinearLayout buffer = swizzledShared({64, 256}, 2, {1, 0}, 128);
  for (int64_t columns : {80, 144, 160, 208, 224}) {
    std::optional<TmaBoxes> boxes = planTmaBoxes(buffer, 2, {64, columns});
    ASSERT_TRUE(boxes);
    EXPECT_EQ(boxes->shape, (std::vector<int64_t>{64, 64}));
    EXPECT_EQ(boxes->tailColumns, columns % 64);
    expectPossible(*boxes, 2);
    std::map<int64_t, std::vector<int32_t>> memory = fillByTma(*boxes, 2);
    EXPECT_EQ(int64_t(memory.size()), 64 * columns);
    EXPECT_LT(memory.rbegin()->first, 2 * *usedExtent(buffer, {64, columns}));
    for (const auto &[address, element] : memory)
      ASSERT_EQ(buffer.apply({{offsetDim, int32_t(address / 2)}}), element);
  }
  EXPECT_FALSE(planTmaBoxes(buffer, 2, {64, 132})); // columns leave a remainder of 8 bytes
}

TEST(TmaBoxes, negative_OtherLayouts) {
  EXPECT_FALSE(planTmaBoxes(swizzledShared({64, 64}, 2, {0, 1}, 128), 2)); // columns are contiguous
  EXPECT_FALSE(planTmaBoxes(unswizzledShared({64, 64}, {0, 1}), 2));
  EXPECT_FALSE(planTmaBoxes(unswizzledShared({64, 4}, {1, 0}), 2)); // rows have only 8 bytes
  EXPECT_FALSE(planTmaBoxes(unswizzledShared({4}, {0}), 2));
  EXPECT_FALSE(planTmaBoxes(unswizzledShared({}, {}), 4));
  EXPECT_FALSE(planTmaBoxes(swizzledShared({2, 64, 64}, 2, {2, 1, 0}, 128), 2)); // the buffer has rank 3
  // The swizzle is that of another element size.
  EXPECT_FALSE(planTmaBoxes(swizzledShared({64, 64}, 2, {1, 0}, 128), 4));
}

TEST(TmaBoxes, RandomPermutationsAreFilledOrRefused) {
  RandomLayouts random(61);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> shape = random.shape(2, 8);
    LinearLayout buffer = LinearLayout::shared(round % 2 == 0 ? random.units(8) : random.basis(8), shape);
    if (std::optional<TmaBoxes> boxes = planTmaBoxes(buffer, 4))
      expectFilled(buffer, *boxes, 4);
  }
}
