// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of a run, and its three output formats: text, CSV, and JSON (one object per line).
#pragma once

#include "Runner/Check/Check.h"
#include "Runner/Device/Device.h"
#include "Runner/Results/Measurement.h"

namespace tile::runner {

struct RunReport {
  std::string label; ///< name of the case in its suite, or ""
  std::string key;   ///< key by which a resumed benchmark identifies the measurement
  std::string kernel;
  std::string after;   ///< kernels that ran before this one, on the same buffers: "partial, reduce"; or ""
  std::string variant; ///< name of the variant, or ""
  std::string artifact;
  std::string target;
  std::string sourceHash;
  std::string device;
  std::string arguments; ///< "M=512 N=512"
  Grid grid = {1, 1, 1};
  int runs = 0;
  double milliseconds = -1; ///< duration of the first run; negative: not measured
  std::vector<CheckResult> checks;
  std::vector<CheckResult> earlierChecks; ///< checks of the kernels that ran before; also contained in `checks`
  std::string lastRun;                    ///< after a failure, the option that reproduces it; see Device::lastRun
  std::vector<std::string> damages;       ///< out-of-bounds writes and the like
  std::vector<std::string> unwritten;     ///< outputs that the first run left completely unchanged
  std::optional<BenchResult> bench;

  bool passed() const;
};

/// Returns several lines; the last one ends with a newline.
std::string formatText(const RunReport &report);
/// Returns one row of a suite's table.
std::string formatRow(const RunReport &report);
std::string rowHeader();

/// Returns a quoted CSV field.
std::string csvText(std::string_view text);
std::string csvHeader();
std::string formatCsv(const RunReport &report);

/// Returns one line. `command` and `labels` are included unless they are empty.
std::string formatJson(const RunReport &report, const std::string &command, const std::vector<std::string> &labels);

} // namespace tile::runner
