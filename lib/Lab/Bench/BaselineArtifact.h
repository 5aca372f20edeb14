// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses another artifact as a baseline: an older build of the same kernel, a build with other options, or another kernel
// with the same parameters. Both artifacts get the same inputs, because inputs depend only on the seed and the names of
// the parameters.
#pragma once

#include "Lab/Bench/Baselines.h"

namespace tile::runner {

Result<Baseline> artifactBaseline(const std::string &file, const BaselineRequest &request);

} // namespace tile::runner
