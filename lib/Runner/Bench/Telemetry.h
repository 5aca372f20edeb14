// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks, power, temperature and energy of the card while it works, from libnvidia-ml when the machine has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tile::runner {

struct TelemetrySample {
  unsigned smClockMhz = 0;
  unsigned memoryClockMhz = 0;
  unsigned powerMilliwatts = 0;
  unsigned powerLimitMilliwatts = 0;
  unsigned temperatureCelsius = 0;
  uint64_t slowdowns = 0; ///< why clocks are lower than they could be: nvmlClocksEventReasons
  std::string driverVersion;
};

/// "power limit, heat" for the reasons that slow a card down; "" if there are none. Idling and clocks that the user has
/// set are not such reasons.
std::string slowdownText(uint64_t slowdowns);

class Telemetry {
public:
  /// Null when the library or the device cannot be had: measurements are then recorded without.
  static std::unique_ptr<Telemetry> open(const std::string &pciBusId);
  ~Telemetry();
  /// What cannot be read stays 0.
  TelemetrySample sample() const;
  /// Since the driver was loaded, in millijoules; nothing if the card does not count.
  std::optional<uint64_t> energyMillijoules() const;

private:
  struct Functions;
  std::unique_ptr<Functions> functions;
  void *device = nullptr;
};

} // namespace tile::runner
