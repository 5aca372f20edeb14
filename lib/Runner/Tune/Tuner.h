// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the fastest variant of an artifact for a call, on a GPU.
//
//   serve the call ─▶ not ruled out by the model ─▶ quick look ─▶ rounds of all, the better half stays, twice the
//   rounds of these, ... ─▶ one
//
// All work on the same buffers. What takes less than 50 us is measured by replaying graphs, because a launch takes
// longer than such a kernel, and the rest with a cold L2 cache (Stopwatch.h).
#pragma once

#include "Runner/Bench/Rounds.h"
#include "Runner/Device/Variants.h"

namespace tile::runner {

struct TunerOptions {
  bool all = false;   ///< measure what the model rules out, too
  double bound = 1.5; ///< the model rules out what should take so many times as long as the best
};

/// What one variant took for a call.
struct VariantTime {
  std::string variant;
  double expected = -1; ///< microseconds; below 0: nobody knows
  double microseconds = 0;
  size_t rounds = 0; ///< 0: only a quick look
};

struct Tuned {
  runtime::TuningEntry entry;
  size_t serving = 0;             ///< variants that serve the call
  std::vector<VariantTime> times; ///< of those that were measured
};

class Tuner {
public:
  static Result<Tuner> create(const TunerOptions &options, Variants &variants, CudaContext &context);

  /// The table's head: of what, and where.
  runtime::TuningTable identity() const;

  /// `call.arguments` are those of the first variant.
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
