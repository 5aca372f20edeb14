// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts between the front end's description of a GEMM and the cost model's, and prints the table of
// --explain-config.
#include "Driver/ChooseConfig.h"

#include "Target/Card/CardTarget.h"
#include "Target/Engines/BufferEngines.h"
#include "Target/PingPong.h"
#include "Target/StepSplit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;
using tile::frontend::Scalar;
using tile::target::MmaType;

namespace tile::driver {
namespace {

/// Returns the tensor-core type; types without MMA support have the cost of tf32.
MmaType mmaTypeOf(frontend::DType element) {
  switch (element.scalar) {
  case Scalar::Float16:
    return MmaType::F16;
  case Scalar::BFloat16:
    return MmaType::BF16;
  case Scalar::Float8E4M3:
    return MmaType::F8E4M3;
  case Scalar::Float8E5M2:
    return MmaType::F8E5M2;
  case Scalar::Int8:
    return MmaType::S8;
  case Scalar::UInt8:
    return MmaType::U8;
  case Scalar::Float64:
    return MmaType::F64;
  default:
    return MmaType::TF32;
  }
}

/// Returns true if tensor cores support the type directly or, for f32, as tf32.
bool isMultiplied(frontend::DType element) {
  return mmaTypeOf(element) != MmaType::TF32 || element.is(Scalar::Float32);
}

/// Returns true if the pipeline creates tensor maps for pointer operands, which wgmma needs, and does not need shared
/// memory for layout conversions of large tiles in addition to the pipeline stages.
bool preparesWgmma(const PipelineAbilities &can) {
  return can.mapsOfPointers && can.fewConversions;
}

std::string whyNoTma(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                     const target::GemmEstimate &best) {
  if (best.config.wgmma || !target::hasBufferEngine(gpu))
    return "";
  if (!gemm.alignedRows)
    return "no TMA: operand rows are not known to be aligned to 16 bytes; pass --assume if they are\n";
  if (!preparesWgmma(abilitiesOf(options.pipeline, gpu)))
    return "no TMA: optimisations that it needs are disabled\n";
  return "no TMA: unsupported types, operand layouts or fixed parameters\n";
}

std::string describe(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                     const KernelFacts &facts, llvm::ArrayRef<target::GemmEstimate> ranked) {
  constexpr size_t shown = 6;
  std::string text = formatv("{0}: {1} x {2} x {3}, {4} to {5}, {6}\n", gemm.kernel, gemm.m, gemm.n, gemm.k,
                             frontend::shortName(gemm.element), frontend::shortName(gemm.output), gpu.name);
  if (gpu.card || !target::isMeasured(gpu))
    text += target::describeConstants(gpu) + "\n";
  text += whyNoTma(options, gpu, gemm, ranked.front());
  text += "  BLOCK_M BLOCK_N BLOCK_K GROUP_M warps stages instruction    tiles waves  time us  limited by\n";
  target::GemmProblem problem = problemOf(options, gpu, gemm, facts);
  for (auto [index, estimate] : llvm::enumerate(ranked.take_front(shown))) {
    const target::GemmConfig &config = estimate.config;
    text += formatv("{0} {1,7} {2,7} {3,7} {4,7} {5,5} {6,6} {7,-11} {8,8} {9,5:F1} {10,8:F1}  {11}\n",
                    index == 0 ? '*' : ' ', config.blockM, config.blockN, config.blockK, config.groupM, config.numWarps,
                    config.numStages, target::instructionName(gpu, problem, config), estimate.tiles, estimate.waves,
                    estimate.microseconds, target::limitName(estimate.limit));
  }
  if (ranked.size() > shown)
    text += formatv("  and {0} more\n", ranked.size() - shown);
  return text;
}

/// Chooses a cluster whose CTAs split K, for a GEMM with only a few tiles and many K steps. Used only if --size gives
/// the sizes, because at most sizes a split kernel is slower than an unsplit one.
std::optional<frontend::ClusterShape> chooseCluster(const CompilerOptions &options, const target::GpuTarget &gpu,
                                                    const target::GemmProblem &problem,
                                                    const target::GemmEstimate &best) {
  if (options.sizes.empty() || !abilitiesOf(options.pipeline, gpu).sharedSteps)
    return std::nullopt;
  unsigned ctas = target::chooseStepSplit(gpu, problem, best);
  return ctas == 1 ? std::nullopt : std::optional(frontend::ClusterShape{1, 1, int(ctas)});
}

/// Returns a ping-pong configuration if it is requested or expected to be faster than the cooperative one.
std::optional<target::GemmEstimate> choosePingPong(const CompilerOptions &options, const target::GpuTarget &gpu,
                                                   const target::GemmProblem &problem,
                                                   const target::GemmChoices &choices,
                                                   const frontend::TileChoices &given,
                                                   const target::GemmEstimate &best) {
  using frontend::Schedule;
  bool isShared = given.cluster && *given.cluster != frontend::ClusterShape{1, 1, 1};
  if (given.schedule == Schedule::Cooperative || isShared || !abilitiesOf(options.pipeline, gpu).pingPong)
    return std::nullopt;
  std::optional<target::GemmEstimate> found = target::findPingPong(gpu, problem, choices);
  bool isWanted = given.schedule == Schedule::PingPong;
  return found && (isWanted || target::prefersPingPong(gpu, problem, best, *found)) ? found : std::nullopt;
}

/// Returns advice to align rows if that would enable wgmma and at least halve the expected time; otherwise "".
std::string advise(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                   target::GemmProblem problem, const target::GemmChoices &choices, const target::GemmEstimate &best) {
  if (gemm.alignedRows || !preparesWgmma(abilitiesOf(options.pipeline, gpu)))
    return "";
  problem.tensorMaps = true;
  target::GemmEstimate promised = target::rankGemmConfigs(gpu, problem, choices).front();
  if (!promised.config.wgmma || promised.microseconds * 2 > best.microseconds)
    return "";
  return formatv(
      "operand rows of '{0}' are not known to be aligned to 16 bytes: {1} x {2} x {3} is expected to take {4:F0} us, "
      "but {5:F0} us with TMA and {6}; pass --assume if they are (-Wmissing-divisibility lists the parameters)",
      gemm.kernel, gemm.m, gemm.n, gemm.k, best.microseconds, promised.microseconds, target::nameOfBufferEngine(gpu));
}

} // namespace

target::GemmProblem problemOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                              const frontend::OpenGemm &gemm, const KernelFacts &facts) {
  constexpr int64_t largest = 1u << 31; // sizes are mostly 32-bit integers; larger ones do not change the choice
  auto size = [&](int64_t value) { return std::clamp<int64_t>(value, 0, largest); };
  PipelineAbilities can = abilitiesOf(options.pipeline, gpu);
  bool tensorMaps = gemm.alignedRows && preparesWgmma(can) && !facts.multipliesExactly && isMultiplied(gemm.element);
  bool onlyPowersOfTwo = facts.refusesOddColumns || facts.multipliesExactly || facts.hasFurtherAccumulators;
  bool hasTma = tensorMaps && gpu.has(target::Feature::Tma);
  constexpr unsigned minAsync = 4; // bytes; PTX ISA, "cp.async"
  return {
      .m = size(gemm.m),
      .n = size(gemm.n),
      .k = size(gemm.k),
      .element = mmaTypeOf(gemm.element),
      .outputBytes = std::max(1u, gemm.output.bits() / 8),
      .numSms = options.numSms,
      .tensorMaps = tensorMaps,
      .copyBytes = hasTma ? 16 : gemm.copyBytes,
      .asyncCopies = hasTma || (gemm.copyBytes >= minAsync && gpu.has(target::Feature::AsyncCopy) && can.asyncCopies),
      .aKMajor = gemm.aKMajor,
      .bKMajor = gemm.bKMajor,
      .anyBlockSize = !onlyPowersOfTwo && preparesWgmma(can),
      .splitTail = can.sharedTail,
      .canSwap = can.swappedDots,
      .anyRows = !onlyPowersOfTwo && !facts.refusesOddRows,
      .roomForAccumulators = facts.hasFurtherAccumulators,
      .warpGroups = !facts.multipliesExactly,
  };
}

target::GemmChoices givenChoices(const frontend::TileChoices &tiles) {
  auto given = [](std::optional<int64_t> value) {
    constexpr int64_t largestBlock = 1 << 20; // the front end rejects values that are not block sizes
    bool isSize = value && *value > 0 && *value <= largestBlock;
    return isSize ? std::optional(unsigned(*value)) : std::nullopt;
  };
  return {
      .blockM = given(tiles.blockM),
      .blockN = given(tiles.blockN),
      .blockK = given(tiles.blockK),
      .groupM = given(tiles.groupM),
      .numWarps = given(tiles.numWarps),
      .numStages = given(tiles.numStages),
  };
}

ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                          const KernelFacts &facts, std::string *explain) {
  target::GemmProblem problem = problemOf(options, gpu, gemm, facts);
  target::GemmChoices choices = givenChoices(gemm.given);
  std::vector<target::GemmEstimate> ranked = target::rankGemmConfigs(gpu, problem, choices);
  std::optional<target::GemmEstimate> pingPong =
      choosePingPong(options, gpu, problem, choices, gemm.given, ranked.front());
  if (pingPong)
    ranked.insert(ranked.begin(), *pingPong);
  if (explain)
    *explain = describe(options, gpu, gemm, facts, ranked);
  if (explain && pingPong)
    *explain += "ping-pong schedule: two warp groups alternate between tiles\n";
  const target::GemmConfig &best = ranked.front().config;
  // An integral number of waves leaves no tail to split.
  bool splitsTail = ranked.front().waves != std::floor(ranked.front().waves);
  ConfigChoice choice{
      .tiles = {best.blockM, best.blockN, best.blockK, best.groupM, best.numWarps, best.numStages},
      .splitsTail = splitsTail,
      .isOneWave = ranked.front().tiles <= int64_t(options.numSms ? options.numSms : gpu.numSms),
      .advice = advise(options, gpu, gemm, problem, choices, ranked.front()),
  };
  if (pingPong)
    choice.tiles.schedule = frontend::Schedule::PingPong;
  else
    choice.tiles.cluster = chooseCluster(options, gpu, problem, ranked.front());
  choice.isOneWave &= !choice.tiles.cluster && !gemm.given.cluster;
  if (explain && choice.tiles.cluster && !gemm.given.cluster)
    *explain += formatv("the {0} CTAs of a cluster split the K steps of each tile\n", (*choice.tiles.cluster)[2]);
  return choice;
}

} // namespace tile::driver
