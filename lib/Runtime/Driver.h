// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA driver as a table of function pointers, filled by dlopen(libcuda.so.1) or by the host application's lookup.
//
// The few types and constants of the driver API that are needed are declared here, with their documented layouts and
// values. So neither building nor running the program needs a CUDA toolkit.
#pragma once

#include "Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tile::runtime {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

/// CUlaunchAttribute: an id, padding to 8 bytes, a 64-byte union.
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  } value = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  CUstream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// CUtensorMap: opaque; kernels take it by value.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// Constants of cuda.h (CUDA driver API reference, "Data types used by CUDA driver").
namespace cuda {
constexpr CUresult success = 0;
constexpr CUresult errorInvalidValue = 1;
constexpr CUresult errorInvalidImage = 200;
constexpr CUresult errorNoBinaryForGpu = 209;
constexpr CUresult errorNoDevice = 100;
constexpr CUresult errorInvalidDevice = 101;
constexpr int attributeMaxThreadsPerBlock = 1;
constexpr int attributeClockRate = 13; // kHz
constexpr int attributeMultiprocessorCount = 16;
constexpr int attributeMemoryClockRate = 36; // kHz
constexpr int attributeMemoryBusBits = 37;
constexpr int attributeL2Bytes = 38;
constexpr int attributeComputeMajor = 75;
constexpr int attributeComputeMinor = 76;
constexpr int attributeMaxSharedOptin = 97;
constexpr int functionMaxThreads = 0;
constexpr int functionSharedBytes = 1;
constexpr int functionMaxDynamicShared = 8;
constexpr int functionSharedCarveout = 9; // percent of the maximum
constexpr int functionNonPortableCluster = 14;
constexpr int launchCooperative = 2;
constexpr int launchCluster = 4;
constexpr int launchProgrammaticSerialization = 6;
constexpr int tensorInterleaveNone = 0;
constexpr int tensorPromotion128 = 2; // CUtensorMapL2promotion
constexpr int tensorPromotion256 = 3;
constexpr int tensorFillZero = 0;
constexpr int jitErrorLog = 5;
constexpr int jitErrorLogBytes = 6;
constexpr unsigned streamNonBlocking = 1;
constexpr int captureRelaxed = 2; // CUstreamCaptureMode
constexpr int captureNone = 0;    // CUstreamCaptureStatus
constexpr int captureActive = 1;
constexpr CUresult errorCaptureImplicit = 906;
constexpr CUresult errorNotReady = 600;
inline const CUstream streamPerThread = reinterpret_cast<CUstream>(uintptr_t{2});
} // namespace cuda

struct Driver {
#define REQUIRED(member, symbol, ...) CUresult (*member)(__VA_ARGS__) = nullptr;
#define FEATURE(member, symbol, ...) CUresult (*member)(__VA_ARGS__) = nullptr;
#define OPTIONAL(member, symbol, ...) CUresult (*member)(__VA_ARGS__) = nullptr;
#include "Runtime/Driver.def"

  /// Returns an error with the driver's name and description of `result`: `cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of
  /// memory)`.
  Error error(CUresult result, std::string_view call) const;
  /// Returns success, or the result of error().
  Status check(CUresult result, std::string_view call) const;
  /// Fails if an OPTIONAL function is missing, and names the first one.
  Status requireAll() const;
};

/// Fills the table and initializes the driver.
Result<std::unique_ptr<Driver>> loadDriver(tile_symbol_lookup lookup, void *user);

} // namespace tile::runtime
