// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: which products warp groups multiply, with which instruction, and on which grid of groups.
//
//   WgmmaProduct product{.m = 128, .n = 256, .k = 64, .numWarps = 8};
//   std::optional<WgmmaPlan> plan = planWgmma(*findTarget("sm_90a"), product).plan;   // m64n256k16, 2 groups along m
//
// The one place that knows what the engine takes. It is told plain facts: Analysis finds them in the IR, the cost model
// in a configuration, the conversion in an operation. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions".
#pragma once

#include "Target/MmaTable.h"

#include <optional>
#include <string>

namespace tile::target {

constexpr unsigned warpsPerGroup = 4;
constexpr unsigned wgmmaRows = 64;         ///< of each instruction
constexpr unsigned wgmmaBytesK = 32;       ///< of a row of a that each instruction multiplies, for all types
constexpr unsigned wgmmaMostColumns = 256; ///< of an instruction, which has a multiple of 8
constexpr unsigned wgmmaColumnStep = 8;
constexpr unsigned widestSwizzle = 128; ///< bytes of a row of an operand in shared memory that are swizzled together
constexpr unsigned leastSwizzle = 32;   ///< that a matrix descriptor of the operand needs

inline bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// What brings an operand: TMA or threads into shared memory; threads into registers, which b never is in; or TMA,
/// after which threads store it with k contiguous.
enum class OperandSource { Tma, Threads, Registers, Transposed };
/// "tma", "threads", "registers", "transposed".
std::string_view sourceName(OperandSource source);

/// c[m, n] += a[m, k] * b[k, n], of one CTA.
struct WgmmaProduct {
  MmaType a = MmaType::F16, b = MmaType::F16, accumulator = MmaType::F32;
  int64_t m = 0, n = 0, k = 0;
  /// K is contiguous in the rows of a, and in the columns of b, as they lie in shared memory.
  bool aKMajor = true, bKMajor = true;
  bool fromRegisters = false; ///< a is.
  unsigned numWarps = warpsPerGroup;
  /// How many products along k may be added with the 14 bits that Hopper adds those of 8-bit floats with, before their
  /// sum is added in f32; none if all may.
  std::optional<unsigned> imprecise = std::nullopt;

  unsigned elementBits() const { return mmaTypeBits(a); }
  bool hasKMajorA() const { return fromRegisters || aKMajor; }
  /// c^T = b^T a^T, of operands that both lie in shared memory.
  WgmmaProduct swapped() const;
};

/// The instruction m64 n k, and the grid of warp groups.
struct WgmmaPlan {
  unsigned n = 0, k = 0;
  unsigned groupsM = 1, groupsN = 1;
  unsigned promote = 0; ///< After how many elements along k sums are added to the accumulator in f32; 0: never.

  bool operator==(const WgmmaPlan &) const = default;
};

/// A plan, or why there is none: a clause without capital and period.
struct WgmmaResult {
  std::optional<WgmmaPlan> plan;
  std::string reason;
};

/// Whether there is an instruction m64n`n` for the types.
bool isWgmmaInstruction(MmaType a, MmaType b, MmaType accumulator, unsigned n);

/// Why products of such types and orders, whatever their sizes, are not multiplied by wgmma; empty if they are.
std::string whyNoWgmma(const GpuTarget &target, const WgmmaProduct &product);

/// Whether shared memory takes longer to read what an instruction with `n` columns multiplies, both operands from
/// there, than tensor cores take to multiply it; or as long, where copies write there meanwhile.
bool isBoundBySharedMemory(unsigned n, bool isWritten = false);

/// How warp groups multiply the product.
WgmmaResult planWgmma(const GpuTarget &target, const WgmmaProduct &product);

} // namespace tile::target
