// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times that were measured before, by tile-run or by anything else, as a baseline: a line of JSON each.
//
//   {"name": "Triton 3.6", "arguments": "M=512 N=512 K=512", "time_us": 7.1, "command": "python tutorial.py 512"}
//   {"case": "bf16-512-nn", "kernel": "matmul", "arguments": "M=512 ...", "bench": {"time_us": 2.8, ...}, ...}
//
// A line is for a call if each argument that it names has the same value there, if both name a case, that of the same
// name, and if it says "graph": true or false (tile-run's: by its launches), that is how the call is measured.
#pragma once

#include "Runner/Bench/Baselines.h"

namespace tile::runner {

struct RecordedTime {
  std::string name, label, command;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::optional<bool> isGraph;
  double microseconds = 0;
};

/// An error names the line.
Result<std::vector<RecordedTime>> parseRecordedTimes(std::string_view text);

/// The last line that is for the call; null if none is.
const RecordedTime *findRecorded(std::span<const RecordedTime> times, const std::string &label,
                                 const std::string &arguments, bool isGraph);

Result<Baseline> recordedBaseline(const std::string &file, const BenchRequest &request);

} // namespace tile::runner
