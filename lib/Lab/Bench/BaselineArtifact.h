// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses another artifact of the same kernel as a baseline: an older build, other options, another kernel with the same
// parameters. Its inputs are the same, because they follow from the seed and the names of the parameters.
#pragma once

#include "Lab/Bench/Baselines.h"

namespace tile::runner {

Result<Baseline> artifactBaseline(const std::string &file, const BaselineRequest &request);

} // namespace tile::runner
