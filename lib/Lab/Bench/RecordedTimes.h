// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses earlier measurements as a baseline, made by tile-run or by any other program. Each is one line of JSON:
//
//   {"name": "Triton 3.6", "arguments": "M=512 N=512 K=512", "time_us": 7.1, "command": "python tutorial.py 512"}
//   {"case": "bf16-512-nn", "kernel": "matmul", "arguments": "M=512 ...", "bench": {"time_us": 2.8, ...}, ...}
//
// A line matches a call if each argument that it names has the same value in the call and, if both have a case name,
// the names are equal. A line may also state whether it was measured in a graph ("graph": true or false; in lines of
// tile-run, the number of launches per graph), which must then match the way the call is measured.
#pragma once

#include "Lab/Bench/Baselines.h"

namespace tile::runner {

struct RecordedTime {
  std::string name, label, command;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::optional<bool> isGraph;
  double microseconds = 0;
};

/// Parses the file; the error names the line.
Result<std::vector<RecordedTime>> parseRecordedTimes(std::string_view text);

/// Returns the last line that matches the call; null if no line matches.
const RecordedTime *findRecorded(std::span<const RecordedTime> times, const std::string &label,
                                 const std::string &arguments, bool isGraph);

Result<Baseline> recordedBaseline(const std::string &file, const BenchRequest &request);

} // namespace tile::runner
