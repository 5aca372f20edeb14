// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the few kernels of a GEMM to compile, such that at all sizes one of them is nearly as fast as the best
// possible kernel.
//
//   KernelSet set = chooseKernels(gpu, problem, {}, {}, sampleSizes({}), {.most = 8});
//   set.kernels[0]      the best kernel on its own
//   set.worstLoss()     0.06: at some size, the best kernel of the set takes 6 % longer than the best of all kernels
//
// All kernels that the compiler can build are priced for all sizes (ScheduleTime.h); then the set grows by the kernel
// with the largest gain.
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

/// Only kernels for aligned rows are chosen with the sizes of neural networks, because these are mostly multiples of 8.
enum class SampleKind { OfNetworks, Anywhere };

/// Returns sizes that are spread evenly on a logarithmic scale up to 16384 and, with `OfNetworks`, those of neural
/// networks with more weight: squares, few rows, long K. The sizes are the same in each run; there is only one if all
/// sizes are known.
std::vector<SampledSize> sampleSizes(const KnownSizes &known, SampleKind kind = SampleKind::OfNetworks);

/// A kernel to compile.
struct GemmKernel {
  GemmConfig config;
  GemmSchedule schedule;
  bool splitTail; ///< whether it splits the tiles of the last wave (cta-share-steps)

  bool operator==(const GemmKernel &) const = default;
};

/// Freedom of the compiler in addition to GemmProblem and GemmChoices.
struct ScheduleRules {
  enum class PingPong { Never, Perhaps, Always };
  PingPong pingPong = PingPong::Perhaps;
  bool persistent = true, splitSteps = true;
  /// Whether every element of c must be the sum of the same terms in the same order at all sizes: K is never split or
  /// reordered, and wgmma's rows are always those of a.
  bool sameOrder = false;
};

/// Returns all possible kernels. Their `groupM` is 1 unless `choices` fixes it, because it depends on the sizes.
std::vector<GemmKernel> listKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                                    const ScheduleRules &rules);

ScheduleFormula formulaOf(const GpuTarget &target, GemmProblem problem, const GemmKernel &kernel);

/// Returns the expected time in microseconds.
double estimateKernel(const GpuTarget &target, const GemmProblem &problem, const GemmKernel &kernel,
                      const GemmSize &size);

struct SetLimits {
  size_t most = 8;         ///< maximum number of kernels
  double tolerance = 0.03; ///< the set stops growing when no size loses more
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
  std::vector<GemmKernel> kernels; ///< in the order of their gain
  std::vector<SizeChoice> choices; ///< one for each size

  double worstLoss() const;
  double meanLoss() const;
};

KernelSet chooseKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                        const ScheduleRules &rules, const std::vector<SampledSize> &sizes, const SetLimits &limits);

} // namespace tile::target
