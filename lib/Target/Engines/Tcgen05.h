// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.mma: decides which dots the tensor cores of Blackwell multiply, and with which instruction.
//
//   WgmmaDot dot{.m = 128, .n = 256, .k = 64, .numWarps = 4};
//   std::optional<Tcgen05Plan> plan = planTcgen05(*findTarget("sm_100a"), dot).plan;   // m128n256k16
//
// One thread issues the instruction for the whole CTA. Operands are in shared memory, in the same matrix layouts as for
// wgmma. The accumulator is in tensor memory, which has 128 lanes of 512 columns of 32 bits. Source: PTX ISA 9.0,
// "TensorCore 5th Generation Family Instructions".
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

constexpr unsigned tensorMemoryLanes = 128;
constexpr unsigned tensorMemoryColumns = 512;   ///< columns of 32 bits, per multiprocessor
constexpr unsigned minTensorMemoryColumns = 32; ///< The minimum size of an allocation, which must be a power of two.
constexpr unsigned tcgen05MaxColumns = 256;     ///< maximum number of columns of an instruction
constexpr unsigned tcgen05BytesK = 32;          ///< bytes of a row of a that each instruction multiplies, for all types

/// The instruction m n k.
struct Tcgen05Plan {
  unsigned m = 128, n = 0, k = 0;

  bool operator==(const Tcgen05Plan &) const = default;
};

/// A plan, or why there is none: a clause without a capital letter or a period.
struct Tcgen05Result {
  std::optional<Tcgen05Plan> plan;
  std::string reason;
};

/// Returns why tcgen05 cannot compute dots with these types and memory layouts, whatever their sizes; empty if it can.
std::string whyNoTcgen05(const GpuTarget &target, const WgmmaDot &dot);

/// Returns how tcgen05 computes the dot. A left operand with `fromRegisters` is stored to tensor memory first.
/// `imprecise` has no effect, because tcgen05 accumulates with all bits of the result's type.
Tcgen05Result planTcgen05(const GpuTarget &target, const WgmmaDot &dot);

/// Returns true if there is an instruction of these types and this shape on some target.
bool isTcgen05Instruction(MmaType a, MmaType b, MmaType accumulator, unsigned m, unsigned n, unsigned scaleGroup = 0);

/// Returns the number of columns of tensor memory that an accumulator of `m` x `n` elements takes: n for every 128
/// rows. An accumulator of 64 rows also takes n columns.
unsigned tensorColumnsOf(int64_t m, int64_t n);

/// The scales of an operand with `lines` rows (a) or columns (b) are in tensor memory. Each 32-bit column holds 4 bytes
/// per lane: the scales of 4 groups along k. 32 rows or columns take 32 lanes, and the values are repeated in each
/// quarter of the lanes; further rows or columns, and then further groups, take further columns (PTX ISA, "Layout of
/// the Scale Factor").
constexpr unsigned scalesOfColumn = 4, linesOfScaleColumn = 32, scaleColumnsOfCopy = 4;
/// Returns the number of columns for the scales of `groups` groups along k; 0 if copies of 4 columns each cannot fill
/// them exactly.
unsigned scaleColumnsOf(int64_t lines, int64_t groups);

/// Returns the part that follows "tcgen05.mma.cta_group::1" in the instruction's name:
/// ".kind::mxf4.block_scale.block32".
std::string tcgen05Suffix(MmaType a, unsigned scaleGroup);
/// Returns the number of scales per row that an instruction uses: 1, 2 or 4.
unsigned scalesOfInstruction(MmaType a, unsigned scaleGroup);

/// Returns the instruction descriptor of an instruction of shape m x n (PTX ISA, "Instruction descriptor").
uint32_t tcgen05Descriptor(MmaType a, MmaType b, MmaType accumulator, unsigned m, unsigned n, bool aKMajor,
                           bool bKMajor);
/// Returns the instruction descriptor for operands with scales, both with k contiguous. `firstScale` is the index of
/// the first scale within its column of tensor memory.
uint32_t tcgen05ScaledDescriptor(MmaType a, MmaType b, unsigned m, unsigned n, unsigned scaleGroup,
                                 unsigned firstScale);

} // namespace tile::target
