// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of a tensor core, bit for bit as on sm_90.
//
//   d = c + a0 b0 + a1 b1 + … + a(K-1) b(K-1), K the depth of one instruction
//
// Floating point: the products of elements are exact. The exponent of such a term is the sum of the exponents of its
// elements (its significand lies in [0, 4)); subnormals have their format's smallest exponent and zeros have none. All
// K terms and c are truncated (towards zero) to `fraction` bits after the binary point of the largest exponent among
// them, added exactly, and the sum is rounded once: to single precision towards zero, to half precision to nearest
// even. A zero is +0, a NaN 0x7fffffff (0x7fff). fraction is 25; for 8-bit floats in wgmma it is 13, and the result
// also has only 13 bits. mma.sync has no unit for 8-bit floats: they are widened to f16; elements 0 and 1 of every four
// along K are one instruction, elements 2 and 3 the next one, both without c, which is added at the end, rounded to
// nearest.
//
// Blackwell (tcgen05.mma, and mma.sync with .kind): the same formula with fraction 25 for all floats, over the whole K
// of the instruction. No model of block scales is published: terms of two elements and their two scales are exact here,
// their exponent is the sum of the four, and they are added in the same way.
//
// Sources: Fasi et al. (PeerJ CS 7:e330, 2021) for older chips and Xie et al. (arXiv:2511.10909) for sm_90, except for
// zeros and 8-bit mma.sync; all of it was compared with an H200, see test/Simulator/recorded.
#pragma once

#include "Simulator/Exec/Matrix/Elements.h"

namespace tile::sim::matrix {

enum class Accumulator : uint8_t { F32, F16, S32 };

/// The types and modifiers of an MMA.
struct MmaTraits {
  Element left = Element::F16;
  Element right = Element::F16;
  Accumulator accumulator = Accumulator::F32;
  bool isWarpGroup = false; ///< wgmma: 8-bit floats have a separate unit
  bool saturate = false;    ///< integers: saturate to the range of s32; otherwise they wrap
  bool isXor = false;       ///< single bits: xor instead of and
  bool isBlackwell = false; ///< tcgen05.mma, mma.sync with .kind: all float types follow the formula of f16
  unsigned inputShift = 0;  ///< tcgen05.mma: the accumulators are multiplied by 2^-inputShift first
};

/// Multiplies the operands and adds the result to `accumulators`, a row-major matrix of left.lines x right.lines bit
/// patterns; right.lines is a multiple of 8.
void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const FactorBits &right, uint32_t *accumulators);

/// The same for operands whose blocks along k have scales: exact products of elements and scales, added like f16.
void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const BlockScales &leftScales,
                 const FactorBits &right, const BlockScales &rightScales, uint32_t *accumulators);

/// MMA of f64: fused multiply-adds, one after another in the order of k. `left` is by rows, `right` by columns
/// (elements along k are neighbours in both).
void multiplyAdd(unsigned rows, unsigned columns, unsigned depth, const double *left, const double *right,
                 double *accumulators);

} // namespace tile::sim::matrix
