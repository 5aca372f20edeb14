// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run produced, and its three forms: text for people, CSV, and JSON (one object a line).
#pragma once

#include "Runner/Bench/Bench.h"
#include "Runner/Check/Check.h"

namespace tile::runner {

struct RunReport {
  std::string label; ///< of a suite's case, or ""
  std::string key;   ///< what a resumed benchmark knows the measurement by
  std::string kernel;
  std::string variant; ///< of an artifact with several, or ""
  std::string artifact;
  std::string target;
  std::string sourceHash;
  std::string device;
  std::string arguments; ///< "M=512 N=512"
  Grid grid = {1, 1, 1};
  int runs = 0;
  double milliseconds = -1; ///< of the first run; negative: not measured
  std::vector<CheckResult> checks;
  std::string lastRun;                ///< of a failure: the option that repeats it, see Device::lastRun
  std::vector<std::string> damages;   ///< out-of-bounds writes and the like
  std::vector<std::string> unwritten; ///< outputs of which the first run has left every byte as it was
  std::optional<BenchResult> bench;

  bool passed() const;
};

/// Several lines, the last one ending in a newline.
std::string formatText(const RunReport &report);
/// One line of a suite's table.
std::string formatRow(const RunReport &report);
std::string rowHeader();

/// In quotes, as a field of CSV.
std::string csvText(std::string_view text);
std::string csvHeader();
std::string formatCsv(const RunReport &report);

/// One line; `command` and `labels` are recorded when given.
std::string formatJson(const RunReport &report, const std::string &command, const std::vector<std::string> &labels);

} // namespace tile::runner
