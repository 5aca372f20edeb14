// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which dots tcgen05 computes; see Tcgen05.h.
#include "Target/Engines/Tcgen05.h"

#include <algorithm>
#include <bit>

namespace tile::target {
namespace {

constexpr unsigned fullRows = 128, halfRows = 64; // rows of an instruction that one CTA issues

bool isFp8(MmaType type) {
  return type == MmaType::F8E4M3 || type == MmaType::F8E5M2;
}

bool multipliesTypes(MmaType a, MmaType b, MmaType accumulator, unsigned scaleGroup) {
  if (scaleGroup)
    return accumulator == MmaType::F32 && takesScales(a, b, scaleGroup);
  if (a == MmaType::S8)
    return b == MmaType::S8 && accumulator == MmaType::S32;
  bool areFloats = a == MmaType::F16 || a == MmaType::BF16 || a == MmaType::TF32;
  return accumulator == MmaType::F32 && ((areFloats && a == b) || (isFp8(a) && isFp8(b)));
}

/// Returns true for sizes that are not powers of two, such as 160 columns, if one instruction computes all columns and
/// the padding of b's buffer is at its end, as with wgmma.
bool fitsOneInstruction(const WgmmaDot &dot) {
  constexpr int64_t step = 16;
  return isPowerOfTwo(dot.m) && isPowerOfTwo(dot.k) && dot.n % step == 0 && dot.n <= tcgen05MaxColumns &&
         (!dot.bKMajor || dot.k * dot.elementBits() <= 8 * widestSwizzle);
}

/// Returns the code of an operand's type in the instruction descriptor.
uint32_t codeOf(MmaType type) {
  switch (type) {
  case MmaType::BF16:
  case MmaType::F8E5M2:
  case MmaType::S8:
    return 1;
  case MmaType::TF32:
    return 2;
  default:
    return 0;
  }
}

} // namespace

bool isTcgen05Instruction(MmaType a, MmaType b, MmaType accumulator, unsigned m, unsigned n, unsigned scaleGroup) {
  if (scaleGroup && m != fullRows)
    return false;
  // PTX ISA, "Shape": for i8, the number of columns is a multiple of 16 from 32 on, even with 64 rows.
  unsigned step = m == fullRows || a == MmaType::S8 ? 16 : 8;
  return multipliesTypes(a, b, accumulator, scaleGroup) && (m == fullRows || m == halfRows) && n % step == 0 &&
         n >= step && n <= tcgen05MaxColumns && (a != MmaType::S8 || n == 8 || n == 24 || n % 16 == 0);
}

unsigned tensorColumnsOf(int64_t m, int64_t n) {
  return unsigned(std::bit_ceil(uint64_t(n)) * std::max<int64_t>(1, m / fullRows));
}

unsigned scaleColumnsOf(int64_t lines, int64_t groups) {
  int64_t columns = lines / linesOfScaleColumn * (groups / scalesOfColumn);
  return columns % scaleColumnsOfCopy == 0 ? unsigned(columns) : 0;
}

std::string tcgen05Suffix(MmaType a, unsigned scaleGroup) {
  if (scaleGroup == floatScaleGroup)
    return ".kind::mxf4nvf4.block_scale.block16";
  if (scaleGroup)
    return a == MmaType::F4E2M1 ? ".kind::mxf4.block_scale.block32" : ".kind::mxf8f6f4.block_scale.block32";
  if (a == MmaType::S8)
    return ".kind::i8";
  if (isFp8(a))
    return ".kind::f8f6f4";
  return a == MmaType::TF32 ? ".kind::tf32" : ".kind::f16";
}

unsigned scalesOfInstruction(MmaType a, unsigned scaleGroup) {
  return 8 * tcgen05BytesK / mmaTypeBits(a) / scaleGroup;
}

uint32_t tcgen05ScaledDescriptor(MmaType a, MmaType b, unsigned m, unsigned n, unsigned scaleGroup,
                                 unsigned firstScale) {
  uint32_t codeA = a == MmaType::F4E2M1 ? 1 : codeOf(a), codeB = b == MmaType::F4E2M1 ? 1 : codeOf(b);
  return firstScale << 4 | codeA << 7 | codeB << 10 | n / 8 << 17 | uint32_t(scaleGroup == byteScaleGroup) << 23 |
         m / 16 << 24 | firstScale << 29;
}

uint32_t tcgen05Descriptor(MmaType a, MmaType b, MmaType accumulator, unsigned m, unsigned n, bool aKMajor,
                           bool bKMajor) {
  uint32_t ofResult = accumulator == MmaType::S32 ? 2 : accumulator == MmaType::F32 ? 1 : 0;
  return ofResult << 4 | codeOf(a) << 7 | codeOf(b) << 10 | uint32_t(!aKMajor) << 15 | uint32_t(!bKMajor) << 16 |
         n / 8 << 17 | m / 16 << 24;
}

std::string whyNoTcgen05(const GpuTarget &target, const WgmmaDot &dot) {
  if (!target.has(Feature::Tcgen05))
    return std::string(target.name) + " has no tcgen05; sm_100a has it";
  std::string a(mmaTypeName(dot.a)), b(mmaTypeName(dot.b));
  if (!multipliesTypes(dot.a, dot.b, dot.accumulator, dot.scaleGroup))
    return "tcgen05 does not multiply " + a + " and " + b + (dot.scaleGroup ? " with such scales" : "") + " into " +
           std::string(mmaTypeName(dot.accumulator)) +
           (dot.accumulator == MmaType::F16 ? "; use an accumulator of f32" : "");
  if (dot.a == MmaType::S8 && !target.has(Feature::Tcgen05Integers))
    return "tcgen05 of " + std::string(target.name) + " does not multiply integers; compile for sm_100a";
  // Operands of other than 16-bit types must have k contiguous in their buffers.
  if (dot.elementBits() != 16 && !(dot.aKMajor && dot.bKMajor))
    return "operands of " + a + " need k contiguous in both; transpose the other";
  return "";
}

Tcgen05Result planTcgen05(const GpuTarget &target, const WgmmaDot &dot) {
  auto refuse = [](std::string reason) { return Tcgen05Result{std::nullopt, std::move(reason)}; };
  if (std::string reason = whyNoTcgen05(target, dot); !reason.empty())
    return refuse(reason);
  if (dot.fromRegisters && (dot.m < fullRows || dot.scaleGroup))
    return refuse("tcgen05 reads a from tensor memory only with 128 rows and without scales");
  int64_t groups = dot.numWarps / warpsPerGroup, bits = dot.elementBits();
  if (groups == 0 || dot.numWarps % warpsPerGroup != 0)
    return refuse("tcgen05 needs groups of 4 warps; the kernel has " + std::to_string(dot.numWarps) +
                  "; use num_warps=4");
  if (dot.scaleGroup && dot.m < fullRows)
    return refuse("tcgen05 needs at least 128 rows with scales; a has " + std::to_string(dot.m) +
                  "; use larger blocks");
  if (dot.m < halfRows)
    return refuse("tcgen05 needs at least 64 rows; a has " + std::to_string(dot.m) + "; use larger blocks");
  if (dot.k * bits < 8 * tcgen05BytesK)
    return refuse("tcgen05 needs at least 256 bits along k; a has " + std::to_string(dot.k * bits) +
                  "; use larger blocks");
  bool hasPowers = isPowerOfTwo(dot.m) && isPowerOfTwo(dot.n) && isPowerOfTwo(dot.k);
  if (!hasPowers && !fitsOneInstruction(dot))
    return refuse("tcgen05 needs sizes that are powers of two, or a multiple of 16 columns");
  Tcgen05Plan plan{.m = dot.m >= fullRows ? fullRows : halfRows,
                   .n = unsigned(std::min<int64_t>(dot.n, tcgen05MaxColumns)),
                   .k = unsigned(8 * tcgen05BytesK / bits)};
  if (!isTcgen05Instruction(dot.a, dot.b, dot.accumulator, plan.m, plan.n, dot.scaleGroup))
    return refuse("tcgen05 has no instruction of " + std::to_string(plan.m) + " rows and " + std::to_string(plan.n) +
                  " columns; use more columns");
  // Warp groups that read the same rows split the columns.
  int64_t groupsOfColumns = groups / std::min<int64_t>(groups, std::max<int64_t>(1, dot.m / fullRows));
  constexpr int64_t columnsOfGroup = 8;
  if (!isPowerOfTwo(groups) || int64_t(std::bit_ceil(uint64_t(dot.n))) / groupsOfColumns < columnsOfGroup)
    return refuse("tcgen05 needs at least 8 columns per warp group; b has only " + std::to_string(dot.n) + " for " +
                  std::to_string(groupsOfColumns) + " groups; use fewer warps");
  // With n contiguous, rows of b must have at least the width of the smallest swizzle.
  int64_t panel = std::min<int64_t>(std::bit_ceil(uint64_t(dot.n)), 64);
  if (!dot.bKMajor && panel * bits < 8 * minSwizzle)
    return refuse("tcgen05 requires rows of b to have at least 32 bytes; use more columns");
  unsigned columns = tensorColumnsOf(dot.m, dot.n);
  if (dot.scaleGroup) {
    int64_t scales = dot.k / dot.scaleGroup;
    unsigned ofA = scaleColumnsOf(dot.m, scales), ofB = scaleColumnsOf(dot.n, scales);
    if (!hasPowers || ofA == 0 || ofB == 0)
      return refuse("tcgen05 needs multiples of 128 columns and 4 groups along k with scales; b has " +
                    std::to_string(dot.n) + " columns and " + std::to_string(scales) + " groups");
    columns += std::bit_ceil(ofA + ofB);
  }
  if (dot.fromRegisters)
    columns += tensorColumnsOf(dot.m, dot.k * bits / 32);
  if (columns > tensorMemoryColumns)
    return refuse("the accumulator needs " + std::to_string(columns) + " columns of tensor memory, which has " +
                  std::to_string(tensorMemoryColumns) + "; use smaller blocks");
  return {plan, ""};
}

} // namespace tile::target
