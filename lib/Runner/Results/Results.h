// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of measurements, as tile-run bench -o writes them: a line of JSON each. Lines without a measurement are left
// out.
#pragma once

#include "Runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::runner {

struct MeasuredBaseline {
  std::string name;
  double microseconds = 0;
  double ratio = 0;
  std::vector<double> rounds;
  std::optional<double> millijoules;
  bool isRecorded = false;
};

struct Measurement {
  std::string label, kernel, artifact, variant, device, argumentText, command, commit;
  std::vector<std::pair<std::string, double>> arguments; ///< those that are numbers, as the kernel has them
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  double flops = 0, bytes = 0;
  bool isGraph = false;
  std::string l2; ///< "cold" or "warm"
  std::vector<MeasuredBaseline> baselines;
  std::optional<double> millijoules;
  std::string throttledBy;                    ///< "" if it was not
  double memoryCeiling = 0, flopsCeiling = 0; ///< GB/s and GFLOP/s; 0: not measured
  std::string flopsCeilingBy;
  double memoryPercent = 0, flopsPercent = 0;

  /// What the measurement is called beside others of the same kernel: the artifact's name.
  std::string line() const;
  /// What tells the case apart from others of its line.
  std::string caseText() const;
  /// TFLOP/s of products, TB/s of anything else.
  double rate() const { return (flops > 0 ? flops : bytes) / microseconds * 1e-6; }
  const char *unit() const { return flops > 0 ? "TFLOP/s" : "TB/s"; }
};

/// "NVIDIA H100 80GB HBM3" of "cuda:0 NVIDIA H100 80GB HBM3".
std::string cardOf(const std::string &device);

/// An error names the file, and the line.
runtime::Result<std::vector<Measurement>> readResults(const std::string &file);

} // namespace tile::runner
