// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the formula of ProgramTime.h and CostModel.md.
#include "Target/ProgramTime.h"

#include "Target/GemmTime.h"
#include "Target/Plan/Residency.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace tile::target {

namespace {

constexpr double issuingWarps = 8;     // warps that use all issue slots of a multiprocessor: two per scheduler
constexpr double multiplyingWarps = 4; // warps that keep its tensor cores busy: one per scheduler
constexpr double start = 300;          // clk from the launch of a CTA to its first load: its parameters and indices
// clk of a store to shared memory, a barrier and a load from there: about 30 each
constexpr double exchangeClocks = 100;

/// The fraction of the data sheet's rate of DRAM that kernels reach, as measured on an H200.
double achievableShare() {
  return tunedOf(measuredTarget()).mmaSyncByCopies.memory / ratesOf(measuredTarget()).memory;
}

/// Returns the fraction of the re-read data that L2 has evicted, if the programs that run at the same time touch
/// `bytes` bytes. Measured with row kernels with two passes on an H200 (50 MB): 0.3 at 34 MB, nearly all at 69 MB.
double missRate(double bytes, const Rates &rates) {
  const double capacity = rates.l2 * 1e6;
  return std::clamp(2 * bytes / capacity - 1, 0.0, 1.0);
}

/// Returns the 8-norm of times that overlap.
double longest(std::initializer_list<double> times) {
  Overlap all;
  for (double time : times)
    all.add(time, GemmLimit::Fixed);
  return all.time();
}

} // namespace

/// The cycles of one program on an idle multiprocessor, and the cycles of the program's busiest resource.
struct ProgramTime::Clocks {
  double alone, longest;
};

ProgramTime::ProgramTime(const GpuTarget &target, const ProgramResources &resources, unsigned numSms)
    : rates(ratesOf(target)), launch(tunedOf(target).mmaSyncByCopies.launch), sms(numSms ? numSms : target.numSms),
      isPersistent(resources.residentCtas > 0), operandBits(resources.operandBits) {
  const int64_t fitting = planResidency(target, {.threads = resources.threads,
                                                 .registers = resources.registers,
                                                 .sharedBytes = resources.sharedBytes})
                              .ctas();
  ctas = double(std::max<int64_t>(isPersistent ? resources.residentCtas : fitting, 1));
  warps = double(resources.computingWarps);
  spilled = 2.0 * double(resources.spillBytes) * double(resources.threads);
}

/// Returns the time in which `running` CTAs of a multiprocessor finish. They use the busiest resource one after
/// another; meanwhile, the other CTAs wait or use other resources.
double ProgramTime::waveClocks(const Clocks &clocks, double running) const {
  return running * clocks.longest + std::max(clocks.alone - clocks.longest, 0.0);
}

double ProgramTime::microseconds(const ProgramWork &work) const {
  const double computing = longest({work.tensorFlops / 2 / rates.multiplyAdds(operandBits),
                                    work.operations / rates.lanes, work.special / rates.special});
  const double moving = work.bytes / rates.ingest + spilled * std::max(work.steps, 1.0) / rates.shared;
  const double atATime = sms * ctas;
  const double touched = work.uniqueBytes * std::min(1.0, atATime / std::max(work.programs, 1.0));
  const double missed = work.programs * work.rereadBytes * missRate(touched, rates);
  const double bytes = work.programs * work.bytes;
  const double memory = std::min(work.uniqueBytes + missed, bytes) / (rates.memory * achievableShare());
  // A program without dots loads, computes and stores in phases; a pipelined loop of dots does all of this at the same
  // time.
  const bool isPipelined = work.tensorFlops > 0;
  const double waits = (isPersistent ? 0 : start) + work.steps * rates.latency + work.exchanges * exchangeClocks;
  const double ofMemory = isPipelined ? 0 : memory * rates.clockGHz * sms / std::max(work.programs, 1.0);
  const double own = computing / std::min(1.0, warps / (isPipelined ? multiplyingWarps : issuingWarps));
  const Clocks clocks{waits + (isPipelined ? longest({own, moving}) : own + moving + ofMemory),
                      longest({computing, moving, ofMemory})};
  const double full = std::floor(work.programs / atATime), last = std::ceil((work.programs - full * atATime) / sms);
  const double waves = full * waveClocks(clocks, ctas) + (last > 0 ? waveClocks(clocks, last) : 0);
  const double clocksOfDevice =
      longest({waves, bytes / (rates.ingest * sms), isPersistent ? 0 : work.programs / rates.dispatched});
  return (launch + longest({memory, clocksOfDevice / rates.clockGHz})) / 1000;
}

} // namespace tile::target
