// Two builds of a kernel beside each other: the same inputs, their outputs compared, and on a GPU their times in
// interleaved rounds, with the second as the baseline.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

/// Arguments are those of both. Prints, and returns the exit code: 1 if the outputs differ by more than
/// `options.within`, or by what the kernel's `expect` declarations allow.
int compareArtifacts(const RunOptions &options, const runtime::Artifact &artifact, const std::string &otherFile,
                     const runtime::Artifact &other);

} // namespace tile::runner
