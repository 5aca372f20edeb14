// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula; GemmTime.h and README.md say what it is.
#include "Target/GemmTime.h"

#include "Target/Engines/Wgmma.h"
#include "Target/StepSplit.h"

#include <algorithm>
#include <bit>

namespace tile::target {

// Fitted together with what ScheduleTime and StepSplit add, to bench/results/h200: schedules.tsv, tiles.tsv and
// variants.tsv, and rounded. The clock and smIngest are at their bounds.
const GemmConstants &wgmmaConstants() {
  static constexpr GemmConstants constants{
      .clockGHz = 1.98,
      .smPort = 121,
      .smIngest = 64,
      .l2 = 8448,
      .memory = 3470,
      .writes = 2150,
      .pause = 316,
      .power = 795e3,
      .step = 45,
      .copy = 0,
      .crowded = 1,
      .shortRows = 1,
      .late = 80,
      .launch = 1690,
      .epilogue = 50,
      .epilogueRate = 46,
  };
  return constants;
}

// Fitted to variants.tsv and rows.md. `step` has the latency of what a step waits for, `copy` of what it issues; the
// order is good, the times are within a third.
static const GemmConstants &mmaSyncConstants(bool asyncCopies) {
  static constexpr GemmConstants async{
      .clockGHz = 1.98,
      .smPort = 67,
      .smIngest = 64,
      .l2 = 5070,
      .memory = 4080,
      .writes = 1410,
      .pause = 284,
      .power = 482e3,
      .step = 20,
      .copy = 7.1,
      .crowded = 0.96,
      .shortRows = 2.1,
      .late = 0,
      .launch = 1200,
      .epilogue = 430,
      .epilogueRate = 33,
  };
  static constexpr GemmConstants throughRegisters{
      .clockGHz = 1.98,
      .smPort = 128,
      .smIngest = 64,
      .l2 = 6320,
      .memory = 4080,
      .writes = 1350,
      .pause = 360,
      .power = 820e3,
      .step = 318,
      .copy = 6.1,
      .crowded = 0.74,
      .shortRows = 3.5,
      .late = 0,
      .launch = 1480,
      .epilogue = 83,
      .epilogueRate = 48,
  };
  return asyncCopies ? async : throughRegisters;
}

/// Fitted to variants.tsv.
static const GemmConstants &storedWgmmaConstants(bool asyncCopies) {
  static constexpr GemmConstants async{
      .clockGHz = 1.98,
      .smPort = 44,
      .smIngest = 64,
      .l2 = 6400,
      .memory = 4080,
      .writes = 1100,
      .pause = 91,
      .power = 334e3,
      .step = 45,
      .copy = 8.9,
      .crowded = 0.89,
      .shortRows = 2.8,
      .late = 0,
      .launch = 1160,
      .epilogue = 407,
      .epilogueRate = 13.7,
  };
  static constexpr GemmConstants throughRegisters{
      .clockGHz = 1.98,
      .smPort = 128,
      .smIngest = 64,
      .l2 = 8448,
      .memory = 4080,
      .writes = 2680,
      .pause = 660,
      .power = 820e3,
      .step = 0,
      .copy = 6.1,
      .crowded = 0.65,
      .shortRows = 1.04,
      .late = 0,
      .launch = 2420,
      .epilogue = 121,
      .epilogueRate = 35,
  };
  return asyncCopies ? async : throughRegisters;
}

const GemmConstants &threadConstants(bool warpGroups, bool asyncCopies) {
  return warpGroups ? storedWgmmaConstants(asyncCopies) : mmaSyncConstants(asyncCopies);
}

namespace {

constexpr unsigned lineBytes = 128; // of L2
constexpr double straddlingB = 1.09, straddlingC = 1.01;
constexpr double narrowFactor = 1.76;
constexpr double straddlingLines = 1.8;
constexpr unsigned mostThroughRegisters = 112, mostAsync = 144; // of registersOfStep
// By hand: 4096 takes 295 us with two slots of 96 KiB, 202 with four of 48; 256x4096x14336 91 with three of 64, 74 with
// six of 32.
constexpr double slotLatency = 150, slotRate = 46; // ns; bytes in a ns, all multiprocessors reading
constexpr int64_t atomBytes = wgmmaBytesK;         // along K: what one instruction multiplies, of mma.sync as well

/// What sizes do not move of the clocks for `atomBytes` along K of one tile.
Overlap unchangingClocks(const GemmProblem &problem, const GemmConfig &config, const GemmConstants &c,
                         bool warpGroups) {
  double m = config.blockM, n = config.blockN;
  Overlap clocks;
  if (!config.wgmma) {
    // An element at a time where nothing is promised: a warp's load, and its store to shared memory.
    double bytes = std::max(problem.copyBytes, problem.elementBytes());
    clocks.add((m + n) * atomBytes / bytes / threadsPerWarp * c.copy, GemmLimit::Copies);
  }
  if (warpGroups) {
    // Each instruction multiplies 64 rows and reads them and all of its columns. Groups side by side read rows twice.
    double rows = double(wgmmaTile(config).rows) / wgmmaRows, columns = wgmmaTile(config).columns;
    double groups = config.numWarps / 4.0, groupsN = groups / std::min(groups, rows);
    clocks.add(rows * columns / 2, GemmLimit::TensorCores);
    double read = rows * (wgmmaRows * groupsN + columns) * atomBytes, written = (m + n) * atomBytes;
    TurnedLines turned = turnedLines(problem, config);
    // Instead of the instructions threads read the left operand, once, in half of the banks at a time.
    constexpr double conflicts = 2;
    if (turned.read)
      read = (m * n / wgmmaRows + conflicts * turned.read) * atomBytes;
    read += turned.stored * atomBytes;
    written += turned.stored * atomBytes;
    clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
    return clocks;
  }
  // Half the rate of wgmma. Warps share rows and columns as evenly as a power of two allows.
  double columns = 1;
  while (columns < config.numWarps && columns * columns * 4 <= config.numWarps * n / m)
    columns *= 2;
  double rows = config.numWarps / columns;
  clocks.add(m / wgmmaRows * n, GemmLimit::TensorCores);
  double read = (m * columns + n * rows) * atomBytes, written = (m + n) * atomBytes;
  clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
  return clocks;
}

/// Clocks of an atom by the power limit, for each element of a tile of c and each busy multiprocessor. Energy goes with
/// the bits that are multiplied: atoms of all types are alike. The clock falls so that all busy multiprocessors
/// together stay within the limit.
double energyOf(const GemmConfig &config, const GemmConstants &c) {
  constexpr double elements16 = atomBytes / 2.0;
  // Set by hand: 8192 takes 1.07 times as long with 192 columns as with 256, 1.10 times with 224; 3072 does not.
  constexpr double oddSize = 1.03;
  bool isOdd = !std::has_single_bit(config.blockM) || !std::has_single_bit(config.blockN);
  return elements16 * 2 * (isOdd ? oddSize : 1) / c.power * c.clockGHz;
}

/// How much longer a step takes where rows of c's blocks, or of a row-major b's, begin inside a line of L2, and so take
/// two requests a panel. Set by hand: 1536 nn takes 13.1 us with 128x144 blocks, 12.7 with 144x128, and varies more; nt
/// and tt, where only c's do, take as long either way.
double straddleFactor(const GemmProblem &problem, const GemmConfig &config) {
  auto straddles = [&](unsigned elementBytes) { return config.blockN * elementBytes % lineBytes != 0; };
  if (config.wgmma && !problem.bKMajor && straddles(problem.elementBytes()))
    return straddlingB;
  return config.wgmma && straddles(problem.outputBytes) ? straddlingC : 1;
}

/// By how much spills slow a kernel down that passes its operands through registers. Set by hand: 128x128x64 with eight
/// warps takes 2.0 times as long as it would without, 128x128x32 with four 2.9 times.
double spillFactor(const GemmProblem &problem, const GemmConfig &config) {
  constexpr double some = 1.7, registers = 60; // that take as much time as all the rest
  unsigned needed = registersOfStep(problem, config);
  bool spills = !problem.asyncCopies && needed > mostThroughRegisters;
  return spills ? some + (needed - mostThroughRegisters) / registers : 1;
}

/// CTAs of a kernel that loads by threads that share a multiprocessor, as far as registers and shared memory go. Beside
/// what a step needs, a thread has addresses and masks: 64x128 tiles through registers take 249 of them, 32x32 ones 78;
/// by cp.async 168 and 72. Where a cluster shares the steps, there is room for the others' sums: 64x64 tiles in eight
/// parts take 214 us for 5029x35x11587, in four 91.
unsigned residentTiles(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                       unsigned ctasPerTile) {
  constexpr double others = 40, perRegister = 1.6, most = 255, all = 65536;
  double registers = std::min(most, others + perRegister * registersOfStep(problem, config));
  const unsigned byRegisters = unsigned(all / registers / (config.numWarps * threadsPerWarp));
  const int64_t shared =
      sharedBytes(problem, config) + int64_t(ctasPerTile - 1) * config.blockM * config.blockN * sizeof(float);
  return std::max(1u, std::min(byRegisters, unsigned(target.maxSharedPerCta / std::max<int64_t>(shared, 1))));
}

/// How cta-share-steps shares the last round of a kernel that can.
std::optional<TailSplit> tailOf(const GemmProblem &problem, const GemmConfig &config) {
  int64_t elements = int64_t(config.blockM) * config.blockN,
          stepBytes = int64_t(config.blockK) * problem.elementBytes();
  bool isSplit =
      config.wgmma && problem.splitTail && TailSplit::stepClocks(elements, stepBytes) >= TailSplit::leastStepClocks;
  return isSplit ? std::optional(TailSplit(elements, stepBytes)) : std::nullopt;
}

} // namespace

unsigned registersOfStep(const GemmProblem &problem, const GemmConfig &config) {
  unsigned threads = config.numWarps * threadsPerWarp, elements = (config.blockM + config.blockN) * config.blockK;
  unsigned bytes = std::max(problem.copyBytes, problem.elementBytes());
  unsigned perRegister = problem.asyncCopies ? bytes / problem.elementBytes()
                                             : std::max(1u, std::min(4u, problem.copyBytes) / problem.elementBytes());
  return (config.blockM * config.blockN + elements / perRegister) / threads;
}

bool fitsRegisters(const GemmProblem &problem, const GemmConfig &config) {
  return registersOfStep(problem, config) <= (problem.asyncCopies ? mostAsync : mostThroughRegisters);
}

GemmFormula::GemmFormula(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const GemmConstants &c,
                         bool warpGroups, unsigned tilesAtATime, unsigned ctasPerTile)
    : config(config), numSms(std::max(1u, numSms)), ctasPerTile(ctasPerTile), tilesAtATime(tilesAtATime),
      crowded(c.crowded), shortRows(c.shortRows), splitOnlyRound(problem.splitOnlyRound), aKMajor(problem.aKMajor),
      bKMajor(problem.bKMajor), blockM(config.blockM), blockN(config.blockN), blockK(config.blockK),
      multiprocessors(std::max(1u, numSms)), tail(tailOf(problem, config)), elementBytes(problem.elementBytes()),
      outputBytes(problem.outputBytes), elementsOfLine(std::max(1u, lineBytes / problem.elementBytes())),
      unchanging(unchangingClocks(problem, config, c, warpGroups)), energy(energyOf(config, c)),
      ingest(atomBytes / c.smIngest), l2(atomBytes / c.l2), memory(1 / c.memory), writes(1 / c.writes), pause(c.pause),
      spills(config.wgmma ? 1 : spillFactor(problem, config)) {
  double groups = std::max(1u, config.numWarps / 4), stepBytes = config.blockK * elementBytes;
  busy = stepBytes / atomBytes * straddleFactor(problem, config) / c.clockGHz;
  gap = c.step / c.clockGHz;
  // While one slot is multiplied the others are on their way.
  double slotBytes = (config.blockM + config.blockN) * stepBytes;
  // What is stored from it leaves a slot at once, and is multiplied elsewhere.
  const unsigned ahead = turnedLines(problem, config).stored ? config.numStages : config.numStages - 1;
  leastStep = config.wgmma ? (slotLatency + slotBytes / slotRate) / std::max(1u, ahead) : 0;
  // One group alone releases its slots a step late.
  late = groups == 1 && tilesAtATime == 1 ? c.late / c.clockGHz : 0;
  // Set by hand: 4096, where c is not written by TMA, takes 1.03 times as long.
  double rate = c.epilogueRate * groups / (config.wgmma && problem.plainStores ? 4 : 1);
  epilogue = c.epilogue + double(config.blockM) * config.blockN * outputBytes / rate / c.clockGHz;
  // The first products wait for a whole K step; later loads run ahead.
  auto isNarrow = [&](bool kMajor, unsigned size) {
    return config.wgmma && !kMajor && size * problem.elementBytes() < 2 * lineBytes;
  };
  narrowA = isNarrow(aKMajor, config.blockM) ? narrowFactor - 1 : 0;
  narrowB = isNarrow(bKMajor, config.blockN) ? narrowFactor - 1 : 0;
  fixed = c.launch + (config.blockM + config.blockN) * stepBytes / c.smIngest / c.clockGHz;
}

GemmFormula GemmFormula::of(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                            unsigned ctasPerTile) {
  unsigned numSms = problem.numSms ? problem.numSms : target.numSms;
  if (config.wgmma)
    return {problem,
            config,
            residentCtas(ctasPerTile, numSms),
            wgmmaConstants(),
            /*warpGroups=*/true,
            /*tilesAtATime=*/1,
            ctasPerTile};
  const bool warpGroups = multipliesByWarpGroups(target, problem, config);
  return {problem,    config,
          numSms,     threadConstants(warpGroups, problem.asyncCopies),
          warpGroups, residentTiles(target, problem, config, ctasPerTile),
          ctasPerTile};
}

GemmFormula::Work GemmFormula::workFor(const GemmSize &size) const {
  Work work;
  work.size = size;
  work.tiles = blockM.ceilDiv(size.m) * blockN.ceilDiv(size.n);
  work.steps = blockK.ceilDiv(size.k);
  if (ctasPerTile > 1) {
    work.tiles *= ctasPerTile; // parts of tiles
    work.steps = (work.steps + ctasPerTile - 1) / ctasPerTile;
  }
  const int64_t wholeRounds = multiprocessors.divide(work.tiles), rest = work.tiles - wholeRounds * numSms;
  work.rounds = wholeRounds + (rest > 0);
  work.isSplit = false;
  work.waves = double(work.rounds);
  work.mostSteps = work.waves * double(work.steps);
  if (tail && rest > 0 && (wholeRounds > 0 || splitOnlyRound))
    if (std::optional<TailShare> share = tail->share(wholeRounds, rest, work.steps, numSms)) {
      work.isSplit = true;
      work.waves = double(wholeRounds) + double(share->ownSteps) / double(work.steps);
      work.mostSteps = double(wholeRounds * work.steps + share->ownSteps + share->lostSteps);
    }
  double inputs = double(size.m + size.n) * double(size.k) * elementBytes;
  if (inputs > l2Bytes) // rows that are short in each block are read from HBM in short pieces
    inputs += (double(size.m) * narrowA + double(size.n) * narrowB) * double(size.k) * elementBytes;
  const double outputs = double(size.m) * double(size.n) * outputBytes;
  work.memory = inputs * memory + outputs * writes + double(std::max<int64_t>(work.rounds - 1, 0)) * pause;
  return work;
}

/// Lines of L2 that a box reads for each that it is long, where rows have so many elements and follow one another: two
/// where they begin inside of one.
double GemmFormula::linesOf(bool kMajor, int64_t rowElements) const {
  if (!config.wgmma)
    return kMajor ? shortRows : 1;
  return rowElements % elementsOfLine != 0 ? straddlingLines : 1;
}

Overlap GemmFormula::atomClocks(const Work &work) const {
  const double active = double(work.isSplit ? numSms : std::min(work.tiles, numSms));
  const double usedM = double(std::min<int64_t>(config.blockM, work.size.m)),
               usedN = double(std::min<int64_t>(config.blockN, work.size.n));
  const double lines = usedM * linesOf(aKMajor, aKMajor ? work.size.k : work.size.m) +
                       usedN * linesOf(bKMajor, bKMajor ? work.size.k : work.size.n) +
                       (config.wgmma ? (config.blockM - usedM + config.blockN - usedN) * missingLines : 0);
  Overlap atom = unchanging;
  atom.add(std::max((usedM + usedN) * ingest, lines * l2 * active), GemmLimit::L2Cache);
  atom.add(usedM * usedN * energy * active, GemmLimit::Power);
  return atom;
}

double GemmFormula::computeTime(const Work &work, double atomClocks) const {
  const double products = atomClocks * busy;
  double compute = work.mostSteps * std::max(products + gap, leastStep) + double(work.rounds) * epilogue;
  // That delays copies once the ring is full, unless memory does.
  if (late > 0)
    compute += std::max(0.0, work.mostSteps - config.numStages) * late * std::max(0.0, 1 - work.memory / compute);
  // Each waits for the units; for gaps and epilogues only if there is nothing else to do.
  if (const double together = std::min(tilesAtATime, double(work.rounds)); together > 1)
    compute = std::max(work.mostSteps * products * crowded + double(work.steps) * gap + epilogue, compute / together);
  return compute * spills;
}

double GemmFormula::nanoseconds(const Work &work) const {
  Overlap total;
  total.add(computeTime(work, atomClocks(work).time()), GemmLimit::Fixed);
  total.add(work.memory, GemmLimit::GlobalMemory);
  return fixed + total.time();
}

GemmEstimate GemmFormula::estimate(const GemmSize &size) const {
  const Work work = workFor(size);
  const Overlap atom = atomClocks(work);
  const double step = atom.time() * busy, compute = computeTime(work, atom.time()),
               nanoseconds = this->nanoseconds(work);
  GemmLimit limit = work.memory > compute                          ? GemmLimit::GlobalMemory
                    : epilogue > double(work.steps) * (step + gap) ? GemmLimit::Fixed
                    : gap > step                                   ? GemmLimit::KSteps
                                                                   : atom.limit();
  if (fixed > nanoseconds - fixed)
    limit = GemmLimit::Fixed;
  return {config, nanoseconds / 1000, limit, work.tiles, work.waves};
}

} // namespace tile::target
