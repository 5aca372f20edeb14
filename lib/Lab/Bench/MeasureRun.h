// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures a kernel as specified by the options of a run (RunOptions::measure).
#pragma once

#include "Lab/Bench/Bench.h"

namespace tile::runner {

class Execution;

/// Returns the benchmark request that the options specify.
BenchRequest startBench(const RunOptions &options);

Result<BenchResult> measureRun(const RunOptions &options, CudaDevice &device, Execution &execution);

} // namespace tile::runner
