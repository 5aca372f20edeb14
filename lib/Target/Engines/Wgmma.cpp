// What wgmma takes; see Wgmma.h.
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

/// Of the instructions' types, those whose products are left to it. 8-bit floats would be added up with fewer bits than
/// fp32 has (on Hopper about 14), so they stay with mma.sync.
bool multiplies(const WgmmaProduct &product) {
  bool isHalf = product.a == MmaType::F16 || product.a == MmaType::BF16;
  bool isByte = product.a == MmaType::S8;
  return product.a == product.b &&
         ((isHalf && product.accumulator == MmaType::F32) || (isByte && product.accumulator == MmaType::S32));
}

bool isPowerOfTwo(int64_t value) {
  return value > 0 && std::has_single_bit(uint64_t(value));
}

/// One instruction computes 160 columns, say. Only b has them, and its buffer must have the rest at its end: with k
/// contiguous there is one panel of all columns, with n contiguous it is what the last panel lacks.
bool fitsOnePart(const WgmmaProduct &product, unsigned groupsN) {
  constexpr int64_t step = 16;
  return isPowerOfTwo(product.m) && isPowerOfTwo(product.k) && product.n % step == 0 && product.n <= wgmmaMostColumns &&
         groupsN == 1 && (!product.bKMajor || product.k * product.elementBits() <= 8 * widestSwizzle);
}

} // namespace

std::string_view sourceName(OperandSource source) {
  return source == OperandSource::Registers ? "registers" : "shared";
}

WgmmaProduct WgmmaProduct::swapped() const {
  WgmmaProduct other = *this;
  std::swap(other.a, other.b);
  std::swap(other.m, other.n);
  std::swap(other.aKMajor, other.bKMajor);
  return other;
}

bool isWgmmaInstruction(MmaType a, MmaType b, MmaType accumulator, unsigned n) {
  bool hasTypes = std::any_of(std::begin(instructions), std::end(instructions), [&](const Types &types) {
    return types.a == a && types.b == b && types.accumulator == accumulator;
  });
  return hasTypes && n >= wgmmaColumnStep && n <= wgmmaMostColumns && n % wgmmaColumnStep == 0;
}

std::string_view whyNoWgmma(const GpuTarget &target, const WgmmaProduct &product) {
  if (!target.has(Feature::Wgmma))
    return "the target has no wgmma";
  if (!multiplies(product))
    return "its types are not multiplied by wgmma";
  bool is16Bit = product.elementBits() == 16;
  // PTX ISA, "Matrix descriptor": only 16-bit types may have m or n contiguous.
  if (!is16Bit && !(product.hasKMajorA() && product.bKMajor))
    return "k is not contiguous in both operands, of a type that is not of 16 bits";
  // PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": those of 8-bit types are no accumulators.
  if (!is16Bit && product.sourceA == OperandSource::Registers)
    return "a is in registers, and of a type that is not of 16 bits";
  return "";
}

WgmmaResult planWgmma(const GpuTarget &target, const WgmmaProduct &product) {
  auto refuse = [](std::string_view reason) { return WgmmaResult{std::nullopt, reason}; };
  if (std::string_view reason = whyNoWgmma(target, product); !reason.empty())
    return refuse(reason);
  if (product.numWarps == 0 || product.numWarps % warpsPerGroup != 0)
    return refuse("its warps are no whole warp groups");
  int64_t groups = product.numWarps / warpsPerGroup, bits = product.elementBits();
  if (product.m < wgmmaRows)
    return refuse("it has fewer than 64 rows");
  if (product.k * bits < 8 * wgmmaBytesK)
    return refuse("its rows have less than 32 bytes along k");
  WgmmaPlan plan;
  // Along M as far as there are 64 rows for each group, the rest along N.
  plan.groupsM = std::min<int64_t>(groups, product.m / wgmmaRows);
  plan.groupsN = groups / plan.groupsM;
  bool hasPowers = isPowerOfTwo(product.m) && isPowerOfTwo(product.n) && isPowerOfTwo(product.k);
  if (!hasPowers && !fitsOnePart(product, plan.groupsN))
    return refuse("its sizes are no powers of two, or for more than one instruction");
  int64_t groupN = product.n / plan.groupsN;
  int64_t panel = std::min<int64_t>(std::bit_ceil(uint64_t(product.n)), 64);
  // A matrix descriptor needs a swizzle, of 32 bytes at least; with n contiguous, groups begin at whole panels.
  bool splitsPanel = plan.groupsN > 1 && groupN % panel != 0;
  if (groupN < wgmmaColumnStep || (!product.bKMajor && (panel * bits < 8 * wgmmaBytesK || splitsPanel)))
    return refuse("a warp group has too few columns");
  plan.n = std::min<int64_t>(groupN, wgmmaMostColumns);
  plan.k = 8 * wgmmaBytesK / bits;
  return {plan, ""};
}

} // namespace tile::target
