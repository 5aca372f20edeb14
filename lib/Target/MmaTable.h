// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mma.sync instructions: which shapes exist for which element types on which targets.
//
//   const MmaInstruction *mma = widestMma(*findTarget("sm_80"), MmaType::F16, MmaType::F16, MmaType::F32);
//   // m16n8k16: one warp multiplies a 16x16 by a 16x8 tile
//
// Source: PTX ISA 9.0, "Multiply-and-Accumulate Instruction: mma" (dense, without block scaling), and its target notes.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

enum class MmaType { F16, BF16, TF32, F64, F8E4M3, F8E5M2, S8, U8, F32, S32, F4E2M1 };

/// Returns "f16", "bf16", ... as in the instruction's name.
std::string_view mmaTypeName(MmaType type);
/// Returns the number of bits that one element occupies in a register: 32 for tf32.
unsigned mmaTypeBits(MmaType type);

/// The number of elements along k that share a scale, for scales of type e8m0 and of type e4m3.
constexpr unsigned byteScaleGroup = 32, floatScaleGroup = 16;
/// Returns true if tensor cores with block scales multiply these types, with one scale per `scaleGroup` elements along
/// k. They multiply only 8-bit and 4-bit floats.
bool takesScales(MmaType a, MmaType b, unsigned scaleGroup);

struct MmaInstruction {
  MmaType a, b;        ///< element types of the multiplied matrices
  MmaType accumulator; ///< element type of the addend and of the result
  unsigned m, n, k;    ///< D[m, n] = A[m, k] * B[k, n] + C[m, n]
  unsigned capability; ///< minimum compute capability times ten
  unsigned ptxVersion; ///< minimum PTX ISA version times ten

  bool isSupportedBy(const GpuTarget &target) const {
    return target.capability >= capability && target.ptxVersion >= ptxVersion;
  }
};

/// Returns every instruction for these types on this target, from the smallest to the largest.
std::vector<const MmaInstruction *> mmaInstructions(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator);

/// Returns the largest instruction for these types on this target, or null if the tensor cores do not support the
/// types.
const MmaInstruction *widestMma(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator);

} // namespace tile::target
