// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements Wgmma.h: decides which operands wgmma accepts.
#include "Target/Engines/Wgmma.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace tile::target {
namespace {

struct Types {
  MmaType a, b, accumulator;
};

constexpr Types instructions[] = {
    {MmaType::F16, MmaType::F16, MmaType::F32},       {MmaType::F16, MmaType::F16, MmaType::F16},
    {MmaType::BF16, MmaType::BF16, MmaType::F32},     {MmaType::TF32, MmaType::TF32, MmaType::F32},
    {MmaType::F8E4M3, MmaType::F8E4M3, MmaType::F32}, {MmaType::F8E4M3, MmaType::F8E5M2, MmaType::F32},
    {MmaType::F8E5M2, MmaType::F8E4M3, MmaType::F32}, {MmaType::F8E5M2, MmaType::F8E5M2, MmaType::F32},
    {MmaType::S8, MmaType::S8, MmaType::S32},
};

bool hasTypes(MmaType a, MmaType b, MmaType accumulator) {
  return std::any_of(std::begin(instructions), std::end(instructions), [&](const Types &types) {
    return types.a == a && types.b == b && types.accumulator == accumulator;
  });
}

/// Returns true for sizes that are not powers of two, such as 160 columns, if one instruction computes all columns.
/// Only b may have such a size, and the padding must be at the end of b's buffer: with k contiguous, one panel has all
/// columns; with n contiguous, only the last panel is shorter.
bool fitsOnePart(const WgmmaDot &dot, unsigned groupsN) {
  constexpr int64_t step = 16;
  return isPowerOfTwo(dot.m) && isPowerOfTwo(dot.k) && dot.n % step == 0 && dot.n <= wgmmaMaxColumns && groupsN == 1 &&
         (!dot.bKMajor || dot.k * dot.elementBits() <= 8 * widestSwizzle);
}

} // namespace

std::string_view sourceName(OperandSource source) {
  constexpr std::string_view names[] = {"tma", "threads", "registers", "transposed"};
  return names[size_t(source)];
}

WgmmaDot WgmmaDot::swapped() const {
  WgmmaDot other = *this;
  std::swap(other.a, other.b);
  std::swap(other.m, other.n);
  std::swap(other.aKMajor, other.bKMajor);
  return other;
}

bool isWgmmaInstruction(MmaType a, MmaType b, MmaType accumulator, unsigned n) {
  return hasTypes(a, b, accumulator) && n >= wgmmaColumnStep && n <= wgmmaMaxColumns && n % wgmmaColumnStep == 0;
}

std::string whyNoWgmma(const GpuTarget &target, const WgmmaDot &dot) {
  if (!target.has(Feature::Wgmma))
    return std::string(target.name) + " has no wgmma; sm_90a has it";
  if (dot.scaleGroup)
    return "wgmma takes no scales";
  std::string a(mmaTypeName(dot.a)), b(mmaTypeName(dot.b));
  if (!hasTypes(dot.a, dot.b, dot.accumulator))
    return "wgmma does not multiply " + a + " and " + b + " into " + std::string(mmaTypeName(dot.accumulator));
  bool is16Bit = dot.elementBits() == 16;
  // PTX ISA, "Matrix descriptor": only 16-bit types may have m or n contiguous.
  if (!is16Bit && !(dot.hasKMajorA() && dot.bKMajor))
    return "wgmma multiplies " + a + " only if k is contiguous in both operands";
  return "";
}

bool isBoundBySharedMemory(unsigned n, bool isWritten) {
  constexpr unsigned sharedBytes = 128,
                     columnsPerClock = 2; // columns per cycle, for 64 rows and 32 bytes along k, whatever the type
  unsigned reading = (wgmmaRows + n) * wgmmaBytesK / sharedBytes, multiplying = n / columnsPerClock;
  return reading > multiplying || (isWritten && reading == multiplying);
}

WgmmaResult planWgmma(const GpuTarget &target, const WgmmaDot &dot) {
  auto refuse = [](std::string reason) { return WgmmaResult{std::nullopt, std::move(reason)}; };
  if (std::string reason = whyNoWgmma(target, dot); !reason.empty())
    return refuse(reason);
  int64_t groups = dot.numWarps / warpsPerGroup, bits = dot.elementBits(), bitsK = dot.k * bits;
  if (groups == 0 || dot.numWarps % warpsPerGroup != 0)
    return refuse("wgmma needs groups of 4 warps; the kernel has " + std::to_string(dot.numWarps));
  if (dot.m < wgmmaRows)
    return refuse("wgmma needs at least 64 rows; a has " + std::to_string(dot.m));
  if (bitsK < 8 * wgmmaBytesK)
    return refuse("wgmma needs at least 256 bits along k; a has " + std::to_string(bitsK));
  WgmmaPlan plan;
  // As many groups as there are blocks of 64 rows are placed along M, and the remaining factor along N.
  plan.groupsM = std::min<int64_t>(groups, dot.m / wgmmaRows);
  plan.groupsN = groups / plan.groupsM;
  bool hasPowers = isPowerOfTwo(dot.m) && isPowerOfTwo(dot.n) && isPowerOfTwo(dot.k);
  if (!hasPowers && !fitsOnePart(dot, plan.groupsN))
    return refuse("wgmma needs sizes that are powers of two, or a multiple of 16 columns for one warp group");
  int64_t groupN = dot.n / plan.groupsN;
  if (groupN < wgmmaColumnStep)
    return refuse("wgmma needs at least 8 columns per warp group; b has only " + std::to_string(dot.n) + " for " +
                  std::to_string(plan.groupsN) + " groups");
  // With n contiguous, each group must begin at a panel boundary, and the rows of a panel must be at least as wide as
  // the smallest swizzle.
  int64_t panel = std::min<int64_t>(std::bit_ceil(uint64_t(dot.n)), 64);
  bool splitsPanel = plan.groupsN > 1 && groupN % panel != 0;
  if (!dot.bKMajor && (panel * bits < 8 * minSwizzle || splitsPanel))
    return refuse("wgmma requires rows of b to have at least 32 bytes, or 64 elements for each of several warp groups");
  plan.n = std::min<int64_t>(groupN, wgmmaMaxColumns);
  plan.k = 8 * wgmmaBytesK / bits;
  if (dot.imprecise) {
    // The partial sums take registers in addition to the accumulator's; instructions of 128 columns halve their number.
    constexpr unsigned promotedColumns = 128;
    if (groupN > promotedColumns && groupN % promotedColumns == 0)
      plan.n = promotedColumns;
    // Rounded up to whole instructions, as in Triton.
    plan.promote = (std::max(*dot.imprecise, 1u) + plan.k - 1) / plan.k * plan.k;
  }
  return {plan, ""};
}

} // namespace tile::target
