// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync: chooses the instruction that computes an MMA, and the arrangement of the warps. MmaTable.h lists the
// instructions.
//
//   MmaSyncDot dot{.m = 128, .n = 128, .k = 32, .numWarps = 4};
//   std::optional<MmaSyncPlan> plan = planMmaSync(*findTarget("sm_80"), dot);   // m16n8k16, 2 x 2 warps
#pragma once

#include "Target/MmaTable.h"

#include <optional>

namespace tile::target {

constexpr unsigned mmaSyncRows = 16, mmaSyncColumns = 8; ///< rows and columns of the instructions that layouts support
constexpr unsigned mmaSyncBytesK = 32;                   ///< bytes of a row of a that the widest instruction reads

/// The MMA c[m, n] += a[m, k] * b[k, n] of one CTA.
struct MmaSyncDot {
  MmaType a = MmaType::F16, b = MmaType::F16, accumulator = MmaType::F32;
  int64_t m = 0, n = 0, k = 0;
  unsigned numWarps = 1;
  /// Whether the left operand is another MMA's accumulator, or the accumulator is another MMA's left operand.
  bool isChained = false;
  unsigned scaleGroup = 0; ///< The number of elements along k that share a scale; 0 if the operands have no scales.
};

/// The depth k of the instruction m16n8k`k`, and the numbers of warps along M and N.
struct MmaSyncPlan {
  unsigned k = 0;
  unsigned warpsM = 1, warpsN = 1;
};

/// Plans the widest instruction that divides k, and an arrangement of warps whose tiles are as square as possible, so
/// that a warp reads the fewest operand bytes per MMA. If two arrangements are equally good, a chain of dots takes the
/// one with more warps along M: accumulators with whole rows can then be left operands without being moved. Returns
/// nullopt if the tensor cores do not support the types.
std::optional<MmaSyncPlan> planMmaSync(const GpuTarget &target, const MmaSyncDot &dot);

/// Returns true if the target has m16n8k`k` for these types.
bool isMmaSyncInstruction(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator, unsigned k,
                          unsigned scaleGroup = 0);

/// Returns the part that follows "mma.sync.aligned.m16n8k64.row.col" in the name of the instruction with scales:
/// ".kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0".
std::string scaledMmaSuffix(MmaType a, MmaType b, unsigned scaleGroup);

/// Returns why several warps would compute the same rows or columns; empty if they would not.
std::string_view whyMmaSyncWastes(const MmaSyncDot &dot);

} // namespace tile::target
