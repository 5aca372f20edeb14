// Clocks, power and temperature of the card while it works, from libnvidia-ml when the machine has it.
#pragma once

#include <memory>
#include <string>

namespace tile::runner {

struct TelemetrySample {
  unsigned smClockMhz = 0;
  unsigned memoryClockMhz = 0;
  unsigned powerMilliwatts = 0;
  unsigned powerLimitMilliwatts = 0;
  unsigned temperatureCelsius = 0;
  std::string driverVersion;
};

class Telemetry {
public:
  /// Null when the library or the device cannot be had: measurements are then recorded without.
  static std::unique_ptr<Telemetry> open(const std::string &pciBusId);
  ~Telemetry();
  /// What cannot be read stays 0.
  TelemetrySample sample() const;

private:
  struct Functions;
  std::unique_ptr<Functions> functions;
  void *device = nullptr;
};

} // namespace tile::runner
