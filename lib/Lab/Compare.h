// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares two builds of a kernel: their outputs for the same inputs and, on a GPU, their times in interleaved rounds,
// with the second build as the baseline.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

struct OtherArtifact {
  std::string file;
  std::string variant; ///< empty: as for the first
};

/// Runs both artifacts with the same arguments and prints a report. Returns the exit code: 1 if the outputs differ by
/// more than `options.within` or the kernel's `expect` declarations allow.
int compareArtifacts(const RunOptions &options, const runtime::Artifact &artifact, const OtherArtifact &compared,
                     const runtime::Artifact &other);

} // namespace tile::runner
