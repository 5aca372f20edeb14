// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run tune --calibrate`: measures the GPU in this machine and writes a card file with the results
// (Target/Card/Card.h). The compiler uses these figures for its choices if the file is given to tilec --card.
#pragma once

#include "Runner/Run.h"
#include "Target/Card/Card.h"

namespace tile::runner {

struct CalibrateOptions {
  RunOptions run;
  std::string output;       ///< path of the file; empty: standard output
  bool onlyQueried = false; ///< write the properties that the driver reports, and measure nothing
  std::string kernels;      ///< name of a target: print its micro-benchmarks as PTX, and measure nothing
};

/// Prints the card and returns the exit code.
int runCalibrate(const CalibrateOptions &options);

/// Returns the properties that the driver reports.
target::Card describeCard(const CudaDeviceInfo &info);

} // namespace tile::runner
