// The formula; GemmTime.h and README.md say what it is.
#include "Target/GemmTime.h"

#include "Target/Engines/Wgmma.h"
#include "Target/TailSplit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::target {

// Fitted by test/unit/Target/FitCostModel.cpp to bench/results/h200/schedules.tsv and rounded. The measurements
// do not tell the clock, smIngest, the epilogue's constants and the sharpness: these are at the bounds given there.
const GemmConstants &wgmmaConstants() {
  static constexpr GemmConstants constants{
      .clockGHz = 1.98,
      .smPort = 114,
      .smIngest = 64,
      .l2 = 7700,
      .memory = 4080,
      .pause = 500,
      .power = 820e3,
      .step = 48,
      .copy = 0,
      .late = 86,
      .launch = 1940,
      .epilogue = 100,
      .epilogueRate = 48,
      .sharpness = 8,
  };
  return constants;
}

// Set by hand to the times of 128x128x32 in bench/results/h200: 0.52 us per K step when a CTA is alone on its
// multiprocessor, 0.35 us when two share it. Through registers, to those of rows.md there.
const GemmConstants &mmaSyncConstants(bool asyncCopies) {
  static constexpr GemmConstants constants{
      .clockGHz = 1.755,
      .smPort = 128,
      .smIngest = 64,
      .l2 = 6154,
      .memory = 4080,
      .pause = 500,
      .power = 820e3,
      .step = 400,
      .copy = 6,
      .late = 0,
      .launch = 4000,
      .epilogue = 500,
      .epilogueRate = 16,
      .sharpness = 8,
  };
  static const GemmConstants throughRegisters = [] {
    GemmConstants changed = constants;
    changed.step = 1000; // the latency of global memory, once a step
    return changed;
  }();
  return asyncCopies ? constants : throughRegisters;
}

namespace {

constexpr int64_t atomBytes = wgmmaBytesK; // along K: what one instruction multiplies, of mma.sync as well

int64_t ceilDiv(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Collects times that overlap.
class Overlap {
public:
  explicit Overlap(double sharpness) : sharpness(sharpness) {}
  void add(double time, GemmLimit limit) {
    sum += std::pow(time, sharpness);
    if (time > largest) {
      largest = time;
      slowest = limit;
    }
  }
  double time() const { return std::pow(sum, 1 / sharpness); }
  GemmLimit limit() const { return slowest; }

private:
  double sharpness, sum = 0, largest = 0;
  GemmLimit slowest = GemmLimit::Fixed;
};

/// Clocks for `atomBytes` along K of one tile.
Overlap atomClocks(const GemmProblem &problem, const GemmConfig &config, double active, const GemmConstants &c) {
  double m = config.blockM, n = config.blockN;
  Overlap clocks(c.sharpness);
  double usedM = std::min<double>(m, problem.m), usedN = std::min<double>(n, problem.n);
  if (config.wgmma) {
    // Each instruction multiplies 64 rows and reads them and all of its columns. Groups side by side read rows twice.
    double rows = double(wgmmaTile(config).rows) / wgmmaRows, columns = wgmmaTile(config).columns;
    double groups = config.numWarps / 4.0, groupsN = groups / std::min(groups, rows);
    clocks.add(rows * columns / 2, GemmLimit::TensorCores);
    double read = rows * (wgmmaRows * groupsN + columns) * atomBytes, written = (m + n) * atomBytes;
    clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
  } else {
    // Half the rate of wgmma. Warps share rows and columns as evenly as a power of two allows.
    double columns = 1;
    while (columns < config.numWarps && columns * columns * 4 <= config.numWarps * n / m)
      columns *= 2;
    double rows = config.numWarps / columns;
    clocks.add(m / wgmmaRows * n, GemmLimit::TensorCores);
    double read = (m * columns + n * rows) * atomBytes, written = (m + n) * atomBytes;
    clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
    // An element at a time where nothing is promised: a warp's load, and its store to shared memory.
    double bytes = std::max(problem.copyBytes, problem.elementBytes());
    clocks.add((m + n) * atomBytes / bytes / threadsPerWarp * c.copy, GemmLimit::Copies);
  }
  clocks.add((usedM + usedN) * atomBytes / std::min(c.smIngest, c.l2 / active), GemmLimit::L2Cache);
  // Energy goes with the bits that are multiplied: atoms of all types are alike. The clock falls so that all busy
  // multiprocessors together stay within the limit.
  constexpr double elements16 = atomBytes / 2.0;
  // Set by hand: 8192 takes 1.07 times as long with 192 columns as with 256, 1.10 times with 224; 3072 does not.
  constexpr double oddSize = 1.03;
  bool isOdd = !std::has_single_bit(config.blockM) || !std::has_single_bit(config.blockN);
  double energy = usedM * usedN * elements16 * 2 * (isOdd ? oddSize : 1);
  clocks.add(energy / (c.power / active) * c.clockGHz, GemmLimit::Power);
  return clocks;
}

/// How much longer a step takes where rows of c's blocks, or of a row-major b's, begin inside a line of L2, and so take
/// two requests a panel. Set by hand: 1536 nn takes 13.1 us with 128x144 blocks, 12.7 with 144x128, and varies more; nt
/// and tt, where only c's do, take as long either way.
double straddleFactor(const GemmProblem &problem, const GemmConfig &config) {
  constexpr unsigned lineBytes = 128;
  auto straddles = [&](unsigned elementBytes) { return config.blockN * elementBytes % lineBytes != 0; };
  bool anyStraddles = straddles(problem.outputBytes) || (!problem.bKMajor && straddles(problem.elementBytes()));
  return config.wgmma && anyStraddles ? 1.02 : 1;
}

/// Rows of a block that do not exist are not read, but take TMA time. Set by hand: with 64 rows, of which 16 exist,
/// 8192 and 4096 columns take 1.17 times as long as with blocks of 16 rows, 28672 columns 1.29 times.
double missingFactor(const GemmProblem &problem, const GemmConfig &config) {
  return config.wgmma && problem.m * 2 <= int64_t(config.blockM) && config.blockM >= wgmmaRows ? 1.2 : 1;
}

/// By how much spills slow a kernel down that passes its operands through registers. Set by hand: 128x128x64 with eight
/// warps takes 2.0 times as long as it would without, 128x128x32 with four 2.9 times.
double spillFactor(const GemmProblem &problem, const GemmConfig &config) {
  constexpr double some = 1.7, registers = 60; // that take as much time as all the rest
  unsigned needed = registersOfStep(problem, config);
  bool spills = !problem.asyncCopies && needed > mostRegistersOfStep;
  return spills ? some + (needed - mostRegistersOfStep) / registers : 1;
}

/// How cta-stream-k shares the last round. Kernels whose tiles all run at once are not persistent (ChooseConfig), so
/// they are not split.
std::optional<TailShare> shareTail(const GemmConfig &config, int64_t stepBytes, int64_t tiles, int64_t steps,
                                   int64_t numSms) {
  int64_t elements = int64_t(config.blockM) * config.blockN, rest = tiles % numSms;
  if (rest == 0 || tiles < numSms || TailSplit::stepClocks(elements, stepBytes) < TailSplit::leastStepClocks)
    return std::nullopt;
  return TailSplit(elements, stepBytes).share(tiles / numSms, rest, steps, numSms);
}

} // namespace

unsigned registersOfStep(const GemmProblem &problem, const GemmConfig &config) {
  unsigned threads = config.numWarps * threadsPerWarp;
  unsigned elements = problem.asyncCopies ? 0 : (config.blockM + config.blockN) * config.blockK;
  unsigned perRegister = std::max(1u, std::min(4u, problem.copyBytes) / problem.elementBytes());
  return (config.blockM * config.blockN + elements / perRegister) / threads;
}

GemmEstimate estimateGemm(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const GemmConstants &c,
                          bool twoTiles) {
  GemmEstimate estimate{.config = config};
  double bytes = problem.elementBytes();
  estimate.tiles = ceilDiv(problem.m, config.blockM) * ceilDiv(problem.n, config.blockN);
  int64_t steps = ceilDiv(problem.k, config.blockK), rounds = ceilDiv(estimate.tiles, numSms);
  double mostSteps = double(rounds) * steps;
  estimate.waves = double(rounds);
  std::optional<TailShare> tail;
  if (config.wgmma && problem.splitTail)
    tail = shareTail(config, config.blockK * problem.elementBytes(), estimate.tiles, steps, numSms);
  if (tail) {
    double wholeRounds = double(rounds - 1);
    estimate.waves = wholeRounds + double(tail->ownSteps) / steps;
    mostSteps = wholeRounds * steps + tail->ownSteps + tail->lostSteps;
  }

  double active = std::min<double>(estimate.tiles, numSms), groups = std::max(1u, config.numWarps / 4);
  Overlap atom = atomClocks(problem, config, active, c);
  double atoms = config.blockK * bytes / atomBytes, gap = c.step / c.clockGHz; // of a step
  double busy = atoms * atom.time() * straddleFactor(problem, config) / c.clockGHz;
  double elements = double(config.blockM) * config.blockN;
  // Set by hand: 4096, where c is not written by TMA, takes 1.03 times as long.
  double rate = c.epilogueRate * groups / (config.wgmma && problem.plainStores ? 4 : 1);
  double epilogue = c.epilogue + elements * problem.outputBytes / rate / c.clockGHz;
  double compute = mostSteps * (busy + gap) + rounds * epilogue;
  double inputs = double(problem.m + problem.n) * problem.k * bytes;
  double outputs = double(problem.m) * problem.n * problem.outputBytes;
  double memory = (inputs + outputs) / c.memory + double(std::max<int64_t>(rounds - 1, 0)) * c.pause;
  memory *= missingFactor(problem, config);
  // One group alone releases its slots a step late. That delays copies once the ring is full, unless memory does.
  if (groups == 1 && !twoTiles)
    compute += std::max(0.0, mostSteps - config.numStages) * c.late / c.clockGHz * std::max(0.0, 1 - memory / compute);
  if (twoTiles && rounds > 1) // each waits for the units; for gaps and epilogues only if there is nothing else to do
    compute = std::max(mostSteps * busy + steps * gap + epilogue, compute / 2);
  if (!config.wgmma)
    compute *= spillFactor(problem, config);

  Overlap total(c.sharpness);
  bool isShort = epilogue > steps * (busy + gap);
  total.add(compute, isShort ? GemmLimit::Fixed : gap > busy ? GemmLimit::KSteps : atom.limit());
  total.add(memory, GemmLimit::GlobalMemory);
  // The first products wait for a whole K step; later loads run ahead.
  double fill = (config.blockM + config.blockN) * config.blockK * bytes / c.smIngest / c.clockGHz;
  double fixed = c.launch + fill;
  estimate.limit = fixed > total.time() ? GemmLimit::Fixed : total.limit();
  estimate.microseconds = (fixed + total.time()) / 1000;
  return estimate;
}

} // namespace tile::target
