// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the cost model with measured schedules, and fits its constants to them:
//
//   cd bench/results/h200
//   ../../../build/test/unit/Target/cost-model-fit schedules.tsv tiles.tsv          table of picks and their losses
//   ../../../build/test/unit/Target/cost-model-fit schedules.tsv tiles.tsv --fit    search from GemmTime.cpp's
//   constants
//
// The search is a descent along one constant at a time, with steps from 30 % down to 0.2 %. It minimises the errors of
// the times' logarithms and the speed that the picks lose. Errors that all schedules of a shape share count a fifth:
// the card's clock drifted between shapes. Slow schedules count less, by the third power of their speed.
#include "Schedules.h"

#include "Target/GemmTime.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tile::target;

namespace {

const GpuTarget &hopper = *findTarget("sm_90a");

struct Bound {
  const char *name;
  double GemmConstants::*constant;
  double low, high;
};

// Physical bounds: 1.98 GHz is the card's highest clock; 128 B/clk a shared memory's port; 64 B/clk an SM's port to L2,
// 132 of them. A store to shared memory and the copy out of it share the port.
constexpr Bound bounds[] = {
    {"clockGHz", &GemmConstants::clockGHz, 1.0, 1.98},
    {"smPort", &GemmConstants::smPort, 32, 128},
    {"smIngest", &GemmConstants::smIngest, 16, 64},
    {"l2", &GemmConstants::l2, 1000, 8448},
    {"memory", &GemmConstants::memory, 1000, 4800},
    {"power", &GemmConstants::power, 1e5, 1e6},
    {"step", &GemmConstants::step, 0, 1000},
    {"late", &GemmConstants::late, 0, 1000},
    {"launch", &GemmConstants::launch, 500, 5000},
    {"epilogue", &GemmConstants::epilogue, 100, 5000},
    {"epilogueRate", &GemmConstants::epilogueRate, 1, 48},
};

GemmEstimate estimate(const GemmProblem &problem, const GemmConfig &config, const GemmConstants &constants,
                      bool pingPong = false) {
  return GemmFormula(problem, config, hopper.numSms, hopper, constants, /*warpGroups=*/true, pingPong ? 2 : 1)
      .estimate(problem.size());
}

/// Returns the measured candidate that is the fastest according to the constants.
std::pair<GemmConfig, double> pick(const MeasuredShape &shape, const GemmConstants &constants) {
  std::pair<GemmConfig, double> best{{}, 0};
  double bestTime = HUGE_VAL;
  for (const GemmConfig &config : gemmCandidates(hopper, shape.problem)) {
    std::optional<double> ratio = shape.ratioOf(config);
    double time = estimate(shape.problem, config, constants).microseconds;
    if (ratio && time < bestTime) {
      bestTime = time;
      best = {config, *ratio};
    }
  }
  return best;
}

double lossOf(const std::vector<MeasuredShape> &shapes, const GemmConstants &constants) {
  constexpr double shared = 0.2, picks = 0.005, tolerated = 0.02;
  double loss = 0;
  for (const MeasuredShape &shape : shapes) {
    double weights = 0, errors = 0, squares = 0;
    for (const Measurement &row : shape.rows) {
      GemmEstimate expected = estimate(shape.problem, row.config, constants, row.pingPong);
      double weight = std::pow(row.ratio / shape.bestRatio(), 3);
      double error = std::log(expected.microseconds / row.microseconds);
      weights += weight;
      errors += weight * error;
      squares += weight * error * error;
    }
    double mean = errors / weights;
    loss += squares / weights - (1 - shared) * mean * mean;
    loss += picks * shapes.size() * std::max(0.0, shape.bestRatio() / pick(shape, constants).second - 1 - tolerated);
  }
  return loss / shapes.size();
}

GemmConstants fit(const std::vector<MeasuredShape> &shapes) {
  GemmConstants constants = tunedOf(hopper).wgmma;
  double loss = lossOf(shapes, constants);
  auto improve = [&](const Bound &bound, double factor) {
    double &value = constants.*bound.constant, before = value;
    value = std::min(bound.high, std::max(bound.low, value * factor));
    double now = lossOf(shapes, constants);
    bool isBetter = now < loss - 1e-9;
    isBetter ? loss = now : value = before;
    return isBetter;
  };
  for (double step = 0.3; step > 0.002; step *= 0.7)
    for (bool improved = true; improved;) {
      improved = false;
      for (const Bound &bound : bounds)
        improved |= improve(bound, 1 + step) || improve(bound, 1 / (1 + step));
    }
  return constants;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<MeasuredShape> shapes, tiles;
  if (argc > 2) {
    shapes = readSchedules(argv[1]);
    tiles = readTiles(argv[2]);
  }
  if (shapes.empty() || tiles.empty()) {
    std::fprintf(stderr, "usage: cost-model-fit <schedules.tsv> <tiles.tsv> [--fit]\n");
    return 2;
  }
  shapes.insert(shapes.end(), tiles.begin(), tiles.end());
  bool isFit = argc > 3 && !std::strcmp(argv[3], "--fit");
  GemmConstants constants = isFit ? fit(shapes) : tunedOf(hopper).wgmma;
  for (const Bound &bound : bounds)
    std::printf("%-13s %.6g\n", bound.name, constants.*bound.constant);
  std::printf("error of times (root of the loss) %.3f\n\n", std::sqrt(lossOf(shapes, constants)));
  std::printf("%-18s %-13s %9s %9s %6s\n", "shape", "pick", "its ratio", "best", "lost");
  for (const MeasuredShape &shape : shapes) {
    auto [config, ratio] = pick(shape, constants);
    std::string tile =
        std::to_string(config.blockM) + "x" + std::to_string(config.blockN) + "x" + std::to_string(config.blockK);
    std::printf("%-18s %-13s %9.3f %9.3f %5.1f%%\n", shape.name.c_str(), tile.c_str(), ratio, shape.bestRatio(),
                100 * (1 - ratio / shape.bestRatio()));
  }
  return 0;
}
