// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mma.sync table, ordered by types and then by size.
#include "Target/MmaTable.h"

#include <iterator>

namespace tile::target {
namespace {

constexpr MmaType F16 = MmaType::F16, BF16 = MmaType::BF16, TF32 = MmaType::TF32, F64 = MmaType::F64,
                  E4M3 = MmaType::F8E4M3, E5M2 = MmaType::F8E5M2, S8 = MmaType::S8, U8 = MmaType::U8,
                  F32 = MmaType::F32, S32 = MmaType::S32;

constexpr MmaInstruction mmaInstructionTable[] = {
    // a, b, accumulator, m, n, k, capability, PTX
    {F16, F16, F32, 16, 8, 8, 75, 65},    {F16, F16, F32, 16, 8, 16, 80, 70},   {F16, F16, F16, 16, 8, 8, 75, 65},
    {F16, F16, F16, 16, 8, 16, 80, 70},   {BF16, BF16, F32, 16, 8, 8, 80, 70},  {BF16, BF16, F32, 16, 8, 16, 80, 70},
    {TF32, TF32, F32, 16, 8, 4, 80, 70},  {TF32, TF32, F32, 16, 8, 8, 80, 70},  {S8, S8, S32, 8, 8, 16, 75, 65},
    {S8, S8, S32, 16, 8, 16, 80, 70},     {S8, S8, S32, 16, 8, 32, 80, 70},     {U8, U8, S32, 8, 8, 16, 75, 65},
    {U8, U8, S32, 16, 8, 16, 80, 70},     {U8, U8, S32, 16, 8, 32, 80, 70},     {S8, U8, S32, 8, 8, 16, 75, 65},
    {S8, U8, S32, 16, 8, 16, 80, 70},     {S8, U8, S32, 16, 8, 32, 80, 70},     {U8, S8, S32, 8, 8, 16, 75, 65},
    {U8, S8, S32, 16, 8, 16, 80, 70},     {U8, S8, S32, 16, 8, 32, 80, 70},     {E4M3, E4M3, F32, 16, 8, 32, 89, 84},
    {E5M2, E5M2, F32, 16, 8, 32, 89, 84}, {E4M3, E5M2, F32, 16, 8, 32, 89, 84}, {E5M2, E4M3, F32, 16, 8, 32, 89, 84},
    {F64, F64, F64, 8, 8, 4, 80, 70},     {F64, F64, F64, 16, 8, 4, 90, 78},    {F64, F64, F64, 16, 8, 8, 90, 78},
    {F64, F64, F64, 16, 8, 16, 90, 78},
};

struct TypeFacts {
  std::string_view name;
  unsigned bits;
};
// The rows are in the order of MmaType.
constexpr TypeFacts typeFacts[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f64", 64}, {"e4m3", 8}, {"e5m2", 8},
                                   {"s8", 8},   {"u8", 8},    {"f32", 32},  {"s32", 32}, {"e2m1", 4}};
static_assert(std::size(typeFacts) == size_t(MmaType::F4E2M1) + 1);

} // namespace

std::string_view mmaTypeName(MmaType type) {
  return typeFacts[size_t(type)].name;
}
unsigned mmaTypeBits(MmaType type) {
  return typeFacts[size_t(type)].bits;
}

bool takesScales(MmaType a, MmaType b, unsigned scaleGroup) {
  auto isFp8 = [](MmaType type) { return type == MmaType::F8E4M3 || type == MmaType::F8E5M2; };
  bool isPacked = a == MmaType::F4E2M1 && b == MmaType::F4E2M1;
  return (scaleGroup == byteScaleGroup && (isPacked || (isFp8(a) && isFp8(b)))) ||
         (scaleGroup == floatScaleGroup && isPacked);
}

std::vector<const MmaInstruction *> mmaInstructions(const GpuTarget &target, MmaType a, MmaType b,
                                                    MmaType accumulator) {
  std::vector<const MmaInstruction *> found;
  for (const MmaInstruction &mma : mmaInstructionTable)
    if (mma.a == a && mma.b == b && mma.accumulator == accumulator && mma.isSupportedBy(target))
      found.push_back(&mma);
  return found;
}

const MmaInstruction *widestMma(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator) {
  std::vector<const MmaInstruction *> found = mmaInstructions(target, a, b, accumulator);
  return found.empty() ? nullptr : found.back();
}

} // namespace tile::target
