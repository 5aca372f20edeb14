// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses a few kernels of a GEMM to compile, such that at every size one of them is nearly as fast as the best
// possible kernel.
//
//   KernelSet set = chooseKernels(gpu, problem, {}, {}, sampleSizes({}), {.most = 8});
//   set.kernels[0]      the best kernel on its own
//   set.worstLoss()     0.06: at some size, the best kernel of the set takes 6 % longer than the best of all kernels
//
// The times of all kernels that the compiler can build are estimated for all sizes (ScheduleTime.h). Then the kernel
// with the largest gain is added to the set repeatedly.
#pragma once

#include "Target/ScheduleTime.h"

#include <vector>

namespace tile::target {

/// The sizes that are the same in all calls of a GEMM.
struct KnownSizes {
  std::optional<int64_t> m = {}, n = {}, k = {};
};

struct SampledSize {
  GemmSize size;
  double weight; ///< weight of a loss at this size
};

/// `OfNetworks` emphasizes the sizes of neural networks. It is used only for kernels for aligned rows, because these
/// sizes are mostly multiples of 8.
enum class SampleKind { OfNetworks, Anywhere };

/// Returns sizes that are spread evenly on a logarithmic scale up to 16384. With `OfNetworks`, the sizes of neural
/// networks (squares, few rows, long K) are added with a higher weight. The sizes are the same in each run. If all
/// sizes are known, there is only one.
std::vector<SampledSize> sampleSizes(const KnownSizes &known, SampleKind kind = SampleKind::OfNetworks);

/// A kernel to compile.
struct GemmKernel {
  GemmConfig config;
  GemmSchedule schedule;
  bool splitTail; ///< whether it splits the tiles of the last wave (cta-share-steps)

  bool operator==(const GemmKernel &) const = default;
};

/// Restrictions on the kernels to consider, in addition to GemmProblem and GemmChoices.
struct ScheduleRules {
  enum class PingPong { Never, Perhaps, Always };
  PingPong pingPong = PingPong::Perhaps;
  bool persistent = true, splitSteps = true;
  /// Whether every element of c must be the sum of the same terms in the same order at all sizes: K is never split or
  /// reordered, and wgmma's rows are always those of a.
  bool sameOrder = false;
};

/// Returns all possible kernels. Their `groupM` is 1 unless `choices` fixes it, because the best value depends on the
/// sizes.
std::vector<GemmKernel> listKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                                    const ScheduleRules &rules);

ScheduleFormula formulaOf(const GpuTarget &target, GemmProblem problem, const GemmKernel &kernel);

/// Returns the expected time in microseconds.
double estimateKernel(const GpuTarget &target, const GemmProblem &problem, const GemmKernel &kernel,
                      const GemmSize &size);

struct SetLimits {
  size_t most = 8;         ///< maximum number of kernels
  double tolerance = 0.03; ///< the set stops growing when the loss at every size is at most this
};

/// The expected times for a size of the sample.
struct SizeChoice {
  GemmSize size;
  size_t kernel = 0;           ///< the best kernel of the set
  double microseconds = 0;     ///< us with this kernel
  double bestMicroseconds = 0; ///< us with the best of all kernels

  double loss() const { return microseconds / bestMicroseconds - 1; }
};

struct KernelSet {
  std::vector<GemmKernel> kernels; ///< sorted by their gain
  std::vector<SizeChoice> choices; ///< one element for each size

  double worstLoss() const;
  double meanLoss() const;
};

KernelSet chooseKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                        const ScheduleRules &rules, const std::vector<SampledSize> &sizes, const SetLimits &limits);

} // namespace tile::target
