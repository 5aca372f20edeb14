// The price of tiles, and what schedules add to it; README.md has where the numbers are from.
#include "Target/ScheduleTime.h"

#include "Target/GemmTime.h"
#include "Target/PingPong.h"
#include "Target/StepSplit.h"

#include <algorithm>
#include <cmath>

namespace tile::target {
namespace {

// us a launch, on an H200. To look for a second tile where there is none: 512 takes 3.3 us instead of 3.1, 1024 5.27
// instead of 5.05. A schedule that could split the last tiles and does not: 0.4 us of 26 at 2048.
constexpr double persistence = 0.2, unusedSplit = 0.4;

bool isWhole(double number) {
  return number == std::floor(number);
}

/// us between two tiles of a multiprocessor if each has a CTA of its own, and only one has room: the next one begins
/// when the last one has ended. As long as the begin of a launch, about half of `launch`, and nothing is loaded ahead.
double changeTime(const GemmProblem &problem, const GemmConfig &config, const GemmConstants &constants) {
  double bytes = double(config.blockM + config.blockN) * config.blockK * problem.elementBytes();
  return constants.launch / 2000 + bytes / constants.smIngest / constants.clockGHz / 1000;
}

} // namespace

double estimateSchedule(const GpuTarget &target, GemmProblem problem, const GemmConfig &config,
                        const GemmSchedule &schedule) {
  problem.m = std::max<int64_t>(problem.m, 1);
  problem.n = std::max<int64_t>(problem.n, 1);
  problem.k = std::max<int64_t>(problem.k, 1);
  problem.splitTail &= schedule.persistent && !schedule.pingPong && schedule.ctasPerTile == 1;
  // CTAs with mma.sync share a multiprocessor, so that one begins while another ends; that is in its constants.
  if (!config.wgmma)
    return estimateGemm(target, problem, config).microseconds;
  const double start = schedule.persistent ? persistence : 0;
  if (schedule.pingPong)
    return start + pingPongTime(target, problem, config);
  const GemmEstimate estimate = estimateGemm(target, problem, config);
  if (schedule.ctasPerTile > 1)
    return start + stepSplitTime(target, problem, estimate, schedule.ctasPerTile);
  if (!schedule.persistent)
    return estimate.microseconds + (estimate.waves - 1) * changeTime(problem, config, wgmmaConstants());
  return start + estimate.microseconds + (problem.splitTail && isWhole(estimate.waves) ? unusedSplit : 0);
}

} // namespace tile::target
