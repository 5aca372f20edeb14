// The choice between whole tiles and split ones; README.md has the times that it is made from.
#include "Target/StepSplit.h"

#include "Target/GemmTime.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::target {

namespace {

/// us that a cluster takes to begin, to meet and to end, and that each further sum of 64x64 takes. Set by hand to an
/// H200: of such tiles with 32 steps, halves take 0.3 us longer than the whole, with 128 steps 4 to 5 us less.
constexpr double meetTime = 0.5, sumTime = 0.45, sumElements = 64 * 64;

/// CTAs of clusters of `size` that run at the same time. Clusters of four do not fill all groups of multiprocessors:
/// 128 CTAs on 132 took two waves on an H200.
int64_t residentCtas(unsigned size, unsigned numSms) {
  return size > 2 ? int64_t(numSms) * 3 / 4 : numSms;
}

unsigned multiprocessors(const GpuTarget &target, const GemmProblem &problem) {
  return problem.numSms ? problem.numSms : target.numSms;
}

int64_t ceilDiv(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

} // namespace

StepSplitFormula::StepSplitFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                                   unsigned ctas)
    : ctas(ctas), resident(std::max<int64_t>(residentCtas(ctas, multiprocessors(target, problem)), ctas)),
      elementBytes(problem.elementBytes()), outputBytes(problem.outputBytes) {
  double sum = sumTime * std::max(1.0, config.blockM * config.blockN / sumElements);
  meetings = meetTime + sum * (ctas - 1);
}

double StepSplitFormula::time(double wholeTime, double waves, int64_t tiles, const GemmSize &size) const {
  const GemmConstants &constants = wgmmaConstants();
  const double launch = constants.launch / 1000;
  const double traffic =
      double(size.m + size.n) * double(size.k) * elementBytes + double(size.m) * double(size.n) * outputBytes;
  // The sums of the last tiles are moved when nothing is copied any more.
  const double least = launch + traffic / constants.memory / 1000 + meetTime / 2;
  const double rounds = double(ceilDiv(tiles * ctas, resident));
  const double round = (wholeTime - launch) / waves / double(ctas) + meetings;
  return std::max(launch + rounds * round, least);
}

bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas) {
  constexpr unsigned leastRows = 64; // what fewer do when they are split was not measured
  // A place for each of a thread's sums: tiles that are no power of two leave registers out.
  bool isWhole = std::has_single_bit(config.blockM) && std::has_single_bit(config.blockN);
  if (!target.has(Feature::Clusters) || !config.wgmma || config.blockM < leastRows || !isWhole)
    return false;
  // A copy of a tile's sums for each sender, beside at least four stages.
  config.numStages = std::min(config.numStages, 4u);
  int64_t sums = int64_t(ctas - 1) * config.blockM * config.blockN * 4;
  return sharedBytes(problem, config) + sums <= target.maxSharedPerCta;
}

unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate) {
  bool isSplit = estimate.waves != std::floor(estimate.waves); // by cta-stream-k, among all
  double best = estimate.microseconds;
  unsigned chosen = 1;
  for (unsigned ctas : {2u, 4u}) {
    bool runs = estimate.tiles * ctas <= residentCtas(ctas, multiprocessors(target, problem));
    if (isSplit || !runs || !canSplitSteps(target, problem, estimate.config, ctas))
      continue;
    StepSplitFormula formula(target, problem, estimate.config, ctas);
    GemmEstimate busy = GemmFormula::of(target, problem, estimate.config, ctas).estimate(problem.size());
    // Whole tiles that all run at once are not persistent.
    double time = persistence + formula.time(busy.microseconds, busy.waves, busy.tiles, problem.size());
    if (time < best) {
      best = time;
      chosen = ctas;
    }
  }
  return chosen;
}

} // namespace tile::target
