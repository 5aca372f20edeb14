// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPUs that tile compiles for: features and sizes with units, in one table.
//
//   if (const GpuTarget *target = findTarget("sm_90a"); target && target->has(Feature::Wgmma)) ...
//
// Source of the sizes: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (CUDA 13.0).
// Source of the features: PTX ISA 9.0, "Target ISA Notes" of the instruction that each feature names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::target {

/// A family of instructions that only some targets have.
enum class Feature : uint32_t {
  LdMatrix = 1u << 0,         ///< ldmatrix: 8x8 16-bit matrices from shared memory
  AsyncCopy = 1u << 1,        ///< cp.async, mbarrier
  BF16Arithmetic = 1u << 2,   ///< fma.rn.bf16 and mma.sync on bf16
  TF32 = 1u << 3,             ///< mma.sync on tf32
  Redux = 1u << 4,            ///< redux.sync on integers
  FP8Conversion = 1u << 5,    ///< cvt to and from e4m3x2 and e5m2x2
  StMatrix = 1u << 6,         ///< stmatrix: the converse of ldmatrix
  Clusters = 1u << 7,         ///< thread block clusters, distributed shared memory
  Tma = 1u << 8,              ///< cp.async.bulk.tensor
  GridDependency = 1u << 9,   ///< griddepcontrol (programmatic dependent launch)
  SetMaxRegisters = 1u << 10, ///< setmaxnreg; only on architecture-specific targets
  Wgmma = 1u << 11,           ///< wgmma.mma_async; only sm_90a
  Tcgen05 = 1u << 12,         ///< tcgen05.*, tensor memory
  Tcgen05Integers = 1u << 13, ///< tcgen05.mma of 8-bit integers
  ScaledMma = 1u << 14,       ///< mma.sync with block scales; only on architecture-specific targets
};

constexpr uint32_t operator|(Feature a, Feature b) {
  return uint32_t(a) | uint32_t(b);
}
constexpr uint32_t operator|(uint32_t a, Feature b) {
  return a | uint32_t(b);
}

struct CardTuning; // Card/CardTarget.h

struct GpuTarget {
  /// The name as ptxas spells it. Code for "sm_90a" runs on 9.0 only, code for "sm_100f" on 10.0 and 10.3; without a
  /// letter, code runs on all later GPUs of the major version.
  std::string_view name;
  unsigned capability;         ///< compute capability times ten: 90
  unsigned ptxVersion;         ///< PTX ISA version times ten that we emit: 87
  unsigned maxSharedPerCta;    ///< bytes of dynamic shared memory that one CTA can opt in to
  unsigned sharedPerSm;        ///< bytes of shared memory of one multiprocessor
  unsigned maxWarpsPerSm;      ///< resident warps of 32 threads
  unsigned maxCtasPerSm;       ///< resident CTAs
  unsigned numSms;             ///< multiprocessors of `deviceName`; only estimates use it
  uint32_t features;           ///< union of Feature
  std::string_view deviceName; ///< name of one GPU with this target, for messages and estimates
  /// The constants of the card for which this target was created; null for the constants of Tuned.def.
  const CardTuning *card = nullptr;

  bool has(Feature feature) const { return (features & uint32_t(feature)) != 0; }
  /// Returns the maximum number of consecutive floats of `bits` bits each to which one atomic instruction can add (PTX
  /// ISA, "atom", "red").
  unsigned atomicAdditions(unsigned bits, bool isBFloat) const {
    if (capability >= 90 && bits <= 32)
      return 128 / bits;
    return bits == 16 && !isBFloat ? 2 : 1;
  }
};

constexpr unsigned threadsPerWarp = 32;
constexpr unsigned maxThreadsPerCta = 1024;
constexpr unsigned registersPerSm = 65536; ///< registers of 32 bits; the same number for all targets in the table
constexpr unsigned maxRegistersPerThread = 255;

/// Returns the target with this name, or null.
const GpuTarget *findTarget(std::string_view name);

/// Returns the target with the most features whose code runs on a GPU of this compute capability times ten: sm_90a for
/// 90. If the table has no row for the GPU, returns an earlier target whose PTX the GPU runs; null if there is none.
const GpuTarget *findTargetOf(unsigned capability);

/// Returns all targets, by capability.
std::vector<const GpuTarget *> allTargets();

/// Returns "sm_75, sm_80, ...", for messages.
std::string listTargets();

} // namespace tile::target
