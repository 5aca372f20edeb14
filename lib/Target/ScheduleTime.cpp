// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the time of tiles, and the additional time of schedules; CostModel.md has the sources of the constants.
#include "Target/ScheduleTime.h"

#include <algorithm>

namespace tile::target {
namespace {

/// Returns the time in us between two tiles of a multiprocessor if each tile has a separate CTA and only one CTA fits:
/// the next CTA begins when the previous one has ended. The time is a part of `launch` plus the time of the first load,
/// because nothing is loaded ahead.
double changeTime(const GemmProblem &problem, const GemmConfig &config, const Tuned &tuned) {
  const GemmConstants &constants = tuned.wgmma;
  double bytes = double(config.blockM + config.blockN) * config.blockK * problem.elementBytes();
  return tuned.changeShare * constants.launch / 1000 + bytes / constants.smIngest / constants.clockGHz / 1000;
}

} // namespace

ScheduleFormula::ScheduleFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                                 const GemmSchedule &schedule)
    : tiles([&] {
        GemmProblem own = problem;
        own.splitTail &= schedule.persistent && !schedule.pingPong && schedule.ctasPerTile == 1;
        own.splitOnlyRound = true;
        return GemmFormula::of(target, own, config, schedule.ctasPerTile);
      }()) {
  start = change = unusedSplit = 0;
  cluster = schedule.ctasPerTile > 1 ? clusterTime(target, config, schedule.ctasPerTile) : 0;
  // Two CTAs with mma.sync share a multiprocessor, so one begins while the other ends; the constants already include
  // that.
  if (!config.wgmma)
    return;
  if (schedule.persistent)
    start = tunedOf(target).persistence;
  if (schedule.pingPong)
    pingPong.emplace(target, problem, config);
  else if (!schedule.persistent)
    change = changeTime(problem, config, tunedOf(target));
  else if (problem.splitTail && schedule.ctasPerTile == 1)
    unusedSplit = tunedOf(target).unusedSplit;
}

GemmSize ScheduleFormula::clamp(GemmSize size) {
  constexpr int64_t largest = int64_t(1) << 31;
  for (int64_t GemmSize::*each : {&GemmSize::m, &GemmSize::n, &GemmSize::k})
    size.*each = std::clamp<int64_t>(size.*each, 1, largest);
  return size;
}

double ScheduleFormula::microseconds(const GemmSize &size) const {
  const GemmSize counted = clamp(size);
  const GemmFormula::Work work = pingPong ? pingPong->workFor(counted) : tiles.workFor(counted);
  const double microseconds = (pingPong ? pingPong->nanoseconds(work) : tiles.nanoseconds(work)) * 1e-3;
  return start + microseconds + work.waves * cluster + (work.waves - 1) * change + (work.isSplit ? 0 : unusedSplit);
}

double estimateSchedule(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                        const GemmSchedule &schedule) {
  return ScheduleFormula(target, problem, config, schedule).microseconds(problem.size());
}

} // namespace tile::target
