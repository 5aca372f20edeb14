// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifies an artifact by running it: checks each variant under many schedules in the simulator, or compares its
// results with those of the simulator for the same PTX, or with those of another artifact.
// tools/docs/pages/what-is-proven.md explains what can be concluded.
#pragma once

#include "Lab/Verify/Agreement.h"
#include "Lab/Verify/Schedules.h"

namespace tile::runner {

struct VerifyOptions {
  RunOptions run;                 ///< with a time limit for the command
  std::string sameAs;             ///< another artifact to compare with, or ""
  std::string cache;              ///< folder that remembers what has passed, or ""
  std::optional<uint64_t> trials; ///< sizes, or calls to compare
  uint64_t orders = 3;
  double deadline = 30; ///< seconds of a launch on a GPU
  std::vector<InputKind> inputs = {InputKind::Random, InputKind::Special, InputKind::Denormals, InputKind::Zeros};
  bool isStrict = false, isJson = false;
  /// The artifacts must give the same bits. Variants with the same order need no runs.
  bool demandsBits = false;
};

/// Exit code if --strict is given and not everything that was planned has run.
constexpr int exitIncomplete = 6;

/// Prints and returns the exit code.
int verifyArtifact(const VerifyOptions &options, const runtime::Artifact &artifact);

} // namespace tile::runner
