// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts between the front end's description of a GEMM, the cost model's set of kernels, and compilation options.
#include "Driver/PlanGemm.h"

#include "Target/GemmBudget.h"
#include "Target/Plan/RingSlots.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using llvm::formatv;

namespace tile::driver {
namespace {

using target::ScheduleRules;

/// Returns the number of CTAs in a cluster that split K, or 1 if the kernel does not specify it.
unsigned givenCtasPerTile(const frontend::OpenGemm &gemm) {
  return gemm.given.cluster ? unsigned((*gemm.given.cluster)[2]) : 1;
}

ScheduleRules rulesOf(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                      VariantMode mode) {
  using frontend::Schedule;
  ScheduleRules rules;
  bool hasCluster = gemm.given.cluster.has_value();
  PipelineAbilities can = abilitiesOf(options.pipeline, gpu);
  rules.persistent = can.severalPrograms;
  rules.splitSteps = can.sharedSteps && !hasCluster;
  bool canPingPong = can.pingPong && !(hasCluster && *gemm.given.cluster != frontend::ClusterShape{1, 1, 1});
  if (!canPingPong || gemm.given.schedule == Schedule::Cooperative)
    rules.pingPong = ScheduleRules::PingPong::Never;
  else if (gemm.given.schedule == Schedule::PingPong)
    rules.pingPong = ScheduleRules::PingPong::Always;
  // wgmma and mma.sync both accumulate 16 products of 16-bit operands per K step, first to last, for every tile, so the
  // summation order is the same. Everything that could change it is excluded: partial accumulators for parts of K
  // (split K, stream-K tails) and GEMMs with a and b exchanged.
  rules.sameOrder = mode == VariantMode::Invariant;
  return rules;
}

/// Returns the size, or 1 for an empty dimension, for which all choices are equally good.
int64_t atLeastOne(int64_t size) {
  return std::max<int64_t>(size, 1);
}

target::KnownSizes knownSizes(const frontend::OpenGemm &gemm) {
  target::KnownSizes known;
  if (gemm.knowsM)
    known.m = atLeastOne(gemm.m);
  if (gemm.knowsN)
    known.n = atLeastOne(gemm.n);
  if (gemm.knowsK)
    known.k = atLeastOne(gemm.k);
  return known;
}

/// Returns the cost specification: the problem without sizes, and the expressions that compute the sizes.
runtime::CostSpec costSpec(const frontend::OpenGemm &gemm, target::GemmProblem problem,
                           const target::GemmKernel &kernel) {
  problem.splitTail = kernel.splitTail;
  problem.m = problem.n = problem.k = 1;
  problem.numSms = 0;
  return {.m = gemm.mText,
          .n = gemm.nText,
          .k = gemm.kText,
          .problem = problem,
          .config = kernel.config,
          .schedule = kernel.schedule};
}

PlannedKernel planKernel(const frontend::OpenGemm &gemm, const target::GemmProblem &problem,
                         target::GemmKernel kernel) {
  const target::GemmConfig &config = kernel.config;
  PlannedKernel planned;
  planned.tiles = {.blockM = config.blockM,
                   .blockN = config.blockN,
                   .blockK = config.blockK,
                   .groupM = config.groupM,
                   .numWarps = config.numWarps,
                   .numStages = config.numStages};
  if (kernel.schedule.pingPong)
    planned.tiles.schedule = frontend::Schedule::PingPong;
  if (kernel.schedule.ctasPerTile > 1)
    planned.tiles.cluster = frontend::ClusterShape{1, 1, int(kernel.schedule.ctasPerTile)};
  if (unsigned ctas = givenCtasPerTile(gemm); ctas > 1)
    kernel.schedule = {.ctasPerTile = ctas};
  if (config.wgmma && !kernel.schedule.persistent)
    planned.limits.severalPrograms = false;
  else if (config.wgmma && !kernel.splitTail)
    planned.limits.sharedTail = false;
  planned.cost = costSpec(gemm, problem, kernel);
  return planned;
}

/// Returns the kernel that a single compilation would choose for the options' sizes.
target::KernelSet kernelForGivenSizes(const CompilerOptions &options, const target::GpuTarget &gpu,
                                      const frontend::OpenGemm &gemm, const target::GemmProblem &problem,
                                      const KernelFacts &facts) {
  ConfigChoice choice = chooseConfig(options, gpu, gemm, facts, /*explain=*/nullptr);
  const frontend::TileChoices &tiles = choice.tiles;
  target::GemmChoices chosen = givenChoices(tiles);
  target::GemmKernel kernel{target::gemmCandidates(gpu, problem, chosen).front(), {}, problem.splitTail};
  kernel.schedule.pingPong = tiles.schedule == frontend::Schedule::PingPong;
  kernel.schedule.ctasPerTile = tiles.cluster ? unsigned((*tiles.cluster)[2]) : 1;
  bool hasSizes = !options.sizes.empty();
  kernel.splitTail &= !hasSizes || choice.splitsTail;
  kernel.schedule.persistent = kernel.config.wgmma && !(hasSizes && choice.isOneWave);
  target::GemmSize size{problem.m, problem.n, problem.k};
  double time = target::estimateKernel(gpu, problem, kernel, size);
  return {{kernel}, {{size, 0, time, time}}};
}

} // namespace

OpenGemmPlan planOpenGemm(KernelInspector &inspector, const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenGemm &gemm, const PromiseClass &promises, VariantMode mode) {
  bool canBeOdd = target::canUseWgmma(gpu, problemOf(options, gpu, gemm, {}));
  KernelFacts facts = canBeOdd ? inspector.findFacts(options, gemm) : KernelFacts::onlyPowersOfTwo();
  // Without wide stores, rule out row counts that are not powers of two. Each thread holds whole columns of an
  // accumulator with such a row count, and without TMA stores a 144x128 accumulator spills 352 bytes.
  facts.refusesOddRows |= !promises.widensStores;
  target::GemmProblem problem = problemOf(options, gpu, gemm, facts);
  problem.plainStores = !promises.widensStores;
  OpenGemmPlan plan;
  if (mode == VariantMode::Alignment) {
    plan.set = kernelForGivenSizes(options, gpu, gemm, problem, facts);
  } else {
    target::SetLimits limits{.most = promises.maxKernels};
    if (mode == VariantMode::All)
      limits = {.most = SIZE_MAX, .tolerance = 0};
    constexpr unsigned alignedBytes = 16;
    bool isAligned = problem.tensorMaps || problem.copyBytes >= alignedBytes;
    plan.set = target::chooseKernels(gpu, problem, givenChoices(gemm.given), rulesOf(options, gpu, gemm, mode),
                                     target::sampleSizes(knownSizes(gemm), isAligned ? target::SampleKind::OfNetworks
                                                                                     : target::SampleKind::Anywhere),
                                     limits);
  }
  for (const target::GemmKernel &kernel : plan.set.kernels)
    plan.kernels.push_back(planKernel(gemm, problem, kernel));
  return plan;
}

std::optional<runtime::CostSpec> costOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                                        const frontend::OpenGemm &gemm, const PromiseClass &promises,
                                        const KernelFacts &facts) {
  target::GemmProblem problem = problemOf(options, gpu, gemm, facts);
  problem.plainStores = !promises.widensStores;
  target::GemmChoices given = givenChoices(gemm.given);
  if (!given.blockM || !given.blockN || !given.blockK)
    return std::nullopt;
  constexpr unsigned defaultWarps = 4;
  target::GemmConfig config{*given.blockM,
                            *given.blockN,
                            *given.blockK,
                            given.groupM.value_or(1),
                            given.numWarps.value_or(defaultWarps),
                            given.numStages.value_or(target::defaultStages),
                            target::canUseWgmma(gpu, problem)};
  // A pipeline with a producer warp uses as many slots as fit, up to the number that cta-specialize-warps requests.
  if (config.wgmma)
    config.numStages = target::plannedSlots(gpu, problem, config);
  if (!target::checkGemmConfig(gpu, problem, config).empty()) {
    config.wgmma = false;
    config.numStages = given.numStages.value_or(target::defaultStages);
    frontend::OpenGemm byThreads = gemm;
    byThreads.alignedRows = false;
    problem = problemOf(options, gpu, byThreads, facts);
    problem.plainStores = !promises.widensStores;
  }
  target::GemmKernel kernel{config, {.persistent = config.wgmma}, problem.splitTail && config.wgmma};
  kernel.schedule.pingPong = gemm.given.schedule == frontend::Schedule::PingPong && !gpu.has(target::Feature::Tcgen05);
  kernel.schedule.ctasPerTile = givenCtasPerTile(gemm);
  return costSpec(gemm, problem, kernel);
}

std::string nameOf(const target::GemmKernel &kernel) {
  const target::GemmConfig &config = kernel.config;
  std::string name = formatv("{0}x{1}x{2}", config.blockM, config.blockN, config.blockK);
  if (kernel.schedule.ctasPerTile > 1)
    name += formatv("-split{0}", kernel.schedule.ctasPerTile);
  else if (kernel.schedule.pingPong)
    name += "-pingpong";
  else if (kernel.splitTail)
    name += "-tail";
  else if (kernel.schedule.persistent)
    name += "-persistent";
  return name;
}

} // namespace tile::driver
