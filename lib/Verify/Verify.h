// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves properties of a kernel for all launches that its checks admit: all sizes, strides, programs, iterations and
// elements.
//
//   Report report = verify(kernel, manifest, *Solver::load(), {});
//
// The README of this folder says what is proven, and how.
#pragma once

#include "Runtime/Manifest.h"
#include "Tile/TileDialect.h"
#include "Verify/Solver.h"

namespace tile::verify {

enum class Answer {
  Proven,
  Conditional, ///< proven if loaded values are within a range
  Unknown,
  Refuted ///< there is a counterexample, which the interpreter confirms
};

struct Finding {
  std::string position; ///< file:line:column
  std::string kind;     ///< "load", "store", "division", "assume", "programs", "output"
  std::string subject;  ///< the buffer, or empty
  Answer answer = Answer::Unknown;
  std::string reason;         ///< empty if proven
  std::string counterexample; ///< "N=7 BLOCK=4; program (1, 0, 0)"
};

struct Options {
  double seconds = 20;                    ///< for the whole kernel
  int64_t largest = 2147483647 - 65535;   ///< of a 32-bit parameter
  int64_t maxElements = int64_t(1) << 40; ///< of a buffer
};

struct Report {
  std::vector<Finding> accesses;   ///< one for each access
  std::vector<Finding> conditions; ///< divisions by run-time values, assumptions, buffers that programs share, outputs
  size_t count(Answer answer) const; ///< among accesses
  bool isRefuted() const;
  bool isTimeOver = false;
};

Report verify(KernelOp kernel, const runtime::Manifest &manifest, Solver &solver, const Options &options);

} // namespace tile::verify
