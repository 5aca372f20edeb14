// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodes tensor maps (TMA descriptors): computes the 128 bytes that the kernel takes by value from the specification
// in the manifest and the arguments of a launch.
//
//   manifest                                load: planTensorMap          launch: encodeTensorMap
//   {"base": "a", "shape": ["M", "K"], ─▶   compiled expressions,   ─▶   request (integers, innermost first)
//    "strides": ["lda"], "box": ...}        constant part                ─▶ thread's cache ─▶ cuTensorMapEncodeTiled
//
// Encoding depends only on the request. A launch with the pointers and sizes of an earlier launch copies the map from a
// small thread-local cache, without a lock or an allocation.
#pragma once

#include "Runtime/ArgumentSlots.h"
#include "Runtime/Driver.h"
#include "Runtime/Manifest.h"

#include <type_traits>

namespace tile::runtime {

// Limits of a tiled tensor map: CUDA driver API, cuTensorMapEncodeTiled.
constexpr uint64_t mapAlignment = 16;                      ///< bytes; applies to the base and every stride
constexpr int64_t largestMapSize = (int64_t(1) << 32) - 1; ///< elements along a dimension
constexpr int64_t mapStrideLimit = int64_t(1) << 40;       ///< bytes

/// The arguments of cuTensorMapEncodeTiled that differ between maps. Innermost dimension first.
struct TensorMapRequest {
  uint64_t base = 0;
  uint64_t sizes[highestTensorRank] = {};       ///< elements
  uint64_t strides[highestTensorRank - 1] = {}; ///< bytes; dimensions after the innermost
  uint32_t box[highestTensorRank] = {};         ///< elements
  uint8_t type = 0;                             ///< CUtensorMapDataType
  uint8_t swizzle = 0;                          ///< CUtensorMapSwizzle
  uint8_t promotion = 0;                        ///< CUtensorMapL2promotion
  uint8_t rank = 0;

  bool operator==(const TensorMapRequest &) const = default;
};
static_assert(std::has_unique_object_representations_v<TensorMapRequest>, "the cache hashes its bytes");

/// A specification, compiled when its kernel is loaded.
struct TensorMapPlan {
  unsigned base = 0; ///< index of the pointer parameter
  unsigned elementBytes = 0;
  TensorMapRequest constants;      ///< rank, box, type, swizzle and promotion
  std::vector<Expression> sizes;   ///< as in the manifest: outermost first
  std::vector<Expression> strides; ///< in elements, outermost first
};

/// Compiles a specification. The manifest must have been validated.
Result<TensorMapPlan> planTensorMap(const TensorMapSpec &spec, const Manifest &manifest);

/// Encodes map `index` for these arguments. The kernel must have a runtime. The status is also the thread's last error.
tile_status encodeTensorMap(const tile_kernel &kernel, size_t index, void *const *arguments, const ArgumentSlots &slots,
                            TensorMap &map);

} // namespace tile::runtime
