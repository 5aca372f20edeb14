// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes a table of the times of all kernels for all sizes, and chooses kernels greedily.
#include "Target/KernelSet.h"

#include "Target/Tuned.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tile::target {
namespace {

constexpr int64_t manyRows = 4096;

/// Tiles that are tried in addition to those of gemmCandidates: tiles with few columns, and small tiles with longer K
/// steps. Both are for GEMMs that are limited by latency.
constexpr GemmChoices smallTiles[] = {{.blockM = 64, .blockN = 16, .blockK = 128, .numWarps = 4},
                                      {.blockM = 64, .blockN = 32, .blockK = 128, .numWarps = 4},
                                      {.blockM = 32, .blockN = 32, .blockK = 64, .numWarps = 4},
                                      {.blockM = 16, .blockN = 32, .blockK = 128, .numWarps = 2}};

/// Returns true if the tile agrees with the choices.
bool allows(const GemmChoices &choices, const GemmChoices &tile) {
  auto agrees = [&](std::optional<unsigned> GemmChoices::*size) {
    return !(choices.*size) || choices.*size == tile.*size;
  };
  return agrees(&GemmChoices::blockM) && agrees(&GemmChoices::blockN) && agrees(&GemmChoices::blockK) &&
         agrees(&GemmChoices::numWarps);
}

/// Lists configurations of tiles, warps and stages for all sizes, including separate tiles for few rows.
std::vector<GemmConfig> listConfigs(const GpuTarget &target, GemmProblem problem, const GemmChoices &choices) {
  std::vector<GemmConfig> configs;
  auto add = [&](const GemmChoices &open) {
    for (GemmConfig config : gemmCandidates(target, problem, open)) {
      config.groupM = choices.groupM.value_or(1);
      if (std::find(configs.begin(), configs.end(), config) == configs.end())
        configs.push_back(config);
    }
  };
  for (int64_t rows : {int64_t(8), int64_t(16), int64_t(32), manyRows}) {
    problem.m = rows;
    problem.n = problem.k = manyRows;
    add(choices);
  }
  if (problem.elementBytes() != 2) // otherwise step lengths differ
    return configs;
  const bool wgmma = canUseWgmma(target, problem);
  for (GemmChoices tile : smallTiles)
    if (wgmma == (*tile.blockM >= 64) && allows(choices, tile)) {
      tile.numStages = choices.numStages;
      add(tile);
    }
  return configs;
}

/// Returns the number of rows of tiles that form a group. The best number depends on the sizes; this is the one that is
/// best for most of the sizes that the kernel serves.
unsigned voteForGroup(const GpuTarget &target, GemmProblem problem, GemmChoices choices, const GemmConfig &config,
                      const std::vector<GemmSize> &sizes) {
  if (choices.groupM)
    return *choices.groupM;
  // Small tiles whose operands threads load have an address per element. With groups, computing these addresses takes
  // divisions of program ids, and so more registers: 16x32x128 spills 552 bytes, and takes two to three times as long.
  const unsigned smallTile = tunedOf(target).copyableTile;
  if (!config.wgmma && config.blockM * config.blockN < smallTile)
    return 1;
  choices.blockM = config.blockM;
  choices.blockN = config.blockN;
  choices.blockK = config.blockK;
  choices.numWarps = config.numWarps;
  choices.numStages = config.numStages;
  std::vector<std::pair<unsigned, int>> votes;
  for (const GemmSize &size : sizes) {
    std::tie(problem.m, problem.n, problem.k) = std::tuple(size.m, size.n, size.k);
    unsigned group = gemmCandidates(target, problem, choices).front().groupM;
    auto known = std::find_if(votes.begin(), votes.end(), [&](const auto &vote) { return vote.first == group; });
    if (known == votes.end())
      votes.emplace_back(group, 1);
    else
      ++known->second;
  }
  auto fewer = [](const auto &a, const auto &b) { return a.second < b.second; };
  return votes.empty() ? config.groupM : std::max_element(votes.begin(), votes.end(), fewer)->first;
}

/// The times of all kernels for all sizes.
class TimeTable {
public:
  TimeTable(const GpuTarget &target, const GemmProblem &problem, const std::vector<GemmKernel> &kernels,
            const std::vector<SampledSize> &sizes)
      : numKernels(kernels.size()), numSizes(sizes.size()), best(sizes.size(), std::numeric_limits<double>::max()) {
    times.reserve(numKernels * numSizes);
    for (const SampledSize &size : sizes)
      weights.push_back(size.weight);
    for (const GemmKernel &kernel : kernels) {
      const ScheduleFormula formula = formulaOf(target, problem, kernel);
      for (size_t size = 0; size < numSizes; ++size) {
        times.push_back(formula.microseconds(sizes[size].size));
        best[size] = std::min(best[size], times.back());
      }
    }
  }

  double time(size_t kernel, size_t size) const { return times[kernel * numSizes + size]; }
  double bestTime(size_t size) const { return best[size]; }

  /// Converts the relative loss of time at one size to a cost. The part of the loss above the tolerance has a higher
  /// weight.
  static double cost(double loss) {
    constexpr double tolerated = 0.05, weight = 4;
    return loss + weight * std::max(0.0, loss - tolerated);
  }

  /// Returns the cost of a set after `kernel` is added. `timesOfSet` are the times of the set without this kernel.
  double costWith(const std::vector<double> &timesOfSet, size_t kernel) const {
    double sum = 0;
    for (size_t size = 0; size < numSizes; ++size)
      sum += weights[size] * cost(std::min(timesOfSet[size], time(kernel, size)) / best[size] - 1);
    return sum;
  }

  size_t bestAddition(const std::vector<double> &timesOfSet) const {
    size_t chosen = 0;
    double least = std::numeric_limits<double>::max();
    for (size_t kernel = 0; kernel < numKernels; ++kernel)
      if (double sum = costWith(timesOfSet, kernel); sum < least) {
        least = sum;
        chosen = kernel;
      }
    return chosen;
  }

  std::vector<double> timesOf(const std::vector<size_t> &set) const {
    std::vector<double> least(numSizes, unserved);
    for (size_t kernel : set)
      for (size_t size = 0; size < numSizes; ++size)
        least[size] = std::min(least[size], time(kernel, size));
    return least;
  }

  double worstLoss(const std::vector<double> &timesOfSet) const {
    double worst = 0;
    for (size_t size = 0; size < numSizes; ++size)
      worst = std::max(worst, timesOfSet[size] / best[size] - 1);
    return worst;
  }

private:
  static constexpr double unserved = 1e15; ///< us; a finite limit, so that sums of costs are finite
  size_t numKernels, numSizes;
  std::vector<double> times, best, weights;
};

std::vector<size_t> growSet(const TimeTable &table, const SetLimits &limits) {
  std::vector<size_t> set;
  std::vector<double> times = table.timesOf(set);
  while (set.size() < limits.most && (set.empty() || table.worstLoss(times) > limits.tolerance)) {
    size_t next = table.bestAddition(times);
    if (std::find(set.begin(), set.end(), next) != set.end())
      break; // no kernel gains
    set.push_back(next);
    times = table.timesOf(set);
  }
  return set;
}

/// Replaces each member with the kernel that best complements the others, until nothing changes. This helps because
/// early members were chosen before the later members were known.
void exchangeMembers(const TimeTable &table, std::vector<size_t> &set) {
  constexpr int maxRounds = 4;
  bool changed = set.size() > 1;
  for (int round = 0; round < maxRounds && changed; ++round) {
    changed = false;
    for (size_t &member : set) {
      std::vector<size_t> others;
      std::copy_if(set.begin(), set.end(), std::back_inserter(others), [&](size_t other) { return other != member; });
      std::vector<double> times = table.timesOf(others);
      size_t better = table.bestAddition(times);
      if (table.costWith(times, better) < table.costWith(times, member)) {
        member = better;
        changed = true;
      }
    }
  }
}

/// Orders the members as if they were added to an empty set one by one, each with the largest gain, so that dropping
/// the last one loses the least.
void orderByGain(const TimeTable &table, std::vector<size_t> &set) {
  for (size_t place = 0; place < set.size(); ++place) {
    std::vector<double> times = table.timesOf({set.begin(), set.begin() + place});
    auto next = std::min_element(set.begin() + place, set.end(), [&](size_t a, size_t b) {
      return table.costWith(times, a) < table.costWith(times, b);
    });
    std::iter_swap(set.begin() + place, next);
  }
}

} // namespace

std::vector<GemmKernel> listKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                                    const ScheduleRules &rules) {
  std::vector<GemmKernel> kernels;
  GemmProblem large = problem;
  large.m = large.n = large.k = manyRows;
  if (rules.pingPong != ScheduleRules::PingPong::Never)
    if (std::optional<GemmEstimate> pingPong = findPingPong(target, large, choices)) {
      pingPong->config.groupM = choices.groupM.value_or(1);
      kernels.push_back({pingPong->config, {.pingPong = true}, /*splitTail=*/false});
    }
  if (rules.pingPong == ScheduleRules::PingPong::Always && !kernels.empty())
    return kernels;
  for (const GemmConfig &config : listConfigs(target, problem, choices)) {
    // If operands pass through registers, 128x64 takes up to a third longer than 64x128, and is never faster.
    if (!config.wgmma && !problem.asyncCopies && !choices.blockM && config.blockM > config.blockN)
      continue;
    if (!config.wgmma) { // kernels without tensor maps are not persistent
      kernels.push_back({config, {.persistent = false}, /*splitTail=*/false});
      for (unsigned ctas : {2u, 4u, 8u})
        if (rules.splitSteps && !rules.sameOrder && canSplitSteps(target, problem, config, ctas))
          kernels.push_back({config, {.persistent = false, .ctasPerTile = ctas}, /*splitTail=*/false});
      continue;
    }
    if (rules.sameOrder && isSwapped(config))
      continue;
    kernels.push_back({config, {.persistent = false}, /*splitTail=*/false});
    if (!rules.persistent)
      continue;
    kernels.push_back({config, {}, /*splitTail=*/false});
    if (problem.splitTail && !rules.sameOrder)
      kernels.push_back({config, {}, /*splitTail=*/true});
    for (unsigned ctas : {2u, 4u, 8u})
      if (rules.splitSteps && !rules.sameOrder && canSplitSteps(target, problem, config, ctas))
        kernels.push_back({config, {.ctasPerTile = ctas}, /*splitTail=*/false});
  }
  return kernels;
}

ScheduleFormula formulaOf(const GpuTarget &target, GemmProblem problem, const GemmKernel &kernel) {
  problem.splitTail = kernel.splitTail;
  return {target, problem, kernel.config, kernel.schedule};
}

double estimateKernel(const GpuTarget &target, const GemmProblem &problem, const GemmKernel &kernel,
                      const GemmSize &size) {
  return formulaOf(target, problem, kernel).microseconds(size);
}

double KernelSet::worstLoss() const {
  double worst = 0;
  for (const SizeChoice &choice : choices)
    worst = std::max(worst, choice.loss());
  return worst;
}

double KernelSet::meanLoss() const {
  double sum = 0;
  for (const SizeChoice &choice : choices)
    sum += choice.loss();
  return choices.empty() ? 0 : sum / double(choices.size());
}

KernelSet chooseKernels(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                        const ScheduleRules &rules, const std::vector<SampledSize> &sizes, const SetLimits &limits) {
  std::vector<GemmKernel> all = listKernels(target, problem, choices, rules);
  TimeTable table(target, problem, all, sizes);
  std::vector<size_t> members = growSet(table, limits);
  exchangeMembers(table, members);
  orderByGain(table, members);
  // The first kernel becomes an artifact's general variant, so it should have whole tiles: such a kernel needs no
  // clusters and suits most sizes.
  auto whole = std::find_if(members.begin(), members.end(),
                            [&](size_t member) { return all[member].schedule.ctasPerTile == 1; });
  if (whole != members.end())
    std::rotate(members.begin(), whole, whole + 1);
  KernelSet set;
  std::vector<std::vector<GemmSize>> served(members.size());
  for (size_t size = 0; size < sizes.size(); ++size) {
    auto slower = [&](size_t a, size_t b) { return table.time(a, size) < table.time(b, size); };
    size_t kernel = size_t(std::min_element(members.begin(), members.end(), slower) - members.begin());
    set.choices.push_back({sizes[size].size, kernel, table.time(members[kernel], size), table.bestTime(size)});
    served[kernel].push_back(sizes[size].size);
  }
  for (size_t kernel = 0; kernel < members.size(); ++kernel) {
    set.kernels.push_back(all[members[kernel]]);
    GemmConfig &config = set.kernels.back().config;
    config.groupM = voteForGroup(target, problem, choices, config, served[kernel]);
  }
  return set;
}

} // namespace tile::target
