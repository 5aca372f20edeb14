// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The floating-point arithmetic of a PTX kernel as a value: which instructions round, and how they depend on each
// other.
//
//   add.f32 %r3, %r1, %r2;                      add(load +0, load +4)
//   shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
//   add.rn.f32 %r5, %r3, %r4;              ==>  add.rn(add(load +0, load +4), bfly 1(add(load +0, load +4)))
//   wgmma … {%r6, …}, %rd1, %rd2, …             wgmma(accumulator, matrix +0, matrix +0)
//   wgmma … {%r6, …}, %rd3, %rd4, …             wgmma(wgmma(…), matrix +2, matrix +2)
//
// The hash covers the set of these expressions with the source position of each. It does not depend on registers, on
// the order of independent instructions, or on how often an expression is repeated for other elements. It does not
// say which elements are loaded: the tile program does. Positions within one block of memory are relative to the first
// one that an expression reads, so that a sum in another order has another hash.
#pragma once

#include "Runtime/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tile::order {

struct PtxArithmetic {
  std::string hash;                     ///< hash of the floating-point instructions
  std::string code;                     ///< hash of all instructions in their order
  std::vector<std::string> unordered;   ///< atomic additions of floats: "red.global.add.f32 at 12:5"
  std::vector<std::string> approximate; ///< instructions whose results the PTX ISA only bounds: "ex2.approx"
  /// Multiplications that the assembler may contract with an addition: "mul.f32 at 12:5".
  std::vector<std::string> contractible;
  std::vector<std::string> unknown; ///< constructs that the analysis does not understand
};

/// Analyses the kernel `entry`. Fails if the PTX cannot be parsed, or has no such kernel.
runtime::Result<PtxArithmetic> analyseArithmetic(std::string_view ptx, std::string_view entry);

} // namespace tile::order
