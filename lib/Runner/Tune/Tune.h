// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run tune`: measures the variants of an artifact for many calls, and writes a tuning table (Runtime/Tuning.h)
// for launches to choose by.
#pragma once

#include "Runner/Run.h"
#include "Runner/Tune/TuneShapes.h"
#include "Runner/Tune/Tuner.h"

namespace tile::runner {

struct TuneOptions {
  RunOptions run;
  ShapeRequest shapes; ///< without arguments: those of `run`
  TunerOptions tuner;
  Shard shard;
  std::vector<int> devices; ///< several: a process each; empty: the one of `run`
  std::string output;       ///< the table; empty: the artifact's name and ".tuning"
  bool embed = false;       ///< write it into the artifact instead
  std::string times;        ///< file that gets a JSON line for each variant that was measured; "": none
};

/// Prints, and returns the exit code. Calls that the journal beside the table has are not measured again.
int runTune(const TuneOptions &options, const runtime::Artifact &artifact);

struct MergeOptions {
  RunOptions run; ///< `artifact`: that the table is written into, or ""
  std::vector<std::string> inputs;
  std::string output;
};
int runMerge(const MergeOptions &options);

} // namespace tile::runner
