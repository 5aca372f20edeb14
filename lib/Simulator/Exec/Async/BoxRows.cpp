// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/BoxRows.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tile::sim {

namespace {

constexpr uint32_t chunkBytes = 16;

/// Returns the distance in bytes of a position from position 0. A tensor may extend beyond all addresses (for example,
/// if its batch size is unbounded); the distance of such positions is limited and lies outside every buffer.
int64_t distance(int64_t position, int64_t stride) {
  constexpr int64_t farthest = int64_t(1) << 57; // allows five dimensions to be added without overflow
  return stride > 0 && position > farthest / stride ? farthest : position * stride;
}

} // namespace

BoxRows BoxRows::linear(uint32_t bytes) {
  constexpr uint32_t longestRow = 1024;
  BoxRows result;
  result.isLinear = true;
  result.bytes = std::min(bytes & (~bytes + 1), longestRow);
  result.rows = bytes ? bytes / result.bytes : 0;
  result.sharedPitch = result.bytes;
  return result;
}

BoxRows::BoxRows(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions])
    : rows(1), rank(map.rank), elementBytes(map.elementBytes()) {
  for (unsigned dim = 0; dim < rank; ++dim) {
    start[dim] = coordinates[dim];
    counts[dim] = map.boxElements(dim);
    steps[dim] = dim == 0 ? 1 : map.elementStrides[dim];
    sizes[dim] = map.sizes[dim];
    strides[dim] = dim == 0 ? elementBytes : map.strides[dim - 1];
    if (dim > 0)
      rows *= counts[dim];
  }
  bytes = counts[0] * elementBytes;
  sharedPitch = map.swizzle == MapSwizzle::None ? bytes : chunkBytes << uint8_t(map.swizzle);
}

BoxRows BoxRows::listed(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions]) {
  BoxRows result(map, coordinates);
  result.isListed = true;
  std::copy_n(coordinates + 1, std::size(result.list), result.list);
  result.rows = result.counts[1] = std::size(result.list);
  return result;
}

void BoxRows::endAtWholePieces() {
  int64_t elements = chunkBytes / elementBytes;
  sizes[0] = (sizes[0] + elements - 1) / elements * elements;
}

BoxRows::Row BoxRows::row(uint64_t index) const {
  if (isLinear)
    return {int64_t(index * bytes), 0, bytes};
  Row row;
  for (unsigned dim = 1; dim < rank; ++dim) {
    int64_t position = isListed ? list[index] : start[dim] + int64_t(index % counts[dim]) * steps[dim];
    index /= counts[dim];
    if (position < 0 || position >= sizes[dim])
      return {};
    row.offset += distance(position, strides[dim]);
  }
  int64_t begin = std::max<int64_t>(start[0], 0), end = std::min<int64_t>(start[0] + counts[0], sizes[0]);
  if (begin >= end)
    return {};
  row.offset += begin * elementBytes;
  row.skip = (begin - start[0]) * elementBytes;
  row.bytes = (end - begin) * elementBytes;
  return row;
}

bool BoxRows::bounds(int64_t &first, int64_t &end) const {
  if (isLinear) {
    first = 0;
    end = totalBytes();
    return end > 0;
  }
  if (isListed) {
    first = std::numeric_limits<int64_t>::max();
    end = 0;
    for (uint64_t index = 0; index < rows; ++index)
      if (const Row one = row(index); one.bytes) {
        first = std::min(first, one.offset);
        end = std::max(end, one.offset + one.bytes);
      }
    return end > 0;
  }
  // Computes the first and the last position inside the tensor in each dimension.
  first = 0;
  end = elementBytes;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t step = steps[dim], low = start[dim], high = low + int64_t(counts[dim] - 1) * step;
    if (low < 0)
      low += (-low + step - 1) / step * step;
    if (high >= sizes[dim])
      high -= (high - sizes[dim] + step) / step * step;
    if (low > high)
      return false;
    first += distance(low, strides[dim]);
    end += distance(high, strides[dim]);
  }
  return true;
}

void writeSwizzled(std::byte *base, uint32_t address, MapSwizzle swizzle, const std::byte *from, uint32_t bytes) {
  if (swizzle == MapSwizzle::None) {
    std::memcpy(base + address, from, bytes);
    return;
  }
  for (uint32_t done = 0; done < bytes; done += chunkBytes)
    std::memcpy(base + swizzled(address + done, swizzle), from + done, chunkBytes);
}

void readSwizzled(const std::byte *base, uint32_t address, MapSwizzle swizzle, std::byte *to, uint32_t bytes) {
  if (swizzle == MapSwizzle::None) {
    std::memcpy(to, base + address, bytes);
    return;
  }
  for (uint32_t done = 0; done < bytes; done += chunkBytes)
    std::memcpy(to + done, base + swizzled(address + done, swizzle), chunkBytes);
}

void fillOutside(const TensorMap &map, std::byte *to, uint32_t bytes) {
  if (map.fill == MapFill::Zero) {
    std::memset(to, 0, bytes);
    return;
  }
  std::memset(to, 0xff, bytes);
  for (uint32_t last = map.elementBytes() - 1; last < bytes; last += map.elementBytes())
    to[last] = std::byte(0x7f); // little-endian: the byte with sign and exponent
}

void convertLoaded(MapType type, std::byte *data, uint32_t bytes) {
  bool flushes = type == MapType::F32Ftz || type == MapType::TF32Ftz;
  bool rounds = type == MapType::TF32 || type == MapType::TF32Ftz;
  if (!flushes && !rounds)
    return;
  constexpr uint32_t exponent = 0x7f800000u, sign = 0x80000000u;
  for (uint32_t at = 0; at < bytes; at += 4) {
    uint32_t value;
    std::memcpy(&value, data + at, 4);
    if (flushes && !(value & exponent))
      value &= sign;
    if (rounds && (value & exponent) != exponent) // to nearest even, with 10 mantissa bits
      value = (value + 0xfff + (value >> 13 & 1)) & ~0x1fffu;
    std::memcpy(data + at, &value, 4);
  }
}

} // namespace tile::sim
