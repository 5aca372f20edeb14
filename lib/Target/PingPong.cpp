// One comparison, with limits that are measured; README.md says where.
#include "Target/PingPong.h"

#include "Target/GemmTime.h"

namespace tile::target {
namespace {

constexpr unsigned tileSize = 128;   // rows and columns: tiles of 64 rows read operands faster than L2 gives them
constexpr unsigned teamWarps = 4;    // a warp group
constexpr unsigned usefulStages = 3; // as for one team

/// Each team has panels of its own that c leaves through.
int64_t sharedBytesOfTeams(const GemmProblem &problem, const GemmConfig &config) {
  GemmConfig panels = config;
  panels.numStages = 0;
  return sharedBytes(problem, config) + sharedBytes(problem, panels);
}

// Measured to gain on an H200 with 16-bit operands: 2 % at K = 256, 4 to 14 % at 512, 2 to 10 % at 1024 with many
// tiles (of 1536x8192x1024, 6 tiles a multiprocessor, nothing), nothing from 2048 on.
constexpr int64_t mostK = 1024, shortK = 512, manyTiles = 6;
// The formula knows waves and limits, but underestimates epilogues: of what it prices 7 % higher
// (2048x2048x512), ping-pong took 6 % less.
constexpr double underestimate = 1.07;

unsigned multiprocessors(const GpuTarget &target, const GemmProblem &problem) {
  return problem.numSms ? problem.numSms : target.numSms;
}

bool isMeasured(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &pingPong) {
  int64_t numSms = multiprocessors(target, problem), leastTiles = problem.k <= shortK ? numSms : manyTiles * numSms;
  return problem.elementBytes() == 2 && problem.k <= mostK && pingPong.config.blockM == tileSize &&
         pingPong.config.blockN == tileSize && pingPong.tiles > leastTiles;
}

GemmEstimate estimateTeams(const GpuTarget &target, GemmProblem problem, const GemmConfig &config, bool takeTurns) {
  problem.splitTail = false;
  return estimateGemm(problem, config, multiprocessors(target, problem), wgmmaConstants(), /*twoTiles=*/takeTurns);
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
    while (isOpen && config.numStages > usefulStages && sharedBytesOfTeams(problem, config) > target.maxSharedPerCta)
      --config.numStages;
    if (sharedBytesOfTeams(problem, config) <= target.maxSharedPerCta)
      return estimateTeams(target, problem, config, /*takeTurns=*/true);
  }
  return std::nullopt;
}

bool prefersPingPong(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &best,
                     const GemmEstimate &pingPong) {
  return isMeasured(target, problem, pingPong) && best.config.wgmma && !isSwapped(best.config) &&
         pingPong.microseconds < underestimate * best.microseconds;
}

double pingPongTime(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  const GemmEstimate alternating = estimateTeams(target, problem, config, /*takeTurns=*/true);
  return isMeasured(target, problem, alternating)
             ? alternating.microseconds / underestimate
             : estimateTeams(target, problem, config, /*takeTurns=*/false).microseconds;
}

} // namespace tile::target
