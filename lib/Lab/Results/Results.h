// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads files of measurements written by tile-run bench -o, which contain one line of JSON per measurement. Lines
// without a measurement are skipped.
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
  std::vector<std::pair<std::string, double>> arguments; ///< numeric arguments, in the order of the kernel
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  double flops = 0, bytes = 0;
  bool isGraph = false;
  std::string l2; ///< "cold" or "warm"
  std::vector<MeasuredBaseline> baselines;
  std::optional<double> millijoules;
  std::string throttledBy;                    ///< "": not throttled
  double memoryCeiling = 0, flopsCeiling = 0; ///< GB/s and GFLOP/s; 0: not measured
  std::string flopsCeilingBy;
  double memoryPercent = 0, flopsPercent = 0;

  /// Returns the name of the artifact, which distinguishes the measurement from others of the same kernel.
  std::string line() const;
  /// Returns the text that distinguishes the case from others with the same line().
  std::string caseText() const;
  /// Returns TFLOP/s for matrix multiplications and TB/s for anything else.
  double rate() const { return (flops > 0 ? flops : bytes) / microseconds * 1e-6; }
  const char *unit() const { return flops > 0 ? "TFLOP/s" : "TB/s"; }
};

/// Returns "NVIDIA H100 80GB HBM3" for "cuda:0 NVIDIA H100 80GB HBM3".
std::string cardOf(const std::string &device);

/// Reads a file; the error names the file and the line.
runtime::Result<std::vector<Measurement>> readResults(const std::string &file);

} // namespace tile::runner
