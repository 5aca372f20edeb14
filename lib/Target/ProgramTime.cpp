// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula; ProgramTime.h and README.md say what it is.
#include "Target/ProgramTime.h"

#include "Target/GemmTime.h"
#include "Target/Plan/Residency.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace tile::target {

namespace {

constexpr double partitions = 4;       // of a multiprocessor, each with an own scheduler
constexpr double start = 300;          // clk from the launch of a CTA to its first load: its parameters and indices
constexpr double dispatched = 1;       // CTAs a clock that the device starts
constexpr double exchangeClocks = 100; // a store to shared memory, a barrier and a load from there, about 30 each

/// What kernels get of the data sheet's rate of DRAM, as measured on an H200.
double achievableShare() {
  return tunedOf(measuredTarget()).mmaSyncByCopies.memory / ratesOf(measuredTarget()).memory;
}

/// Of times that overlap.
double longest(std::initializer_list<double> times) {
  Overlap all;
  for (double time : times)
    all.add(time, GemmLimit::Fixed);
  return all.time();
}

} // namespace

/// Of one program: what its dependences take, and the resource that is busy longest.
struct ProgramTime::Clocks {
  double latency, shared, alone;
};

ProgramTime::ProgramTime(const GpuTarget &target, const ProgramResources &resources, unsigned numSms)
    : rates(ratesOf(target)), sms(numSms ? numSms : target.numSms), isPersistent(resources.residentCtas > 0),
      operandBits(resources.operandBits) {
  const int64_t fitting = planResidency(target, {.threads = resources.threads,
                                                 .registers = resources.registers,
                                                 .sharedBytes = resources.sharedBytes})
                              .ctas();
  ctas = double(std::max<int64_t>(isPersistent ? resources.residentCtas : fitting, 1));
  share = std::min(1.0, double(resources.computingWarps) / partitions);
  spilled = 2.0 * double(resources.spillBytes) * double(resources.threads);
}

/// Where CTAs of a multiprocessor are few, each waits for its own latencies; where they are many, for its resources.
double ProgramTime::waveClocks(const Clocks &clocks, double running) const {
  return std::max(clocks.latency + clocks.alone, running * clocks.shared);
}

double ProgramTime::microseconds(const ProgramWork &work) const {
  const double computing = longest({work.tensorFlops / 2 / rates.multiplyAdds(operandBits),
                                    work.operations / rates.lanes, work.special / rates.special});
  const double moving = work.bytes / rates.ingest + spilled * std::max(work.steps, 1.0) / rates.shared;
  const Clocks clocks{(isPersistent ? 0 : start) + work.steps * rates.latency + work.exchanges * exchangeClocks,
                      longest({computing, moving}), longest({computing / share, moving})};
  const double atATime = sms * ctas;
  const double full = std::floor(work.programs / atATime), last = std::ceil((work.programs - full * atATime) / sms);
  const double waves = full * waveClocks(clocks, ctas) + (last > 0 ? waveClocks(clocks, last) : 0);
  const double bytes = work.programs * work.bytes;
  const double clocksOfDevice =
      longest({waves, bytes / (rates.ingest * sms), isPersistent ? 0 : work.programs / dispatched});
  const double memory = std::min(work.uniqueBytes, bytes) / (rates.memory * achievableShare());
  const double launch = tunedOf(measuredTarget()).mmaSyncByCopies.launch;
  return (launch + longest({memory, clocksOfDevice / rates.clockGHz})) / 1000;
}

} // namespace tile::target
