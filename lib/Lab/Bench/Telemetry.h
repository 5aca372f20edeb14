// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks, power, temperature and energy of the GPU under load, from libnvidia-ml if available.
#pragma once

#include "Runner/Results/Measurement.h"

#include <memory>

namespace tile::runner {

class Telemetry {
public:
  /// Returns null if the library or the device is not available; measurements are then recorded without telemetry.
  static std::unique_ptr<Telemetry> open(const std::string &pciBusId);
  ~Telemetry();
  /// Reads all values; values that cannot be read stay 0.
  TelemetrySample sample() const;
  /// Returns the millijoules consumed since the driver was loaded, or nullopt if the GPU does not count them.
  std::optional<uint64_t> energyMillijoules() const;

private:
  struct Functions;
  std::unique_ptr<Functions> functions;
  void *device = nullptr;
};

} // namespace tile::runner
