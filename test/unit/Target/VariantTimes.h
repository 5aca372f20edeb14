// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of the variants of matmul.tile for random sizes on one H200, with cuBLAS: bench/results/h200/variants.tsv.
//
//   shape <operand orders> <M> <N> <K> <us of cuBLAS; of the fastest variant where that was not measured>
//   <variant> <us> <rounds>            each variant that serves the shape; 0 rounds: measured once with a cold cache
//
// Measured by tile-run tune --all --times, and scaled by the ratio of one of them to cuBLAS from tile-run bench; the
// last 20, with unaligned rows, by tile-run bench alone.
#pragma once

#include "Target/KernelSet.h"

#include <string>

namespace tile::target {

/// Classes of assumptions, as lib/Driver/PromiseClasses creates them for pointers.
enum class VariantClass { Aligned, Loads, Pieces8, Pieces4, General };
constexpr const char *variantClassNames[] = {"aligned", "loads", "pieces8", "pieces4", "general"};
constexpr size_t numVariantClasses = std::size(variantClassNames);

struct VariantTime {
  VariantClass promises;
  GemmKernel kernel;
  double microseconds;
  bool isQuick; ///< slower than others, and so measured only once
};

struct TimedShape {
  std::string order; ///< "nt": a row-major, b column-major
  GemmSize size;
  double baseline; ///< us of cuBLAS
  std::vector<VariantTime> times;

  std::string name() const;
  /// Returns the GEMM problem of the class.
  GemmProblem problem(VariantClass promises) const;
  bool isServedBy(VariantClass promises) const;
  std::optional<double> timeOf(VariantClass promises, const GemmKernel &kernel) const;
  double bestTime() const;
};

/// Returns an empty list if the file cannot be read. Variants that this compiler no longer builds are skipped.
std::vector<TimedShape> readVariantTimes(const std::string &path);

/// "128x256x64-tail".
std::string kernelName(const GemmKernel &kernel);

} // namespace tile::target
