// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run tune`: measures the variants of an artifact for many calls, and writes a tuning table (Runtime/Tuning.h),
// from which launches choose.
#pragma once

#include "Lab/Tune/TuneShapes.h"
#include "Lab/Tune/Tuner.h"
#include "Runner/Run.h"

namespace tile::runner {

struct TuneOptions {
  RunOptions run;
  ShapeRequest shapes; ///< if `shapes.arguments` is empty, the arguments of `run` apply
  TunerOptions tuner;
  Shard shard;
  std::vector<int> devices;      ///< if there are several, each has its own process; empty: the device of `run`
  std::string output;            ///< path of the table; empty: the artifact's name with ".tuning"
  bool embed = false;            ///< embed the table in the artifact instead
  std::string times;             ///< file to which a JSON line is written per measured variant; "": none
  std::optional<double> seconds; ///< stop after the first call that ends later than this time; the next run continues
};

/// Runs the tuning, prints the result and returns the exit code. Skips calls that are already in the journal next to
/// the table.
int runTune(const TuneOptions &options, const runtime::Artifact &artifact);

struct MergeOptions {
  RunOptions run; ///< `artifact`: the artifact in which to embed the table, or ""
  std::vector<std::string> inputs;
  std::string output;
};
int runMerge(const MergeOptions &options);

} // namespace tile::runner
