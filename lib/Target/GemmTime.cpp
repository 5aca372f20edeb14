// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the formula of GemmTime.h and CostModel.md.
#include "Target/GemmTime.h"

#include "Target/Engines/Wgmma.h"
#include "Target/Rates.h"
#include "Target/StepSplit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::target {

const GemmConstants &threadConstants(const Tuned &tuned, bool warpGroups, bool asyncCopies) {
  if (warpGroups)
    return asyncCopies ? tuned.storedWgmmaByCopies : tuned.storedWgmmaByRegisters;
  return asyncCopies ? tuned.mmaSyncByCopies : tuned.mmaSyncByRegisters;
}

namespace {

constexpr unsigned lineBytes = 128;        // bytes of a line of L2
constexpr int64_t atomBytes = wgmmaBytesK; // bytes along K that one instruction reads, including mma.sync

/// Returns the cycles for `atomBytes` along K of one tile, for the resources whose cycles are the same for all sizes.
Overlap unchangingClocks(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                         const GemmConstants &c, bool warpGroups) {
  const Tuned &tuned = tunedOf(target);
  double m = config.blockM, n = config.blockN;
  Overlap clocks;
  if (!config.wgmma) {
    // Without known alignment, threads copy one element at a time: a load, and a store to shared memory.
    double bytes = std::max(problem.copyBytes, problem.elementBytes());
    clocks.add((m + n) * atomBytes / bytes / threadsPerWarp * c.copy, GemmLimit::Copies);
  }
  if (warpGroups) {
    // Each instruction reads 64 rows and all of its columns. Warp groups that split the columns read the same rows.
    double rows = double(wgmmaTile(config).rows) / wgmmaRows, columns = wgmmaTile(config).columns;
    double groups = double(config.numWarps) / warpsPerGroup, groupsN = groups / std::min(groups, rows);
    // Multiply-adds of 16-bit types in an atom, for each column.
    constexpr double multiplyAdds16 = atomBytes / 2 * wgmmaRows;
    clocks.add(rows * columns * multiplyAdds16 / ratesOf(target).multiplyAdds16, GemmLimit::TensorCores);
    double read = rows * (wgmmaRows * groupsN + columns) * atomBytes, written = (m + n) * atomBytes;
    if (target.has(Feature::Tcgen05)) // one instruction multiplies up to 128 rows, for all warp groups
      read = (rows * wgmmaRows + std::ceil(rows / 2) * columns) * atomBytes;
    TransposedLines transposed = transposedLines(problem, config);
    // Threads, not the instructions, read the left operand. They read it once, using only half of the banks at a time.
    if (transposed.read)
      read = (m * n / wgmmaRows + tuned.bankConflicts * transposed.read) * atomBytes;
    read += transposed.stored * atomBytes;
    written += transposed.stored * atomBytes;
    clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
    return clocks;
  }
  // Warps are distributed over rows and columns as evenly as powers of two allow.
  double columns = 1;
  while (columns < config.numWarps && columns * columns * 4 <= config.numWarps * n / m)
    columns *= 2;
  double rows = config.numWarps / columns;
  clocks.add(m * n * (atomBytes / 2.0) / ratesOf(target).ofMmaSync16, GemmLimit::TensorCores);
  double read = (m * columns + n * rows) * atomBytes, written = (m + n) * atomBytes;
  clocks.add((read + written) / c.smPort, GemmLimit::SharedMemory);
  return clocks;
}

/// Returns the cycles that the power limit imposes on an atom, per element of a tile of c and per busy multiprocessor.
/// Energy is proportional to the number of bits that are multiplied, so it is the same for atoms of all types. The
/// clock falls so that all busy multiprocessors together stay within the power limit.
double energyOf(const GemmConfig &config, const Tuned &tuned, const GemmConstants &c) {
  constexpr double elements16 = atomBytes / 2.0;
  bool isOdd = !std::has_single_bit(config.blockM) || !std::has_single_bit(config.blockN);
  return elements16 * 2 * (isOdd ? tuned.oddEnergy : 1) / c.power * c.clockGHz;
}

/// Returns the factor by which a K step takes longer if rows of c's blocks, or of blocks of a row-major b, begin inside
/// an L2 line. Each panel then takes two requests.
double straddleFactor(const GemmProblem &problem, const GemmConfig &config, const Tuned &tuned) {
  auto straddles = [&](unsigned elementBytes) { return config.blockN * elementBytes % lineBytes != 0; };
  if (config.wgmma && !problem.bKMajor && straddles(problem.elementBytes()))
    return tuned.straddlingB;
  return config.wgmma && straddles(problem.outputBytes) ? tuned.straddlingC : 1;
}

/// Returns the factor by which spills slow down a kernel whose operands pass through registers.
double spillFactor(const GemmProblem &problem, const GemmConfig &config, const Tuned &tuned) {
  unsigned needed = registersOfStep(problem, config);
  bool spills = !problem.asyncCopies && needed > tuned.stepRegisters;
  return spills ? tuned.spillFactor + (needed - tuned.stepRegisters) / tuned.spilledRegisters : 1;
}

/// Returns the number of CTAs per multiprocessor, as limited by registers and shared memory, of a kernel whose operands
/// threads load. If a cluster splits K, shared memory also holds the accumulators of the other CTAs: with 64x64 tiles,
/// 5029x35x11587 takes 214 us in eight parts but 91 us in four.
unsigned residentTiles(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                       unsigned ctasPerTile) {
  const Tuned &tuned = tunedOf(target);
  double registers = std::min<double>(
      maxRegistersPerThread, tuned.addressRegisters + tuned.registersOfStepRegister * registersOfStep(problem, config));
  const unsigned byRegisters = unsigned(registersPerSm / registers / (config.numWarps * threadsPerWarp));
  const int64_t shared =
      sharedBytes(problem, config) + int64_t(ctasPerTile - 1) * config.blockM * config.blockN * sizeof(float);
  return std::max(1u, std::min(byRegisters, unsigned(target.maxSharedPerCta / std::max<int64_t>(shared, 1))));
}

/// Returns how cta-share-steps splits the last wave; nullopt if the kernel does not support that.
std::optional<TailSplit> tailOf(const GemmProblem &problem, const GemmConfig &config) {
  int64_t elements = int64_t(config.blockM) * config.blockN,
          stepBytes = int64_t(config.blockK) * problem.elementBytes();
  bool isSplit =
      config.wgmma && problem.splitTail && TailSplit::stepClocks(elements, stepBytes) >= TailSplit::minStepClocks;
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

bool fitsRegisters(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  const Tuned &tuned = tunedOf(target);
  return registersOfStep(problem, config) <= (problem.asyncCopies ? tuned.stepRegistersByCopies : tuned.stepRegisters);
}

GemmFormula::GemmFormula(const GemmProblem &problem, const GemmConfig &config, unsigned numSms, const GpuTarget &target,
                         const GemmConstants &c, bool warpGroups, unsigned tilesAtATime, unsigned ctasPerTile)
    : config(config), numSms(std::max(1u, numSms)), ctasPerTile(ctasPerTile), tilesAtATime(tilesAtATime),
      crowded(c.crowded), shortRows(c.shortRows), splitOnlyRound(problem.splitOnlyRound), aKMajor(problem.aKMajor),
      bKMajor(problem.bKMajor), blockM(config.blockM), blockN(config.blockN), blockK(config.blockK),
      multiprocessors(std::max(1u, numSms)), tail(tailOf(problem, config)), elementBytes(problem.elementBytes()),
      outputBytes(problem.outputBytes), elementsOfLine(std::max(1u, lineBytes / problem.elementBytes())),
      unchanging(unchangingClocks(target, problem, config, c, warpGroups)),
      energy(energyOf(config, tunedOf(target), c)), ingest(atomBytes / c.smIngest), l2(atomBytes / c.l2),
      memory(1 / c.memory), writes(1 / c.writes), pause(c.pause), straddlingLines(tunedOf(target).straddlingLines),
      missingLines(tunedOf(target).missingLines), l2Bytes(tunedOf(target).l2Bytes),
      spills(config.wgmma ? 1 : spillFactor(problem, config, tunedOf(target))) {
  const Tuned &tuned = tunedOf(target);
  double groups = std::max(1u, config.numWarps / warpsPerGroup), stepBytes = config.blockK * elementBytes;
  busy = stepBytes / atomBytes * straddleFactor(problem, config, tuned) / c.clockGHz;
  gap = c.step / c.clockGHz;
  // While one slot is read, the others are being filled.
  double slotBytes = (config.blockM + config.blockN) * stepBytes;
  // A transposed operand leaves its slot immediately, because it is then read from another buffer.
  const unsigned ahead = transposedLines(problem, config).stored ? config.numStages : config.numStages - 1;
  minStep = config.wgmma ? (tuned.slotLatency + slotBytes / tuned.slotRate) / std::max(1u, ahead) : 0;
  // If there is only one warp group, it releases its slots one K step late.
  late = groups == 1 && tilesAtATime == 1 ? c.late / c.clockGHz : 0;
  double rate = c.epilogueRate * groups * (config.wgmma && problem.plainStores ? tuned.plainStoreShare : 1);
  epilogue = c.epilogue + double(config.blockM) * config.blockN * outputBytes / rate / c.clockGHz;
  // The first MMAs wait for a whole K step; later loads run ahead.
  auto isNarrow = [&](bool kMajor, unsigned size) {
    return config.wgmma && !kMajor && size * problem.elementBytes() < 2 * lineBytes;
  };
  narrowA = isNarrow(aKMajor, config.blockM) ? tuned.narrowFactor - 1 : 0;
  narrowB = isNarrow(bKMajor, config.blockN) ? tuned.narrowFactor - 1 : 0;
  fixed = c.launch + (config.blockM + config.blockN) * stepBytes / c.smIngest / c.clockGHz;
}

GemmFormula GemmFormula::of(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config,
                            unsigned ctasPerTile) {
  unsigned numSms = problem.numSms ? problem.numSms : target.numSms;
  const Tuned &tuned = tunedOf(target);
  if (config.wgmma)
    return {problem,
            config,
            residentCtas(ctasPerTile, numSms),
            target,
            tuned.wgmma,
            /*warpGroups=*/true,
            /*tilesAtATime=*/1,
            ctasPerTile};
  const bool warpGroups = multipliesByWarpGroups(target, problem, config);
  return {problem,
          config,
          numSms,
          target,
          threadConstants(tuned, warpGroups, problem.asyncCopies),
          warpGroups,
          residentTiles(target, problem, config, ctasPerTile),
          ctasPerTile};
}

GemmFormula::Work GemmFormula::workFor(const GemmSize &size) const {
  Work work;
  work.size = size;
  work.tiles = blockM.ceilDiv(size.m) * blockN.ceilDiv(size.n);
  work.steps = blockK.ceilDiv(size.k);
  if (ctasPerTile > 1) {
    work.tiles *= ctasPerTile; // whole tiles and parts of tiles
    work.steps = (work.steps + ctasPerTile - 1) / ctasPerTile;
  }
  const int64_t wholeRounds = multiprocessors.divide(work.tiles), tailTiles = work.tiles - wholeRounds * numSms;
  work.rounds = wholeRounds + (tailTiles > 0);
  work.isSplit = false;
  work.waves = double(work.rounds);
  work.maxSteps = work.waves * double(work.steps);
  if (tail && tailTiles > 0 && (wholeRounds > 0 || splitOnlyRound))
    if (std::optional<TailShare> share = tail->share(wholeRounds, tailTiles, work.steps, numSms)) {
      work.isSplit = true;
      work.waves = double(wholeRounds) + double(share->ownSteps) / double(work.steps);
      work.maxSteps = double(wholeRounds * work.steps + share->ownSteps + share->lostSteps);
    }
  double inputs = double(size.m + size.n) * double(size.k) * elementBytes;
  if (inputs > l2Bytes) // rows that are short within each block are read from HBM in small chunks
    inputs += (double(size.m) * narrowA + double(size.n) * narrowB) * double(size.k) * elementBytes;
  const double outputs = double(size.m) * double(size.n) * outputBytes;
  work.memory = inputs * memory + outputs * writes + double(std::max<int64_t>(work.rounds - 1, 0)) * pause;
  return work;
}

/// Returns how many L2 lines TMA reads per line of data, if rows of `rowElements` elements are consecutive in memory:
/// nearly two if rows begin inside lines.
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
  const double mmas = atomClocks * busy;
  double compute = work.maxSteps * std::max(mmas + gap, minStep) + double(work.rounds) * epilogue;
  // The late release delays copies once the ring is full, unless memory is the bottleneck.
  if (late > 0)
    compute += std::max(0.0, work.maxSteps - config.numStages) * late * std::max(0.0, 1 - work.memory / compute);
  // Tiles that are computed at the same time share the units; gaps and epilogues count only if nothing else can run
  // meanwhile.
  if (const double together = std::min(tilesAtATime, double(work.rounds)); together > 1)
    compute = std::max(work.maxSteps * mmas * crowded + double(work.steps) * gap + epilogue, compute / together);
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
