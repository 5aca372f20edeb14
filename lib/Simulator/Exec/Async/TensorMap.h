// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's tensor maps: the arguments of cuTensorMapEncodeTiled, stored in 128 bytes in a private format.
//
// The format of real maps is not published, and programs do not read it, so only this file interprets these bytes. A
// kernel creates a map from zeros, which are not a valid map, by setting one field after another with
// tensormap.replace.
#pragma once

#include "Runtime/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tile::sim {

constexpr uint32_t tensorMapBytes = 128;
constexpr unsigned maxTensorDimensions = 5;

/// The values of CUtensorMapDataType.
enum class MapType : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz };
constexpr uint8_t numMapTypes = 13;
unsigned mapTypeBytes(MapType type);
bool isFloat(MapType type);

/// The values of CUtensorMapSwizzle: a swizzle permutes 16-byte chunks within spans of 32, 64 or 128 bytes.
enum class MapSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };
/// The values of CUtensorMapFloatOOBfill.
enum class MapFill : uint8_t { Zero, Nan };

/// A tensor map. Dimensions are ordered from the innermost one.
struct TensorMap {
  uint64_t address = 0;
  uint32_t rank = 0;
  uint64_t sizes[maxTensorDimensions] = {};       ///< in elements
  uint64_t strides[maxTensorDimensions - 1] = {}; ///< in bytes, from dimension 1 on
  uint32_t box[maxTensorDimensions] = {};         ///< in elements
  uint32_t elementStrides[maxTensorDimensions] = {};
  MapType type = MapType::U8;
  uint8_t interleave = 0; ///< CUtensorMapInterleave: none, 16 bytes, 32 bytes
  MapSwizzle swizzle = MapSwizzle::None;
  uint8_t promotion = 0; ///< CUtensorMapL2promotion; has no effect here
  MapFill fill = MapFill::Zero;
  bool madeByKernel = false; ///< modified by tensormap.replace; needs fence.proxy.tensormap before a copy uses it

  unsigned elementBytes() const { return mapTypeBytes(type); }
  /// Returns the number of elements of a box in dimension `dim`, which the traversal stride selects.
  uint32_t boxElements(unsigned dim) const {
    return dim == 0 ? box[0] : (box[dim] + elementStrides[dim] - 1) / elementStrides[dim];
  }
};

using TensorMapBytes = std::array<std::byte, tensorMapBytes>;

/// Checks the rules of cuTensorMapEncodeTiled (CUDA driver API). The error names the rule that is broken and the
/// values.
runtime::Status checkTensorMap(const TensorMap &map);
/// Returns an error for a map that breaks one of these rules.
runtime::Result<TensorMapBytes> encodeTensorMap(const TensorMap &map);
/// Returns an error for bytes that are not a valid map.
runtime::Result<TensorMap> decodeTensorMap(const std::byte *bytes);

/// Returns true if the 128 bytes begin like a map, whether it is valid or not.
bool isTensorMap(const std::byte *bytes);
/// Reads the fields of a map, valid or not, for tensormap.replace. Returns false if the bytes are neither zeros nor a
/// map.
bool readTensorMapFields(const std::byte *bytes, TensorMap &map);
void writeTensorMapFields(const TensorMap &map, std::byte *bytes);

} // namespace tile::sim
