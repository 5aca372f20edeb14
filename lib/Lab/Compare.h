// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares two builds of a kernel: the outputs for the same inputs, and on a GPU the times in interleaved rounds, with
// the second as the baseline.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

struct OtherArtifact {
  std::string file;
  std::string variant; ///< empty: as for the first
};

/// Compares with common arguments. Prints, and returns the exit code: 1 if the outputs differ by more than
/// `options.within`, or than the kernel's `expect` declarations allow.
int compareArtifacts(const RunOptions &options, const runtime::Artifact &artifact, const OtherArtifact &compared,
                     const runtime::Artifact &other);

} // namespace tile::runner
