// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the fastest variant of an artifact for a call, on a GPU.
//
//   variants that serve the call ─▶ not excluded by the model ─▶ quick look ─▶ rounds of all; the faster half remains
//     ─▶ twice the rounds for that half, ... ─▶ one remains
//
// All variants use the same buffers. Kernels that take less than 50 us are measured by replaying graphs, because a
// launch takes longer than such a kernel. All other kernels are measured with a cold L2 cache (Stopwatch.h).
#pragma once

#include "Lab/Bench/Rounds.h"
#include "Runner/Device/Variants.h"

namespace tile::runner {

struct TunerOptions {
  bool all = false;   ///< also measure variants that the model would exclude
  double bound = 1.5; ///< the model excludes variants whose expected time exceeds the best expected time by this factor
};

/// The time that one variant took for a call.
struct VariantTime {
  std::string variant;
  double expected = -1; ///< microseconds; negative: unknown
  double microseconds = 0;
  size_t rounds = 0; ///< 0: it had only a quick look
};

struct Tuned {
  runtime::TuningEntry entry;
  size_t serving = 0;              ///< number of variants that serve the call
  double untunedMicroseconds = -1; ///< time of the variant that launches use without a table; negative: not measured
  std::vector<VariantTime> times;  ///< times of the measured variants
};

class Tuner {
public:
  static Result<Tuner> create(const TunerOptions &options, Variants &variants, CudaContext &context);

  /// Returns the table's identity: what is measured, and on which device.
  runtime::TuningTable identity() const;

  /// Tunes a call. `call.arguments` are the arguments of the first variant.
  Result<Tuned> tune(const RunOptions &call);

private:
  Tuner(const TunerOptions &options, Variants &variants, CudaContext &context, Stopwatch watch)
      : options(options), variants(&variants), context(&context), watch(std::move(watch)) {}
  struct Candidate;
  Result<std::vector<Candidate>> findCandidates(const RunOptions &call, const CallValues &values, size_t &serving);
  Result<Candidate *> compete(std::vector<Candidate> &candidates);

  TunerOptions options;
  Variants *variants;
  CudaContext *context;
  Stopwatch watch;
};

} // namespace tile::runner
