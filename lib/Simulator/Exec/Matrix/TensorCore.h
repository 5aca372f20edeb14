// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of a tensor core, bit for bit as on sm_90.
//
//   d = c + a0 b0 + a1 b1 + … + a(K-1) b(K-1), where K is the depth of one instruction
//
// Floating point: products of two elements (terms) are exact. The exponent of a term is the sum of the exponents of its
// elements, so its significand lies in [0, 4); subnormals have the smallest exponent of their format, and zeros have
// none. The K terms and c are truncated (towards zero) to `fraction` bits after the binary point, relative to the
// largest exponent among them, and added exactly. The sum is rounded once: to single precision towards zero, or to half
// precision to nearest even. A zero result is +0, and a NaN result 0x7fffffff (0x7fff). `fraction` is 25, but 13 for
// 8-bit floats in wgmma, whose result has only 13 mantissa bits, too. mma.sync has no unit for 8-bit floats and widens
// them to f16: elements 0 and 1 of every four along K form one instruction, and elements 2 and 3 the next one. Both
// omit c, which is added at the end and rounded to nearest.
//
// Blackwell (tcgen05.mma, and mma.sync with .kind) uses the same formula with a `fraction` of 25 for all floats, over
// the whole K of the instruction. No model of block scales has been published. Here a term is the exact product of two
// elements and their two scales, its exponent is the sum of these four exponents, and terms are added in the same way.
//
// Sources: Fasi et al. (PeerJ CS 7:e330, 2021) for older chips and Xie et al. (arXiv:2511.10909) for sm_90, except for
// zeros and 8-bit mma.sync. All of it has been compared with an H200; see test/Simulator/recorded.
#pragma once

#include "Simulator/Exec/Matrix/Elements.h"

namespace tile::sim::matrix {

enum class Accumulator : uint8_t { F32, F16, S32 };

/// The types and modifiers of an MMA.
struct MmaTraits {
  Element left = Element::F16;
  Element right = Element::F16;
  Accumulator accumulator = Accumulator::F32;
  bool isWarpGroup = false; ///< wgmma, which has a separate unit for 8-bit floats
  bool saturate = false;    ///< integers saturate to the range of s32; otherwise they wrap
  bool isXor = false;       ///< single-bit elements are combined by xor instead of and
  bool isBlackwell = false; ///< tcgen05.mma, mma.sync with .kind: all float types follow the formula of f16
  unsigned inputShift = 0;  ///< tcgen05.mma: the accumulators are first multiplied by 2^-inputShift
};

/// Multiplies the operands and adds the result to `accumulators`, a row-major matrix of left.lines x right.lines bit
/// patterns. right.lines must be a multiple of 8.
void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const FactorBits &right, uint32_t *accumulators);

/// Does the same for operands whose blocks along k have scales.
void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const BlockScales &leftScales,
                 const FactorBits &right, const BlockScales &rightScales, uint32_t *accumulators);

/// Executes an MMA of f64: fused multiply-adds, one after another in the order of k. `left` is stored by rows and
/// `right` by columns, so elements along k are adjacent in both.
void multiplyAdd(unsigned rows, unsigned columns, unsigned depth, const double *left, const double *right,
                 double *accumulators);

} // namespace tile::sim::matrix
