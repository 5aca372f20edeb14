// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/EncodeTiled.h"

#include "Simulator/Exec/Async/TensorMap.h"

#include <cstring>
#include <fmt/format.h>

namespace tile::sim {

static thread_local std::string mapError;

const std::string &lastMapError() {
  return mapError;
}

runtime::CUresult encodeTiled(runtime::TensorMap *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                              int interleave, int swizzle, int promotion, int fill) {
  constexpr runtime::CUresult invalidValue = 1;
  const auto refuse = [](std::string message) {
    mapError = std::move(message);
    return invalidValue;
  };
  constexpr int maxNumber = 255;              // each is stored in one byte
  if (rank < 1 || rank > maxTensorDimensions) // `rank` sizes are read below
    return refuse(fmt::format("the rank of the tensor map is {}; expected 1 to {}", rank, maxTensorDimensions));
  if (!map || !sizes || !box || !elementStrides || (rank > 1 && !strides))
    return refuse("the tensor map, its sizes, strides or box is a null pointer");
  for (int number : {type, interleave, swizzle, promotion, fill})
    if (number < 0 || number > maxNumber)
      return refuse(
          fmt::format("{} is not a valid type, interleave, swizzle, promotion or fill of a tensor map", number));
  TensorMap described;
  described.address = reinterpret_cast<uint64_t>(address);
  described.rank = rank;
  for (unsigned dim = 0; dim < rank && dim < maxTensorDimensions; ++dim) {
    described.sizes[dim] = sizes[dim];
    described.box[dim] = box[dim];
    described.elementStrides[dim] = elementStrides[dim];
    if (dim + 1 < rank)
      described.strides[dim] = strides[dim];
  }
  described.type = static_cast<MapType>(type);
  described.interleave = static_cast<uint8_t>(interleave);
  described.swizzle = static_cast<MapSwizzle>(swizzle);
  described.promotion = static_cast<uint8_t>(promotion);
  described.fill = static_cast<MapFill>(fill);
  runtime::Result<TensorMapBytes> bytes = encodeTensorMap(described);
  if (!bytes)
    return refuse(bytes.error().message);
  static_assert(sizeof(map->bytes) == tensorMapBytes);
  std::memcpy(map->bytes, bytes->data(), tensorMapBytes);
  return runtime::cuda::success;
}

} // namespace tile::sim
