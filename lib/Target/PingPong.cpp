// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the predictions with and without ping-pong, within measured limits; CostModel.md says where they were
// measured.
#include "Target/PingPong.h"

namespace tile::target {
namespace {

constexpr unsigned tileSize = 128;    // rows and columns: tiles of 64 rows read operands faster than L2 delivers them
constexpr unsigned teamWarps = 4;     // warps per team: one warp group
constexpr unsigned stagesOfTeams = 3; // stages, as for one team

/// Returns the shared memory of two teams, each with separate panels for c.
int64_t sharedBytesOfTeams(const GemmProblem &problem, const GemmConfig &config) {
  GemmConfig panels = config;
  panels.numStages = 0;
  return sharedBytes(problem, config) + sharedBytes(problem, panels);
}

bool isMeasuredTile(const GemmProblem &problem, const GemmConfig &config) {
  return problem.elementBytes() == 2 && config.blockM == tileSize && config.blockN == tileSize;
}

bool isMeasuredSize(int64_t k, int64_t tiles, int64_t numSms) {
  return k <= PingPongGain::maxK && tiles > (k <= PingPongGain::shortK ? numSms : PingPongGain::manyTiles * numSms);
}

GemmFormula formulaOfTeams(const GpuTarget &target, GemmProblem problem, const GemmConfig &config, bool pingPong) {
  problem.splitTail = false;
  const Tuned &tuned = tunedOf(target);
  return {problem,           config, problem.multiprocessors(target), target, tuned.wgmma, /*warpGroups=*/true,
          pingPong ? 2u : 1u};
}

} // namespace

std::optional<GemmEstimate> findPingPong(const GpuTarget &target, const GemmProblem &problem, GemmChoices choices) {
  if (choices.numWarps.value_or(teamWarps) != teamWarps)
    return std::nullopt;
  bool isOpen = !choices.numStages;
  choices.numWarps = teamWarps;
  choices.blockM = choices.blockM.value_or(tileSize);
  choices.blockN = choices.blockN.value_or(tileSize);
  for (GemmConfig config : gemmCandidates(target, problem, choices)) {
    if (!config.wgmma || isSwapped(config) || !checkGemmConfig(target, problem, config).empty())
      continue;
    while (isOpen && config.numStages > stagesOfTeams && sharedBytesOfTeams(problem, config) > target.maxSharedPerCta)
      --config.numStages;
    if (sharedBytesOfTeams(problem, config) <= target.maxSharedPerCta)
      return formulaOfTeams(target, problem, config, /*pingPong=*/true).estimate(problem.size());
  }
  return std::nullopt;
}

bool prefersPingPong(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &best,
                     const GemmEstimate &pingPong) {
  return isMeasuredTile(problem, pingPong.config) &&
         isMeasuredSize(problem.k, pingPong.tiles, problem.multiprocessors(target)) && best.config.wgmma &&
         !isSwapped(best.config) && pingPong.microseconds < PingPongGain::underestimate * best.microseconds;
}

PingPongFormula::PingPongFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config)
    : pingPong(formulaOfTeams(target, problem, config, /*pingPong=*/true)),
      alone(formulaOfTeams(target, problem, config, /*pingPong=*/false)), isMeasured(isMeasuredTile(problem, config)),
      numSms(problem.multiprocessors(target)) {}

bool PingPongFormula::gains(const GemmFormula::Work &work) const {
  return isMeasured && isMeasuredSize(work.size.k, work.tiles, numSms);
}

double PingPongFormula::nanoseconds(const GemmFormula::Work &work) const {
  return gains(work) ? pingPong.nanoseconds(work) / PingPongGain::underestimate : alone.nanoseconds(work);
}

} // namespace tile::target
