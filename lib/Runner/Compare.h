// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two builds of a kernel beside each other: the same inputs, their outputs compared, and on a GPU their times in
// interleaved rounds, with the second as the baseline.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

struct OtherArtifact {
  std::string file;
  std::string variant; ///< empty: as of the first
};

/// Arguments are those of both. Prints, and returns the exit code: 1 if the outputs differ by more than
/// `options.within`, or by what the kernel's `expect` declarations allow.
int compareArtifacts(const RunOptions &options, const runtime::Artifact &artifact, const OtherArtifact &compared,
                     const runtime::Artifact &other);

} // namespace tile::runner
