// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction descriptor of tcgen05.mma: 32 bits with types, shape and operand layouts. PTX ISA 9.7.16.4.2.
//
//   bits    kinds f16, tf32, f8f6f4, i8                    kinds with block scales
//   2       sparse                                         the same
//   3       saturate (i8)                                  0
//   4-5     type of D: 0 f16, 1 f32, 2 s32                 which byte of a column holds the scales of B
//   7-9     type of A: f16 0, bf16 1; tf32 2;              f8f6f4 types; e2m1 is 1 for kinds mxf4, mxf4nvf4
//           u8 0, s8 1; e4m3 0, e5m2 1, e2m3 3,
//           e3m2 4, e2m1 5
//   10-12   type of B                                      the same
//   13, 14  negate A, B                                    the same
//   15, 16  A, B is MN-major                               the same
//   17-22   N / 8                                          the same
//   23                                                     type of scales: 0 ue4m3, 1 ue8m0
//   24-28   M / 16                                         the same
//   29-30                                                  which byte of a column holds the scales of A
//   30-31   largest shift (ws)
#pragma once

#include "Simulator/Exec/Matrix/TensorCore.h"

#include <string>

namespace tile::sim::tensor {

enum class MmaKind : uint8_t { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };

/// The modifiers of the instruction as written.
struct MmaForm {
  MmaKind kind = MmaKind::F16;
  unsigned ctaGroup = 1;
  bool isWeightStationary = false; ///< .ws
  bool leftInTensor = false;       ///< A is in tensor memory
  unsigned scaleVector = 0;        ///< scales per line and instruction: 1, 2 or 4; 0: the kind has no scales
  bool isScaled() const { return kind >= MmaKind::MXF8F6F4; }
};

struct MmaShape {
  unsigned m = 0, n = 0, k = 0; ///< number of rows or columns over all CTAs of the group
  matrix::MmaTraits traits;
  bool negateLeft = false, negateRight = false;
  bool leftLineMajor = false, rightLineMajor = false;
  matrix::ScaleType scaleType = matrix::ScaleType::UE8M0;
  unsigned leftScale = 0, rightScale = 0; ///< index of the first byte within a column

  /// The number of elements in a 16-byte chunk of an operand. In kinds f8f6f4 and mxf8f6f4, elements of 4 and 6 bits
  /// are packed, with a gap after each 16 elements.
  unsigned perChunk = 0;
};

/// Reads the shape. Returns an error message, or an empty string.
std::string readInstructionDescriptor(uint32_t bits, const MmaForm &form, MmaShape &shape);

} // namespace tile::sim::tensor
