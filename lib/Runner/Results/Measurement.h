// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The times of a kernel and of its baselines, as they appear in reports. lib/Lab measures them.
#pragma once

#include "Runtime/DataType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::runner {

/// Clocks, power and temperature of a GPU at one moment. Values that could not be read are 0.
struct TelemetrySample {
  unsigned smClockMhz = 0;
  unsigned memoryClockMhz = 0;
  unsigned powerMilliwatts = 0;
  unsigned powerLimitMilliwatts = 0;
  unsigned temperatureCelsius = 0;
  uint64_t slowdowns = 0; ///< reasons for reduced clocks: nvmlClocksEventReasons
  std::string driverVersion;
};

/// Returns the reasons that slow a GPU down, such as "power limit, heat"; "" if there are none. Idling and clocks set
/// by the user do not count.
std::string slowdownText(uint64_t slowdowns);

/// The rates that were measured on this GPU.
struct Ceilings {
  double memoryBytes = 0; ///< bytes per second; in all fields, 0 means not measured
  double flops = 0;       ///< for the operand type of the kernel's GEMM
  std::string flopsBy;
  double launchMicroseconds = 0;
};

/// The measurement of a baseline.
struct BaselineTime {
  std::string name;    ///< for example "cuBLAS 13.0.2", "device copy"; empty: no baseline is available
  std::string note;    ///< if there is no baseline, the reason
  std::string command; ///< the command that measured the time, if it is recorded
  bool isRecorded = false;
  double microseconds = 0;
  std::vector<double> rounds;
  double difference = -1; ///< ||ours - theirs|| / ||theirs||; negative: not compared
  std::optional<double> millijoules;
};

/// The state of the GPU while the kernel ran.
struct CardState {
  TelemetrySample last;
  unsigned lowestClockMhz = 0, highestClockMhz = 0;
  uint64_t slowdowns = 0; ///< union over all rounds, see slowdownText()
  int slowedRounds = 0, rounds = 0;
};

/// The measurement of a kernel.
struct BenchResult {
  double microseconds = 0;
  std::vector<double> rounds; ///< in microseconds
  int samplesPerRound = 0;
  int launchesPerGraph = 0; ///< launches per sample if a sample replays a graph; 0: each sample is one launch
  bool isCold = true;       ///< the inputs are not in the L2 cache when the kernel starts
  std::vector<BaselineTime> baselines;
  double flops = 0;                          ///< as requested, or of the GEMMs in the expectation; 0: count bytes
  double bytes = 0;                          ///< inputs read once plus outputs written once
  std::optional<runtime::DataType> gemmType; ///< operand type of the first GEMM
  std::optional<CardState> card;
  std::optional<double> millijoules; ///< per launch, measured with back-to-back launches
  std::optional<Ceilings> ceilings;

  /// Returns the first baseline that was measured or recorded; null if there is none.
  const BaselineTime *baseline() const;
  /// Returns the speedup, which is above 1 if the kernel is faster than the baseline.
  double ratio(const BaselineTime &other) const { return microseconds > 0 ? other.microseconds / microseconds : 0; }
};

} // namespace tile::runner
