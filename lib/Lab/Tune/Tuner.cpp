// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the fastest variant by successive halving over interleaved rounds.
#include "Lab/Tune/Tuner.h"

#include "Lab/Bench/Bench.h"

#include <algorithm>
#include <limits>

namespace tile::runner {

using runtime::Choice;
using runtime::makeError;

namespace {

constexpr double graphMicroseconds = 50; // maximum duration of kernels that are measured in graphs
// After the quick look, candidates that are slower than the best by this factor are dropped.
constexpr double hopeless = 3;
constexpr double roundMilliseconds = 10; // short, since there are many rounds
constexpr int quickSamples = 5, firstRounds = 2;

} // namespace

/// A variant that is ready to launch.
struct Tuner::Candidate {
  size_t index = 0;
  double expected = -1; ///< microseconds; negative: unknown
  CudaDevice *device = nullptr;
  std::vector<uint64_t> values = {}; ///< values of its parameters
  std::vector<void *> pointers = {};
  double microseconds = 0;
  size_t rounds = 0; ///< rounds measured, not counting the quick look

  Status launch(runtime::CUstream stream) {
    const tile_launch_options launchOptions = {stream, nullptr, nullptr, 0, 0};
    const tile_status status = tile_launch(device->kernelHandle(), &launchOptions, pointers.data(), pointers.size());
    return status == TILE_OK ? Status(runtime::Success{}) : Status(lastRuntimeError(status));
  }
};

Result<Tuner> Tuner::create(const TunerOptions &options, Variants &variants, CudaContext &context) {
  Result<Stopwatch> watch = Stopwatch::create(context);
  if (!watch)
    return watch.error();
  return Tuner(options, variants, context, std::move(*watch));
}

/// Returns the integers that distinguish calls: those that affect the choice or, if no variant has a model, all
/// integers.
static std::vector<std::string> keyParameters(const runtime::Chooser &chooser, const Manifest &general) {
  std::vector<std::string> names = chooser.integersThatMatter();
  for (size_t i = 0; i < chooser.size(); ++i)
    if (chooser.manifest(i).cost || chooser.manifest(i).programs)
      return names;
  for (const runtime::Parameter &parameter : general.parameters)
    if (parameter.isInteger() && std::find(names.begin(), names.end(), parameter.name) == names.end())
      names.push_back(parameter.name);
  return names;
}

runtime::TuningTable Tuner::identity() const {
  const Manifest &general = variants->artifact().manifest;
  return {general.kernel,
          general.sourceHash,
          variants->artifact().pack->hash(),
          context->info().name,
          context->info().driverVersion,
          keyParameters(variants->chooser(), general),
          {},
          runtime::namesOfVariants(*variants->artifact().pack)};
}

Result<std::vector<Tuner::Candidate>> Tuner::findCandidates(const RunOptions &call, const CallValues &values,
                                                            size_t &serving) {
  const runtime::Chooser &chooser = variants->chooser();
  const runtime::DeviceVariants &device = variants->onDevice();
  std::vector<Candidate> candidates;
  uint32_t bestRank = 0;
  for (size_t i = 0; i < chooser.size(); ++i)
    if (chooser.explain(i, values.call(), device)) {
      candidates.push_back({i, chooser.estimate(i, values.call(), device)});
      bestRank = std::max(bestRank, device.rank[i]);
    }
  if (candidates.empty())
    return chooser.explainAll(values.call(), device, 4000);
  // A launch considers only the most specific target.
  std::erase_if(candidates, [&](const Candidate &candidate) { return device.rank[candidate.index] < bestRank; });
  serving = candidates.size();
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : candidates)
    if (candidate.expected >= 0)
      best = std::min(best, candidate.expected);
  if (!options.all)
    std::erase_if(candidates, [&](const Candidate &candidate) {
      // Only the GEMM model excludes variants: the model for other kernels predicts the order of variants well, but not
      // their times.
      return chooser.manifest(candidate.index).cost && candidate.expected > options.bound * best;
    });
  for (Candidate &candidate : candidates) {
    Result<Device *> loaded = variants->load(candidate.index);
    if (!loaded)
      return runtime::withContext("variant '" + chooser.manifest(candidate.index).variant + "'", loaded.error());
    candidate.device = (*loaded)->asCuda();
  }
  return candidates;
}

Result<Tuner::Candidate *> Tuner::compete(std::vector<Candidate> &candidates) {
  std::vector<Contestant> all;
  double fastest = std::numeric_limits<double>::infinity();
  for (Candidate &candidate : candidates) {
    all.emplace_back([&candidate](runtime::CUstream stream) { return candidate.launch(stream); });
    Result<double> time = warmUp(watch, std::span(&all.back(), 1));
    if (time)
      time = watch.measure(all.back().sample, quickSamples);
    if (!time)
      return runtime::withContext("variant '" + variants->chooser().manifest(candidate.index).variant + "'",
                                  time.error());
    candidate.microseconds = *time * 1000;
    fastest = std::min(fastest, candidate.microseconds);
  }
  std::vector<Contestant> contestants;
  std::vector<Candidate *> owners;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].microseconds <= hopeless * fastest) {
      contestants.push_back(std::move(all[i]));
      owners.push_back(&candidates[i]);
    }
  Result<RoundSize> size = prepareRounds(watch, contestants, fastest < graphMicroseconds, roundMilliseconds);
  if (!size)
    return size.error();
  std::vector<Contestant *> alive;
  for (Contestant &contestant : contestants)
    alive.push_back(&contestant);
  unsigned round = 0;
  for (int rounds = firstRounds;; rounds *= 2) {
    for (int i = 0; i < rounds; ++i)
      if (Status status = measureRound(watch, alive, round++, *size); !status)
        return status.error();
    std::stable_sort(alive.begin(), alive.end(),
                     [](const Contestant *a, const Contestant *b) { return a->microseconds() < b->microseconds(); });
    if (alive.size() == 1)
      break;
    alive.resize((alive.size() + 1) / 2);
    if (alive.size() == 1)
      break;
  }
  for (size_t i = 0; i < contestants.size(); ++i) {
    owners[i]->microseconds = contestants[i].microseconds();
    owners[i]->rounds = contestants[i].rounds.size();
  }
  return owners[static_cast<size_t>(alive[0] - contestants.data())];
}

Result<Tuned> Tuner::tune(const RunOptions &call) {
  const Manifest &general = variants->artifact().manifest;
  Result<CallValues> values = CallValues::bind(call, general, variants->multiprocessors());
  if (!values)
    return values.error();
  Tuned tuned;
  Result<std::vector<Candidate>> candidates = findCandidates(call, *values, tuned.serving);
  if (!candidates)
    return candidates.error();
  CudaDevice &first = *candidates->front().device;
  Result<Execution> execution = Execution::prepare(call, general, first);
  if (!execution)
    return execution.error();
  if (Status status = requireWork(execution->launchGrid()); !status)
    return status.error();
  Result<std::vector<DeviceArgument>> arguments = execution->freshArguments();
  if (!arguments)
    return arguments.error();
  Result<CudaSession> session = first.prepare(*arguments);
  if (!session)
    return session.error();
  for (Candidate &candidate : *candidates) {
    for (const Parameter &parameter : variants->chooser().manifest(candidate.index).parameters)
      candidate.values.push_back(
          session->value(static_cast<size_t>(general.findParameter(parameter.name) - general.parameters.data())));
    for (uint64_t &value : candidate.values)
      candidate.pointers.push_back(&value);
  }
  Result<Candidate *> winner = compete(*candidates);
  if (!winner)
    return winner.error();
  for (const std::string &name : keyParameters(variants->chooser(), general))
    tuned.entry.sizes.push_back(
        values->bindings()
            .scalar(static_cast<size_t>(general.findParameter(name) - general.parameters.data()))
            .integer);
  tuned.entry.serves = variants->chooser().callClass(values->call(), variants->onDevice());
  tuned.entry.variant = variants->chooser().manifest((*winner)->index).variant;
  tuned.entry.microseconds = (*winner)->microseconds;
  runtime::DeviceVariants untuned = variants->onDevice();
  untuned.tuning = nullptr;
  untuned.canRemember = false;
  const runtime::Choice usual = variants->chooser().choose(values->call(), untuned);
  for (const Candidate &candidate : *candidates) {
    if (static_cast<int32_t>(candidate.index) == usual.index)
      tuned.untunedMicroseconds = candidate.microseconds;
    tuned.times.push_back({variants->chooser().manifest(candidate.index).variant, candidate.expected,
                           candidate.microseconds, candidate.rounds});
  }
  return tuned;
}

} // namespace tile::runner
