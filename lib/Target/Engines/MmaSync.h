// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync: which instruction multiplies a product, and on which grid of warps. MmaTable.h lists the instructions.
//
//   MmaSyncProduct product{.m = 128, .n = 128, .k = 32, .numWarps = 4};
//   std::optional<MmaSyncPlan> plan = planMmaSync(*findTarget("sm_80"), product);   // m16n8k16, 2 x 2 warps
#pragma once

#include "Target/MmaTable.h"

#include <optional>

namespace tile::target {

constexpr unsigned mmaSyncRows = 16, mmaSyncColumns = 8; ///< of the instructions that layouts know
constexpr unsigned mmaSyncBytesK = 32;                   ///< of a row of a that the widest of them multiplies

/// c[m, n] += a[m, k] * b[k, n], of one CTA.
struct MmaSyncProduct {
  MmaType a = MmaType::F16, b = MmaType::F16, accumulator = MmaType::F32;
  int64_t m = 0, n = 0, k = 0;
  unsigned numWarps = 1;
  bool isChained = false; ///< Takes a left operand from another product's accumulator, or makes one.
};

struct MmaSyncPlan {
  const MmaInstruction *instruction = nullptr;
  unsigned warpsM = 1, warpsN = 1;
};

/// The widest instruction that finds a whole step along k, and a grid of warps whose tiles are as square as possible,
/// so that a warp reads the fewest operand bytes for its products; of two such grids that with more warps along M in a
/// chain, where sums with whole rows are a left operand where they are. None if the tensor cores do not multiply the
/// types.
std::optional<MmaSyncPlan> planMmaSync(const GpuTarget &target, const MmaSyncProduct &product);

/// Whether the target has m16n8k`k` for these types.
bool isMmaSyncInstruction(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator, unsigned k);

/// Why warps would multiply more than the product, rows and columns that they have twice; empty if they do not.
std::string_view whyMmaSyncWastes(const MmaSyncProduct &product);

} // namespace tile::target
