// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run tune --calibrate`: measures the card at hand, and writes a file with its figures (Target/Card/Card.h),
// by which tilec --card chooses.
#pragma once

#include "Runner/Run.h"
#include "Target/Card/Card.h"

namespace tile::runner {

struct CalibrateOptions {
  RunOptions run;
  std::string output;       ///< path of the file; empty: standard output
  bool onlyQueried = false; ///< write the properties that the driver reports, and measure nothing
  std::string kernels;      ///< name of a target: print the micro-benchmarks for it as PTX, and measure nothing
};

/// Prints, and returns the exit code.
int runCalibrate(const CalibrateOptions &options);

/// Returns the properties that the driver reports.
target::Card describeCard(const CudaDeviceInfo &info);

} // namespace tile::runner
