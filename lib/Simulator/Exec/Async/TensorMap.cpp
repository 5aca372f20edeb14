// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace tile::sim {

using runtime::makeError;
using runtime::Result;
using runtime::Status;
using runtime::Success;

namespace {

/// The layout of the 128 bytes of a tensor map.
struct Packed {
  uint32_t magic;
  uint8_t rank, type, interleave, swizzle;
  uint64_t address;
  uint64_t sizes[maxTensorDimensions];
  uint64_t strides[maxTensorDimensions - 1];
  uint16_t box[maxTensorDimensions];
  uint8_t elementStrides[maxTensorDimensions];
  uint8_t promotion, fill, madeByKernel;
  uint8_t unused[22];
};
static_assert(sizeof(Packed) == tensorMapBytes);

constexpr uint32_t magic = 0x70614d54; // "TMap"

// The limits of cuTensorMapEncodeTiled (CUDA driver API).
constexpr uint64_t alignment = 16, maxElementsOfDim = uint64_t(1) << 32, strideLimit = uint64_t(1) << 40;
constexpr uint32_t maxBox = 256, maxElementStride = 8;
constexpr uint64_t sharedBoxLimit = 227 * 1024;

template <typename... Arguments> Status broken(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, format, std::forward<Arguments>(arguments)...);
}

} // namespace

unsigned mapTypeBytes(MapType type) {
  constexpr uint8_t bytes[numMapTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[uint8_t(type)];
}

bool isFloat(MapType type) {
  return type >= MapType::F16;
}

Status checkTensorMap(const TensorMap &map) {
  if (map.rank < 1 || map.rank > maxTensorDimensions)
    return broken("a tensor map of rank {}; 1 to {} are allowed", map.rank, maxTensorDimensions);
  if (uint8_t(map.type) >= numMapTypes)
    return broken("element type {} of a tensor map is not supported", uint8_t(map.type));
  if (map.interleave != 0)
    return broken("interleaved tensor maps ({}) are not supported", map.interleave);
  if (uint8_t(map.swizzle) > uint8_t(MapSwizzle::Bytes128))
    return broken("swizzle mode {} of a tensor map is not supported", uint8_t(map.swizzle));
  if (uint8_t(map.fill) > uint8_t(MapFill::Nan) || (map.fill == MapFill::Nan && !isFloat(map.type)))
    return broken("fill mode {} of a tensor map of element type {}", uint8_t(map.fill), uint8_t(map.type));
  if (map.address == 0 || map.address % alignment)
    return broken("the address {:#x} of a tensor map is not a multiple of {}", map.address, alignment);
  uint64_t boxBytes = map.elementBytes();
  for (unsigned dim = 0; dim < map.rank; ++dim) {
    if (map.sizes[dim] == 0 || map.sizes[dim] > maxElementsOfDim)
      return broken("size {} of a tensor map is {}; 1 to 2^32 are allowed", dim, map.sizes[dim]);
    if (map.box[dim] == 0 || map.box[dim] > maxBox)
      return broken("box dimension {} of a tensor map is {}; 1 to {} are allowed", dim, map.box[dim], maxBox);
    if (map.elementStrides[dim] == 0 || map.elementStrides[dim] > maxElementStride)
      return broken("element stride {} of a tensor map is {}; 1 to {} are allowed", dim, map.elementStrides[dim],
                    maxElementStride);
    if (dim > 0 && (map.strides[dim - 1] % alignment || map.strides[dim - 1] >= strideLimit))
      return broken("stride {} of a tensor map is {} bytes; it must be a multiple of {} below 2^40", dim - 1,
                    map.strides[dim - 1], alignment);
    boxBytes *= map.boxElements(dim);
  }
  uint64_t inner = uint64_t(map.box[0]) * map.elementBytes();
  if (inner % alignment)
    return broken("the innermost box dimension of a tensor map has {} bytes, not a multiple of {}", inner, alignment);
  uint64_t span = map.swizzle == MapSwizzle::None ? ~uint64_t(0) : uint64_t(16) << uint8_t(map.swizzle);
  if (inner > span)
    return broken("the innermost box dimension of a tensor map has {} bytes, more than the {} of its swizzle", inner,
                  span);
  if (boxBytes > sharedBoxLimit)
    return broken("the box of a tensor map has {} bytes; shared memory has {}", boxBytes, sharedBoxLimit);
  return Success{};
}

bool isTensorMap(const std::byte *bytes) {
  return std::memcmp(bytes, &magic, sizeof(magic)) == 0;
}

bool readTensorMapFields(const std::byte *bytes, TensorMap &map) {
  Packed packed;
  std::memcpy(&packed, bytes, sizeof(packed));
  map = {};
  if (packed.magic != magic)
    return std::all_of(bytes, bytes + tensorMapBytes, [](std::byte byte) { return byte == std::byte(0); });
  map.address = packed.address;
  map.rank = packed.rank;
  std::copy_n(packed.sizes, maxTensorDimensions, map.sizes);
  std::copy_n(packed.strides, maxTensorDimensions - 1, map.strides);
  std::copy_n(packed.box, maxTensorDimensions, map.box);
  std::copy_n(packed.elementStrides, maxTensorDimensions, map.elementStrides);
  map.type = MapType(packed.type);
  map.interleave = packed.interleave;
  map.swizzle = MapSwizzle(packed.swizzle);
  map.promotion = packed.promotion;
  map.fill = MapFill(packed.fill);
  map.madeByKernel = packed.madeByKernel;
  return true;
}

void writeTensorMapFields(const TensorMap &map, std::byte *bytes) {
  Packed packed = {};
  packed.magic = magic;
  packed.address = map.address;
  packed.rank = map.rank;
  std::copy_n(map.sizes, maxTensorDimensions, packed.sizes);
  std::copy_n(map.strides, maxTensorDimensions - 1, packed.strides);
  std::copy_n(map.box, maxTensorDimensions, packed.box);
  std::copy_n(map.elementStrides, maxTensorDimensions, packed.elementStrides);
  packed.type = uint8_t(map.type);
  packed.interleave = map.interleave;
  packed.swizzle = uint8_t(map.swizzle);
  packed.promotion = map.promotion;
  packed.fill = uint8_t(map.fill);
  packed.madeByKernel = map.madeByKernel;
  std::memcpy(bytes, &packed, sizeof(packed));
}

Result<TensorMapBytes> encodeTensorMap(const TensorMap &map) {
  if (Status status = checkTensorMap(map); !status)
    return status.error();
  TensorMapBytes bytes;
  writeTensorMapFields(map, bytes.data());
  return bytes;
}

Result<TensorMap> decodeTensorMap(const std::byte *bytes) {
  TensorMap map;
  if (!readTensorMapFields(bytes, map))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the bytes are not a tensor map");
  if (Status status = checkTensorMap(map); !status)
    return status.error();
  return map;
}

} // namespace tile::sim
