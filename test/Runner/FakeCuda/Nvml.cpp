// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libnvidia-ml.so.1 for tests: a GPU with a limit of 700 W that draws 350 W, and whose clock is throttled for the
// reasons in FAKE_NVML_REASONS (bits of nvmlClocksEventReasons).
#include <chrono>
#include <cstdio>
#include <cstdlib>

extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **device) {
  *device = reinterpret_cast<void *>(0x49);
  return 0;
}
int nvmlDeviceGetClockInfo(void *, int type, unsigned *megahertz) {
  constexpr int memory = 2; // NVML_CLOCK_MEM
  *megahertz = type == memory ? 2619 : 1755;
  return 0;
}
int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  *milliwatts = 350000;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) {
  *milliwatts = 700000;
  return 0;
}
int nvmlDeviceGetTemperature(void *, int, unsigned *celsius) {
  *celsius = 41;
  return 0;
}
int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  std::snprintf(text, length, "580.0");
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void *, unsigned long long *reasons) {
  const char *text = std::getenv("FAKE_NVML_REASONS");
  *reasons = text ? std::strtoull(text, nullptr, 0) : 0;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *, unsigned long long *millijoules) {
  using namespace std::chrono;
  *millijoules = 350ull * duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  return 0;
}
}
