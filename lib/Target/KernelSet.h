// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels of a matrix product to compile, if only a few can be: those with which, for any sizes, one is nearly as
// fast as the best of all that could be made.
//
//   KernelSet set = chooseKernels(gpu, problem, {}, {}, sampleSizes({}), {.most = 8});
//   set.kernels[0]      the best single one
//   set.worstLoss()     0.06: for one of the sizes the best of the set takes 6 % longer than the best of all
//
// All that the compiler can build are priced for all sizes (ScheduleTime.h); then the set grows by what gains most.
#pragma once

#include "Target/ScheduleTime.h"

#include <vector>

namespace tile::target {

/// Sizes that a product may be called with; those that are known are the same in all.
struct KnownSizes {
  std::optional<int64_t> m = {}, n = {}, k = {};
};

struct SampledSize {
  GemmSize size;
  double weight; ///< of what is lost there
};

/// Sizes of neural networks are multiples of 8 and more, mostly: only kernels for aligned rows are chosen by them.
enum class SampleKind { OfNetworks, Anywhere };

/// Spread evenly over the logarithms up to 16384, and, with more weight, where products of neural networks lie, if they
/// count: squares, few rows, deep ones. The same in each run. One if all are known.
std::vector<SampledSize> sampleSizes(const KnownSizes &known, SampleKind kind = SampleKind::OfNetworks);

/// What is compiled.
struct GemmKernel {
  GemmConfig config;
  GemmSchedule schedule;
  bool splitTail; ///< shares the tiles of the last wave (cta-share-steps)

  bool operator==(const GemmKernel &) const = default;
};

/// What the compiler may do, beside GemmProblem and GemmChoices.
struct ScheduleRules {
  enum class PingPong { Never, Perhaps, Always };
  PingPong pingPong = PingPong::Perhaps;
  bool persistent = true, splitSteps = true;
  /// Every element of c is the sum of the same products in the same order, whatever the sizes of c: nothing shares or
  /// reorders the steps along K, and wgmma's rows are always those of a.
  bool sameOrder = false;
};

/// All that could be made, without groups of tiles (1, if they are open): these follow from the sizes.
std::vector<GemmKernel> listKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                                    const ScheduleRules &rules);

ScheduleFormula formulaOf(const GpuTarget &target, GemmProblem problem, const GemmKernel &kernel);

/// Expected microseconds.
double estimateKernel(const GpuTarget &target, const GemmProblem &problem, const GemmKernel &kernel,
                      const GemmSize &size);

struct SetLimits {
  size_t most = 8;         ///< kernels
  double tolerance = 0.03; ///< the set does not grow when no size loses more
};

/// What is expected for a size of the sample.
struct SizeChoice {
  GemmSize size;
  size_t kernel = 0;           ///< of the set
  double microseconds = 0;     ///< by this one
  double bestMicroseconds = 0; ///< by the best of all

  double loss() const { return microseconds / bestMicroseconds - 1; }
};

struct KernelSet {
  std::vector<GemmKernel> kernels; ///< in the order of what they gain
  std::vector<SizeChoice> choices; ///< one for each size

  double worstLoss() const;
  double meanLoss() const;
};

KernelSet chooseKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                        const ScheduleRules &rules, const std::vector<SampledSize> &sizes, const SetLimits &limits);

} // namespace tile::target
