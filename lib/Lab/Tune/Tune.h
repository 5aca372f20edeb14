// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run tune`: measures the variants of an artifact for many calls, and writes a tuning table (Runtime/Tuning.h)
// that launches use to choose.
#pragma once

#include "Lab/Tune/TuneShapes.h"
#include "Lab/Tune/Tuner.h"
#include "Runner/Run.h"

namespace tile::runner {

struct TuneOptions {
  RunOptions run;
  ShapeRequest shapes; ///< if it has no arguments, those of `run` apply
  TunerOptions tuner;
  Shard shard;
  std::vector<int> devices;      ///< several: one process each; empty: the device of `run`
  std::string output;            ///< path of the table; empty: the artifact's name with ".tuning"
  bool embed = false;            ///< embed the table in the artifact instead
  std::string times;             ///< file for a JSON line per measured variant; "": none
  std::optional<double> seconds; ///< stop after the call that ends later; the next run continues
};

/// Prints, and returns the exit code. Calls that are already in the journal next to the table are skipped.
int runTune(const TuneOptions &options, const runtime::Artifact &artifact);

struct MergeOptions {
  RunOptions run; ///< `artifact`: the artifact in which the table is embedded, or ""
  std::vector<std::string> inputs;
  std::string output;
};
int runMerge(const MergeOptions &options);

} // namespace tile::runner
