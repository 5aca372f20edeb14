// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: decides which MMAs wgmma can compute, with which instruction, and how the warp groups are arranged.
//
//   WgmmaDot dot{.m = 128, .n = 256, .k = 64, .numWarps = 8};
//   std::optional<WgmmaPlan> plan = planWgmma(*findTarget("sm_90a"), dot).plan;   // m64n256k16, 2 groups along m
//
// Only this file defines what the instruction accepts. Its input is a plain struct, which Analysis fills in from the
// IR, the cost model from a configuration, and the conversion from an operation. Source: PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions".
#pragma once

#include "Target/MmaTable.h"

#include <optional>
#include <string>

namespace tile::target {

constexpr unsigned warpsPerGroup = 4;
constexpr unsigned wgmmaRows = 64;        ///< rows of each instruction
constexpr unsigned wgmmaBytesK = 32;      ///< bytes of a row of a that each instruction reads, for all types
constexpr unsigned wgmmaMaxColumns = 256; ///< maximum columns of an instruction, a multiple of 8
constexpr unsigned wgmmaColumnStep = 8;
constexpr unsigned widestSwizzle =
    128; ///< maximum number of bytes of an operand's row in shared memory that are swizzled together
constexpr unsigned minSwizzle = 32; ///< alignment that a matrix descriptor requires of the operand

inline bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// The source of an operand. `Tma` or `Threads` store it to shared memory; `Registers`: threads pass it in registers
/// (never b); `Transposed`: TMA copies it, and threads then transpose it so that k is contiguous.
enum class OperandSource { Tma, Threads, Registers, Transposed };
/// Returns "tma", "threads", "registers" or "transposed".
std::string_view sourceName(OperandSource source);

/// The MMA c[m, n] += a[m, k] * b[k, n] of one CTA.
struct WgmmaDot {
  MmaType a = MmaType::F16, b = MmaType::F16, accumulator = MmaType::F32;
  int64_t m = 0, n = 0, k = 0;
  /// Whether K is contiguous in the rows of a and in the columns of b in shared memory.
  bool aKMajor = true, bKMajor = true;
  bool fromRegisters = false; ///< whether a is in registers
  unsigned numWarps = warpsPerGroup;
  /// The number of terms along k that may be accumulated with the 14 bits that Hopper uses for 8-bit floats, before
  /// they are added to the accumulator in f32; nullopt if all terms may.
  std::optional<unsigned> imprecise = std::nullopt;
  unsigned scaleGroup = 0; ///< The number of elements along k that share a scale; 0 if the operands have no scales.

  unsigned elementBits() const { return mmaTypeBits(a); }
  bool hasKMajorA() const { return fromRegisters || aKMajor; }
  /// Returns the MMA c^T = b^T a^T. Both operands must be in shared memory.
  WgmmaDot swapped() const;
};

/// The n and k of the instruction m64n`n`k`k`, and the numbers of warp groups along M and N.
struct WgmmaPlan {
  unsigned n = 0, k = 0;
  unsigned groupsM = 1, groupsN = 1;
  unsigned promote =
      0; ///< The number of elements along k after which partial sums are added to the accumulator in f32; 0: never.

  bool operator==(const WgmmaPlan &) const = default;
};

/// A plan, or the reason why there is none: a clause without a capital letter or a period.
struct WgmmaResult {
  std::optional<WgmmaPlan> plan;
  std::string reason;
};

/// Returns true if there is an instruction m64n`n` for these types.
bool isWgmmaInstruction(MmaType a, MmaType b, MmaType accumulator, unsigned n);

/// Returns why wgmma cannot compute MMAs with these types and memory layouts, whatever their sizes; empty if it can.
std::string whyNoWgmma(const GpuTarget &target, const WgmmaDot &dot);

/// Returns true if reading both operands of an instruction with `n` columns from shared memory takes longer than the
/// MMA itself takes on the tensor cores. With `isWritten`, also returns true if the two times are equal, because copies
/// write to shared memory at the same time.
bool isBoundBySharedMemory(unsigned n, bool isWritten = false);

/// Plans how warp groups compute the MMA.
WgmmaResult planWgmma(const GpuTarget &target, const WgmmaDot &dot);

} // namespace tile::target
