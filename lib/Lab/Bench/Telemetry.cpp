// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVML, loaded by dlopen; every function returns 0 on success.
#include "Lab/Bench/Telemetry.h"

#include <dlfcn.h>

namespace tile::runner {

namespace {

constexpr int clockSm = 1, clockMemory = 2; // nvmlClockType_t
constexpr int sensorGpu = 0;                // nvmlTemperatureSensors_t

} // namespace

struct Telemetry::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handleByBusId)(const char *busId, void **device) = nullptr;
  int (*clockInfo)(void *device, int type, unsigned *megahertz) = nullptr;
  int (*powerUsage)(void *device, unsigned *milliwatts) = nullptr;
  int (*powerLimit)(void *device, unsigned *milliwatts) = nullptr;
  int (*temperature)(void *device, int sensor, unsigned *celsius) = nullptr;
  int (*driverVersion)(char *text, unsigned length) = nullptr;
  // Null if the library is too old.
  int (*slowdownReasons)(void *device, unsigned long long *reasons) = nullptr;
  int (*totalEnergy)(void *device, unsigned long long *millijoules) = nullptr;
};

std::unique_ptr<Telemetry> Telemetry::open(const std::string &pciBusId) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return nullptr;
  auto functions = std::make_unique<Functions>();
  Functions &f = *functions;
  const std::pair<const char *, void **> symbols[] = {
      {"nvmlInit_v2", reinterpret_cast<void **>(&f.init)},
      {"nvmlShutdown", reinterpret_cast<void **>(&f.shutdown)},
      {"nvmlDeviceGetHandleByPciBusId_v2", reinterpret_cast<void **>(&f.handleByBusId)},
      {"nvmlDeviceGetClockInfo", reinterpret_cast<void **>(&f.clockInfo)},
      {"nvmlDeviceGetPowerUsage", reinterpret_cast<void **>(&f.powerUsage)},
      {"nvmlDeviceGetEnforcedPowerLimit", reinterpret_cast<void **>(&f.powerLimit)},
      {"nvmlDeviceGetTemperature", reinterpret_cast<void **>(&f.temperature)},
      {"nvmlSystemGetDriverVersion", reinterpret_cast<void **>(&f.driverVersion)}};
  for (const auto &[symbol, slot] : symbols)
    if (!(*slot = dlsym(library, symbol)))
      return nullptr;
  // CUDA 12.2 renamed this function; older libraries have only the second name.
  for (const char *name : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"})
    if (!f.slowdownReasons)
      f.slowdownReasons = reinterpret_cast<decltype(f.slowdownReasons)>(dlsym(library, name));
  f.totalEnergy = reinterpret_cast<decltype(f.totalEnergy)>(dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
  if (f.init() != 0)
    return nullptr;
  auto telemetry = std::make_unique<Telemetry>();
  telemetry->functions = std::move(functions);
  if (telemetry->functions->handleByBusId(pciBusId.c_str(), &telemetry->device) != 0)
    return nullptr;
  return telemetry;
}

Telemetry::~Telemetry() {
  if (functions)
    (void)functions->shutdown();
}

TelemetrySample Telemetry::sample() const {
  TelemetrySample sample;
  // Each value is useful on its own; values that the GPU does not report stay 0.
  (void)functions->clockInfo(device, clockSm, &sample.smClockMhz);
  (void)functions->clockInfo(device, clockMemory, &sample.memoryClockMhz);
  (void)functions->powerUsage(device, &sample.powerMilliwatts);
  (void)functions->powerLimit(device, &sample.powerLimitMilliwatts);
  (void)functions->temperature(device, sensorGpu, &sample.temperatureCelsius);
  unsigned long long slowdowns = 0;
  if (functions->slowdownReasons && functions->slowdownReasons(device, &slowdowns) == 0)
    sample.slowdowns = slowdowns;
  char version[96] = "";
  if (functions->driverVersion(version, sizeof(version)) == 0)
    sample.driverVersion = version;
  return sample;
}

std::optional<uint64_t> Telemetry::energyMillijoules() const {
  unsigned long long millijoules = 0;
  if (!functions->totalEnergy || functions->totalEnergy(device, &millijoules) != 0)
    return std::nullopt;
  return millijoules;
}

} // namespace tile::runner
