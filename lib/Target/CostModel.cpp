// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerates candidates, checks whether they can be built, and sorts them. GemmTime.cpp predicts their times.
#include "Target/CostModel.h"

#include "Target/Engines/BufferEngines.h"
#include "Target/Engines/MmaSync.h"
#include "Target/GemmTime.h"
#include "Target/Limits.h"
#include "Target/Plan/OperandOrders.h"
#include "Target/Plan/RingSlots.h"
#include "Target/Plan/StorePanels.h"
#include "Target/SharedMemory.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tile::target {
namespace {

using Sizes = std::vector<unsigned>;

constexpr unsigned swizzleSpan = widestSwizzle;
constexpr unsigned mmaStepBytes = 64; // bytes along K of a K step with mma.sync: two instructions

/// Block sizes that are not powers of two.
constexpr unsigned oddSizes[] = {96, 144, 160, 192, 224};

/// Returns true if TMA loads an operand that must then be transposed: wgmma reads only 16-bit types in any memory
/// layout.
bool hasTransposedOperands(const GemmProblem &problem) {
  return problem.tensorMaps && mmaTypeBits(problem.element) != 16 && !problem.kMajor();
}

/// Returns true if K is contiguous in wgmma's right operand.
bool columnsAreKMajor(const GemmProblem &problem, const GemmConfig &config) {
  if (hasTransposedOperands(problem))
    return true;
  return isSwapped(config) ? problem.aKMajor : problem.bKMajor;
}

/// Returns the minimum number of columns of a warp group. An instruction requires at least 8 columns, and a panel of a
/// right operand that is not contiguous along K is at least 32 bytes wide.
unsigned minColumns(const GemmProblem &problem) {
  return problem.kMajor() ? 8 : 16;
}

/// Returns the number of warp groups that compute different columns of the same rows.
unsigned groupsAlongN(const GemmConfig &config) {
  unsigned groups = config.numWarps / warpsPerGroup;
  return groups / std::max(1u, std::min(groups, wgmmaTile(config).rows / wgmmaRows));
}

MmaType accumulatorOf(MmaType element) {
  return element == MmaType::S8 || element == MmaType::U8 ? MmaType::S32 : MmaType::F32;
}

/// Returns an MMA with the problem's types and memory layouts, but without sizes.
WgmmaDot operandsOf(const GemmProblem &problem) {
  return {.a = problem.element,
          .b = problem.element,
          .accumulator = accumulatorOf(problem.element),
          .aKMajor = problem.aKMajor || hasTransposedOperands(problem),
          .bKMajor = problem.bKMajor || hasTransposedOperands(problem)};
}

/// Returns the MMA that the warp groups compute in one K step of the configuration.
WgmmaDot stepOf(const GemmProblem &problem, const GemmConfig &config) {
  WgmmaDot dot = operandsOf(problem);
  dot.m = config.blockM;
  dot.n = config.blockN;
  dot.k = config.blockK;
  dot.numWarps = config.numWarps;
  return isSwapped(config) ? dot.swapped() : dot;
}

std::string checkWgmma(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  if (!problem.tensorMaps)
    return "operands of " + std::string(nameOfBufferEngine(target)) + " must come through tensor maps";
  WgmmaDot dot = stepOf(problem, config);
  BufferEngineResult result = planBufferEngine(target, dot);
  if (!result.isPlanned)
    return result.reason;
  // The following configurations could be built, but they are not offered, or were never measured.
  if (config.numWarps != warpsPerGroup && config.numWarps != 2 * warpsPerGroup)
    return "a kernel has one or two warp groups that multiply";
  bool mayBeSwapped =
      problem.canSwap && !hasTransposedOperands(problem) && (isPowerOfTwo(config.blockM) || problem.anyRows);
  if (isSwapped(config) && !mayBeSwapped)
    return "the operands of this kernel's MMAs cannot be swapped";
  if (config.blockM > maxBoxExtent || config.blockN > maxBoxExtent)
    return "a TMA box has at most 256 elements along a dimension";
  if (!isPowerOfTwo(dot.n) && config.blockK * problem.elementBytes() > swizzleSpan)
    return "with columns that are not a power of two, K steps have at most 128 bytes";
  unsigned groupsN = result.groupsN;
  if (dot.n / groupsN < (groupsN > 1 ? swizzleSpan / problem.elementBytes() : minColumns(problem)))
    return "a warp group has too few columns";
  return "";
}

std::string checkMmaSync(const GemmProblem &problem, const GemmConfig &config) {
  return std::string(whyMmaSyncWastes({.a = problem.element,
                                       .b = problem.element,
                                       .accumulator = accumulatorOf(problem.element),
                                       .m = config.blockM,
                                       .n = config.blockN,
                                       .k = config.blockK,
                                       .numWarps = config.numWarps}));
}

/// Returns the number of rows of tiles that form a group, whose tiles run together. If all tiles run at the same time
/// and K is short, the main cost is that of computing a tile's position in its group: 512x512x512 takes 3.00 us with
/// groups of one row and 3.12 us with groups of 8, but 1024x1024x8192 takes 38.5 and 31.4 us. Groups of different sizes
/// are slower: with twelve rows of tiles (1536 rows), row-major operands take 12.7 us in groups of four, but 13.3 us in
/// a group of 8 and one of 4. One group of all rows is also slower: with eight rows of 128x64 tiles, 1024x1024x16384
/// takes 53.1 us in groups of four and 61.2 us in one group of 8. Otherwise, returns the number for which the tiles of
/// a wave read the fewest elements. For 132 tiles of 128x256 this is 12, in 11 columns; 8192x8192x8192 then takes 0.97
/// of the time with groups of 8.
unsigned chooseGroup(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  const Tuned &tuned = tunedOf(target);
  const unsigned defaultGroup = tuned.tileGroup;
  int64_t rows = (problem.m + config.blockM - 1) / config.blockM,
          columns = (problem.n + config.blockN - 1) / config.blockN,
          numSms = problem.numSms ? problem.numSms : target.numSms;
  if (!config.wgmma)
    return defaultGroup;
  if (rows * columns <= numSms && (rows == 1 || problem.k <= tuned.shortK))
    return 1;
  if (rows * columns <= numSms)
    return rows >= 2 * defaultGroup && rows % defaultGroup == 0 ? defaultGroup : tuned.smallTileGroup;
  // If the group does not divide the number of multiprocessors, a wave begins and ends in the middle of a group's
  // column.
  auto read = [&](int64_t group) {
    return group * config.blockM + (numSms / group + (numSms % group != 0 ? 2 : 0)) * config.blockN;
  };
  int64_t best = 1;
  for (int64_t group = 2; group <= std::min(rows, numSms); ++group)
    if (read(group) < read(best))
      best = group;
  return static_cast<unsigned>(best);
}

/// Returns the largest number of stages that fits into shared memory; nullopt if this number is too small to be useful.
std::optional<unsigned> chooseStages(const GpuTarget &target, const GemmProblem &problem, GemmConfig config) {
  const Tuned &tuned = tunedOf(target);
  config.numStages = config.wgmma ? maxStages : tuned.usefulStages;
  unsigned columns = wgmmaTile(config).columns;
  bool straddles = !columnsAreKMajor(problem, config) && columns * problem.elementBytes() % swizzleSpan != 0;
  if (config.wgmma && straddles && !isPowerOfTwo(columns))
    config.numStages = tuned.straddlingStages;
  while (config.numStages > 1 && sharedBytes(problem, config) > target.maxSharedPerCta)
    --config.numStages;
  bool isLarge = (config.blockM + config.blockN) * config.blockK * problem.elementBytes() >= tuned.largeStage;
  // A buffer for transposed operands has the same effect as another stage.
  unsigned least = transposedLines(problem, config).stored ? tuned.usefulStages - 1 : tuned.usefulStages;
  bool isUseful = config.numStages >= (isLarge ? least : least + 1);
  return isUseful || !config.wgmma ? std::optional(config.numStages) : std::nullopt;
}

/// Returns true if operands are transposed for wgmma (cta-async-copies): threads copy them, because their rows are not
/// known to be aligned as TMA requires, and transpose them so that k is contiguous.
bool areTransposed(const GpuTarget &target, const GemmProblem &problem) {
  constexpr unsigned wholeChunks = 16;
  WgmmaDot dot = operandsOf(problem);
  dot.aKMajor = dot.bKMajor = true;
  return problem.warpGroups && problem.asyncCopies && problem.copyBytes >= wholeChunks && !problem.kMajor() &&
         dot.elementBits() != 16 && whyNoBufferEngine(target, dot).empty();
}

/// Returns true if operands have unaligned rows, which threads realign for wgmma (`unaligned` loads).
bool areShifted(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  constexpr unsigned shortestCopy = 4, halfBytes = 2;
  return !config.wgmma && problem.copyBytes < shortestCopy && problem.elementBytes() <= halfBytes &&
         multipliesByWarpGroups(target, problem, config);
}

/// Returns true if the model tries configurations with this K step and, for unaligned rows, with this tile. K steps
/// have 64 bytes. For unaligned rows, only the sizes that were measured to be fast are tried: 128x128x32 takes 166 us
/// for 1000x4097x4096, while tiles of 64x128 and 128x64 take at least 213 us; 64x64x64 takes 18.4 us for 777x1003x555,
/// and 64x64x32 takes 25.5 us (bench/results/h200/rows.md).
bool suitsThreads(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  unsigned step = mmaStepBytes / problem.elementBytes(), span = swizzleSpan / problem.elementBytes();
  if (!areShifted(target, problem, config))
    return config.blockK == step;
  bool isLowest = config.blockM == wgmmaRows, isNarrowest = config.blockN == wgmmaRows;
  return isLowest == isNarrowest && config.blockK == (isLowest ? span : step);
}

/// Returns the number of warps for a tile of mma.sync: four, or eight if four have too few registers.
unsigned mmaSyncWarps(const GpuTarget &target, const GemmProblem &problem, unsigned blockM, unsigned blockN,
                      unsigned blockK) {
  GemmConfig config{blockM, blockN, blockK, 1, warpsPerGroup, 1, /*wgmma=*/false};
  return fitsRegisters(target, problem, config) ? warpsPerGroup : 2 * warpsPerGroup;
}

/// Returns the block heights to try. Heights below 64 come first; they are tried only if one block has all rows,
/// because otherwise b would be read more than once.
Sizes wgmmaBlocksM(const GemmProblem &problem) {
  for (unsigned few = minColumns(problem); few < wgmmaRows; few *= 2)
    if (problem.canSwap && !hasTransposedOperands(problem) && problem.m <= few)
      return {few, 64};
  Sizes sizes{64, 128, 256};
  if (problem.anyBlockSize && problem.canSwap && problem.anyRows && !hasTransposedOperands(problem))
    sizes.insert(sizes.end(), std::begin(oddSizes), std::end(oddSizes));
  return sizes;
}

std::vector<GemmConfig> listCandidates(const GpuTarget &target, const GemmProblem &problem, const GemmChoices &choices,
                                       bool wgmma) {
  auto sizes = [](std::optional<unsigned> choice, Sizes open) { return choice ? Sizes{*choice} : open; };
  // All warps wait for transposed operands, so K steps are as long, and blocks as large, as wgmma supports. fp8
  // 4096x4096x4096 takes 164 us (nn) and 226 us (tn) with 256x128x128, but 258 us and 361 us with K steps of 64 bytes.
  bool transposed = !wgmma && areTransposed(target, problem);
  unsigned span = swizzleSpan / problem.elementBytes(),
           step = transposed ? span : mmaStepBytes / problem.elementBytes();
  // It is faster if the larger operand is the one that is copied without transposition: tt takes 187 us with
  // 256x128x128, nn takes 164 us.
  auto threadSizes = [&](bool isLarger) {
    return !transposed ? Sizes{32, 64, 128} : isLarger ? Sizes{64, 128, 256} : Sizes{64, 128};
  };
  bool isWide = problem.bKMajor;
  Sizes blocksM = sizes(choices.blockM, wgmma ? wgmmaBlocksM(problem) : threadSizes(!isWide));
  Sizes columns{64, 128, 256};
  if (problem.anyBlockSize && !hasTransposedOperands(problem))
    columns.insert(columns.end(), std::begin(oddSizes), std::end(oddSizes));
  Sizes blocksN = sizes(choices.blockN, wgmma ? columns : threadSizes(isWide));
  std::vector<GemmConfig> candidates;
  for (unsigned blockM : blocksM) {
    bool few = wgmma && blockM < wgmmaRows && isPowerOfTwo(blockM);
    // If the MMAs of a K step are short, a step has two swizzle spans, which gains 1 % at 16x8192x8192.
    bool mayBeShifted = !wgmma && !problem.asyncCopies && problem.elementBytes() <= 2 && !choices.blockM &&
                        !choices.blockN && !choices.blockK;
    Sizes blocksK = sizes(choices.blockK, mayBeShifted ? Sizes{step, span}
                                                       : Sizes{few     ? 2 * span
                                                               : wgmma ? span
                                                                       : step});
    for (unsigned blockN : blocksN)
      for (unsigned blockK : blocksK)
        for (unsigned numWarps :
             sizes(choices.numWarps,
                   wgmma ? Sizes{8, 4} : Sizes{mmaSyncWarps(target, problem, blockM, blockN, blockK)})) {
          GemmConfig config{blockM, blockN, blockK, 1, numWarps, 1, wgmma};
          config.groupM = choices.groupM.value_or(chooseGroup(target, problem, config));
          // If warp groups split the columns, they read the same rows: 1024x1024x8192 took 34.8 us that way, but 32.0
          // us with 128x64.
          bool isSideBySide = wgmma && groupsAlongN(config) > 1;
          if (isSideBySide && !choices.numWarps)
            continue;
          if (mayBeShifted && !suitsThreads(target, problem, config))
            continue;
          std::optional<unsigned> stages =
              choices.numStages ? choices.numStages : chooseStages(target, problem, config);
          config.numStages = stages.value_or(0);
          if (stages && checkGemmConfig(target, problem, config).empty())
            candidates.push_back(config);
        }
    // Larger blocks would contain rows beyond the edge of a, which take longer than rows inside (44.7 us with blocks of
    // 16 rows, 52.6 us with 64).
    if (few && !candidates.empty())
      break;
  }
  return candidates;
}

} // namespace

TransposedLines transposedLines(const GemmProblem &problem, const GemmConfig &config) {
  if (!config.wgmma || !hasTransposedOperands(problem))
    return {};
  BlockOrders orders{mmaTypeBits(problem.element), problem.aKMajor, problem.bKMajor};
  bool swapped = swapSavesTransposition(orders);
  BlockSources sources = swapped ? sourcesSwapped(orders) : sourcesInOrder(orders);
  TransposedLines lines;
  for (auto [source, size] : {std::pair(sources.a, swapped ? config.blockN : config.blockM),
                              std::pair(sources.b, swapped ? config.blockM : config.blockN)}) {
    lines.read += source == OperandSource::Registers ? size : 0;
    lines.stored += source == OperandSource::Transposed ? size : 0;
  }
  return lines;
}

bool isSwapped(const GemmConfig &config) {
  return config.wgmma && gainsBySwap(config.blockM);
}

WgmmaTile wgmmaTile(const GemmConfig &config) {
  return isSwapped(config) ? WgmmaTile{config.blockN, config.blockM} : WgmmaTile{config.blockM, config.blockN};
}

std::string_view limitName(GemmLimit limit) {
  constexpr std::string_view names[] = {"tensor cores", "shared memory", "L2 cache", "global memory",
                                        "power",        "copies",        "K steps",  "fixed costs"};
  static_assert(std::size(names) == size_t(GemmLimit::Fixed) + 1);
  return names[size_t(limit)];
}

bool canUseWgmma(const GpuTarget &target, const GemmProblem &problem) {
  return problem.tensorMaps && whyNoBufferEngine(target, operandsOf(problem)).empty();
}

bool multipliesByWarpGroups(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  return config.wgmma || (problem.warpGroups && planBufferEngine(target, stepOf(problem, config)).isPlanned);
}

std::string_view instructionName(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  bool warpGroups = multipliesByWarpGroups(target, problem, config) || areTransposed(target, problem);
  return warpGroups ? nameOfBufferEngine(target) : "mma.sync";
}

int64_t sharedBytes(const GemmProblem &problem, const GemmConfig &config) {
  int64_t stage = int64_t(config.blockM + config.blockN) * config.blockK * problem.elementBytes();
  int64_t accumulators = problem.roomForAccumulators ? int64_t(config.blockM) * config.blockN * sizeof(float) : 0;
  if (!config.wgmma)
    return config.numStages * stage + accumulators;
  // If columns are not contiguous along K, the last panel takes as much memory as each other panel.
  unsigned panel = swizzleSpan / problem.elementBytes();
  auto [rows, columns] = wgmmaTile(config);
  if (!columnsAreKMajor(problem, config) && columns > panel)
    stage += int64_t((panel - columns % panel) % panel) * config.blockK * problem.elementBytes();
  int64_t transposed =
      int64_t(transposedBuffers) * transposedLines(problem, config).stored * config.blockK * problem.elementBytes();
  // The columns are those of c, or the rows of c if operands are swapped.
  int64_t staging =
      int64_t(rows) * planStorePanels(columns, swizzleSpan / problem.outputBytes).buffered() * problem.outputBytes;
  return ringBytes(stage, config.numStages) + transposed + staging + accumulators + sharedAlignment;
}

std::string checkGemmConfig(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  for (unsigned size : {config.blockK, config.numWarps})
    if (!isPowerOfTwo(size))
      return "the lengths of K steps and the number of warps must be powers of two";
  bool isOdd = !isPowerOfTwo(config.blockM) || !isPowerOfTwo(config.blockN);
  if (isOdd && !(config.wgmma && problem.anyBlockSize))
    return "only " + std::string(nameOfBufferEngine(target)) + " multiplies blocks that are not powers of two";
  if (config.numStages < 1 || config.numStages > maxStages || config.groupM < 1)
    return "a kernel has 1 to 16 stages and groups of at least one tile";
  if (config.numWarps * threadsPerWarp > maxThreadsPerCta)
    return "a CTA has at most 1024 threads";
  std::string reason = config.wgmma ? checkWgmma(target, problem, config) : checkMmaSync(problem, config);
  if (!reason.empty())
    return reason;
  unsigned maxAccumulators = tunedOf(target).tileRegisters / (problem.roomForAccumulators ? 2 : 1);
  if (int64_t(config.blockM) * config.blockN > int64_t(maxAccumulators) * threadsPerWarp * config.numWarps)
    return "the tile of c does not fit in registers";
  if (sharedBytes(problem, config) > target.maxSharedPerCta)
    return "the stages do not fit in shared memory";
  return "";
}

GemmEstimate estimateGemm(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  return GemmFormula::of(target, problem, config).estimate(problem.size());
}

std::vector<GemmConfig> gemmCandidates(const GpuTarget &target, const GemmProblem &problem,
                                       const GemmChoices &choices) {
  std::vector<GemmConfig> candidates;
  if (canUseWgmma(target, problem))
    candidates = listCandidates(target, problem, choices, /*wgmma=*/true);
  // The parameters that are fixed may require mma.sync.
  if (candidates.empty())
    candidates = listCandidates(target, problem, choices, /*wgmma=*/false);
  if (candidates.empty()) {
    GemmConfig config{choices.blockM.value_or(64),
                      choices.blockN.value_or(64),
                      choices.blockK.value_or(32),
                      choices.groupM.value_or(tunedOf(target).tileGroup),
                      choices.numWarps.value_or(warpsPerGroup),
                      choices.numStages.value_or(tunedOf(target).usefulStages),
                      /*wgmma=*/false};
    candidates.push_back(config);
  }
  return candidates;
}

std::vector<GemmEstimate> rankGemmConfigs(const GpuTarget &target, const GemmProblem &problem,
                                          const GemmChoices &choices) {
  std::vector<GemmEstimate> estimates;
  for (const GemmConfig &config : gemmCandidates(target, problem, choices))
    estimates.push_back(estimateGemm(target, problem, config));
  std::stable_sort(estimates.begin(), estimates.end(),
                   [](const GemmEstimate &a, const GemmEstimate &b) { return a.microseconds < b.microseconds; });
  return estimates;
}

} // namespace tile::target
