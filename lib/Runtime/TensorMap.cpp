// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks encoding requests (error messages contain the rejected values), encodes maps, and caches the results.
#include "Runtime/TensorMap.h"

#include "Runtime/ErrorState.h"
#include "Runtime/Kernel.h"

#include <bit>

namespace tile::runtime {
namespace {

/// Returns the CUtensorMapDataType. TMA copies bits, so the type matters only for its size and for zero fill.
uint8_t mapType(DataType type) {
  switch (type) {
  case DataType::I1:
  case DataType::I8:
  case DataType::U8:
  case DataType::F8E4M3:
  case DataType::F8E5M2:
    return 0;
  case DataType::I16:
  case DataType::U16:
    return 1;
  case DataType::U32:
    return 2;
  case DataType::I32:
    return 3;
  case DataType::U64:
    return 4;
  case DataType::I64:
    return 5;
  case DataType::F16:
    return 6;
  case DataType::F32:
    return 7;
  case DataType::F64:
    return 8;
  case DataType::BF16:
    return 9;
  }
  return 0;
}

/// Returns the CUtensorMapSwizzle: 0, 32, 64, 128 bytes are 0, 1, 2, 3.
uint8_t mapSwizzle(int64_t bytes) {
  return bytes == 0 ? 0 : static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(bytes)) - 4);
}

Status compileAll(const std::vector<std::string> &texts, const ExpressionNames &names,
                  std::vector<Expression> &expressions) {
  for (const std::string &text : texts) {
    Result<Expression> expression = Expression::compile(text, names);
    if (!expression)
      return expression.error();
    expressions.push_back(std::move(*expression));
  }
  return Success{};
}

/// Maps of the thread's recent launches: a set-associative cache whose sets have `ways` entries, replaced in rotation.
class TensorMapCache {
public:
  const TensorMap *find(const TensorMapRequest &request) const {
    const Set &set = sets[setOf(request)];
    for (unsigned way = 0; way < ways; ++way)
      if (set.requests[way] == request)
        return &set.maps[way];
    return nullptr;
  }

  void insert(const TensorMapRequest &request, const TensorMap &map) {
    Set &set = sets[setOf(request)];
    const unsigned way = set.next++ % ways;
    set.requests[way] = request;
    set.maps[way] = map;
  }

private:
  static constexpr unsigned setBits = 3, ways = 4;
  struct Set {
    TensorMapRequest requests[ways]; ///< rank 0: empty
    TensorMap maps[ways] = {};
    unsigned next = 0;
  };

  static size_t setOf(const TensorMapRequest &request) {
    constexpr uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: spreads into the upper bits
    uint64_t hash = 0;
    for (uint64_t word : std::bit_cast<std::array<uint64_t, sizeof(request) / sizeof(uint64_t)>>(request))
      hash = (std::rotl(hash, 23) ^ word) * multiplier;
    return hash >> (64 - setBits);
  }

  Set sets[1 << setBits];
};

/// Computes the parts of the request that depend on arguments, and checks them.
tile_status makeRequest(const tile_kernel &kernel, const TensorMapPlan &plan, void *const *arguments,
                        const ArgumentSlots &slots, TensorMapRequest &request) {
  const std::string &name = kernel.artifact.manifest.parameters[plan.base].name;
  request = plan.constants;
  request.base = readAs<uint64_t>(arguments[plan.base]);
  if (request.base % mapAlignment != 0)
    return reportError(
        TILE_ERROR_ASSUMPTION,
        "parameter {} '{}' is {:#x}, which is not a multiple of {} bytes; the kernel accesses it through "
        "a tensor map",
        plan.base, name, request.base, mapAlignment);
  const unsigned rank = request.rank;
  bool isEmpty = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    const std::optional<int64_t> size =
        evaluate(kernel, plan.sizes[dim], slots, TILE_ERROR_INVALID_ARGUMENT, "tensor map");
    if (!size)
      return TILE_ERROR_INVALID_ARGUMENT;
    if (*size < 0 || *size > largestMapSize)
      return reportError(TILE_ERROR_INVALID_ARGUMENT,
                         "parameter {} '{}': dimension {} ('{}') is {}; a tensor map can have 0 to {}", plan.base, name,
                         dim, plan.sizes[dim].text(), *size, largestMapSize);
    isEmpty |= *size == 0;
    // A map cannot have a dimension of size 0. The kernel does not access a tensor that has one (EmptyDescriptors.h),
    // so any size is correct.
    request.sizes[rank - 1 - dim] = static_cast<uint64_t>(std::max<int64_t>(*size, 1));
  }
  for (unsigned dim = 0; dim + 1 < rank; ++dim) {
    const std::optional<int64_t> stride =
        evaluate(kernel, plan.strides[dim], slots, TILE_ERROR_INVALID_ARGUMENT, "tensor map");
    if (!stride)
      return TILE_ERROR_INVALID_ARGUMENT;
    if (*stride < 0 || *stride >= mapStrideLimit / plan.elementBytes)
      return reportError(TILE_ERROR_INVALID_ARGUMENT,
                         "parameter {} '{}': stride {} ('{}') is {} elements; a tensor map can have 0 to {}", plan.base,
                         name, dim, plan.strides[dim].text(), *stride, mapStrideLimit / plan.elementBytes - 1);
    const uint64_t bytes = static_cast<uint64_t>(*stride) * plan.elementBytes;
    if (bytes % mapAlignment != 0)
      return reportError(TILE_ERROR_ASSUMPTION,
                         "parameter {} '{}': stride {} ('{}') is {} elements, {} bytes, which is not a multiple of {} "
                         "bytes; the kernel accesses it through a tensor map",
                         plan.base, name, dim, plan.strides[dim].text(), *stride, bytes, mapAlignment);
    // The rows of an empty tensor may have a stride of zero, which a map cannot encode. No access uses the stride, so
    // any is correct.
    request.strides[rank - 2 - dim] = isEmpty ? std::max(bytes, mapAlignment) : bytes;
  }
  return TILE_OK;
}

tile_status encode(const tile_kernel &kernel, const TensorMapPlan &plan, const TensorMapRequest &request,
                   TensorMap &map) {
  static constexpr uint32_t elementStrides[highestTensorRank] = {1, 1, 1, 1, 1};
  const Driver &driver = *kernel.runtime->driver;
  if (!driver.tensorMapEncodeTiled) // reached only for a forced variant; otherwise makeKernel reports it
    return reportError(TILE_ERROR_NO_DRIVER,
                       "kernel '{}' takes tensor maps but the CUDA driver has no cuTensorMapEncodeTiled; driver 525 "
                       "(CUDA 12.0) or later is needed",
                       kernel.artifact.manifest.kernel);
  const CUresult result =
      driver.tensorMapEncodeTiled(&map, request.type, request.rank, reinterpret_cast<void *>(request.base),
                                  request.sizes, request.strides, request.box, elementStrides,
                                  cuda::tensorInterleaveNone, request.swizzle, request.promotion, cuda::tensorFillZero);
  if (result == cuda::success)
    return TILE_OK;
  const Error error = driver.error(result, "cuTensorMapEncodeTiled");
  return reportError(
      error.code,
      "kernel '{}', tensor map of '{}' at {:#x}: innermost dimension first, sizes {} {} {} {} {}, strides "
      "{} {} {} {} bytes, rank {}: {}",
      kernel.artifact.manifest.kernel, kernel.artifact.manifest.parameters[plan.base].name, request.base,
      request.sizes[0], request.sizes[1], request.sizes[2], request.sizes[3], request.sizes[4], request.strides[0],
      request.strides[1], request.strides[2], request.strides[3], request.rank, error.message);
}

} // namespace

Result<TensorMapPlan> planTensorMap(const TensorMapSpec &spec, const Manifest &manifest) {
  TensorMapPlan plan;
  plan.base = static_cast<unsigned>(manifest.findParameter(spec.base) - manifest.parameters.data());
  plan.elementBytes = dataTypeSize(spec.element);
  const size_t rank = spec.shape.size();
  plan.constants.rank = static_cast<uint8_t>(rank);
  plan.constants.type = mapType(spec.element);
  plan.constants.swizzle = mapSwizzle(spec.swizzle);
  plan.constants.promotion = spec.l2Promotion == 256 ? cuda::tensorPromotion256 : cuda::tensorPromotion128;
  for (size_t dim = 0; dim < rank; ++dim)
    plan.constants.box[rank - 1 - dim] = static_cast<uint32_t>(spec.box[dim]);
  const ExpressionNames names = tensorMapNames(manifest);
  if (Status status = compileAll(spec.shape, names, plan.sizes); !status)
    return status.error();
  if (Status status = compileAll(spec.strides, names, plan.strides); !status)
    return status.error();
  return plan;
}

tile_status encodeTensorMap(const tile_kernel &kernel, size_t index, void *const *arguments, const ArgumentSlots &slots,
                            TensorMap &map) {
  static constinit thread_local TensorMapCache cache;
  const TensorMapPlan &plan = kernel.tensorMaps[index];
  TensorMapRequest request;
  if (const tile_status status = makeRequest(kernel, plan, arguments, slots, request); status != TILE_OK)
    return status;
  if (const TensorMap *known = cache.find(request)) {
    map = *known;
    return TILE_OK;
  }
  const tile_status status = encode(kernel, plan, request, map);
  if (status == TILE_OK)
    cache.insert(request, map);
  return status;
}

} // namespace tile::runtime
