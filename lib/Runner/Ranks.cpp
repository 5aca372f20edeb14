// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Environment.h"
#include "Runner/Device/Variants.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/PreparedRanks.h"
#include "Runner/Results/TimeTrace.h"
#include "Target/TimeRecords.h"

#include <algorithm>
#include <charconv>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr const char *rankField = "{rank}";

std::string replaceRank(std::string text, int rank) {
  for (size_t at = text.find(rankField); at != std::string::npos; at = text.find(rankField, at))
    text.replace(at, std::string_view(rankField).size(), std::to_string(rank));
  return text;
}

/// Returns true if a table of the kernel contains addresses of peers. Errors in the call are reported by the run.
bool hasPeers(const RunOptions &options, const Manifest &manifest) {
  Result<Bindings> bindings = Bindings::bind(manifest, options.arguments, 1);
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const std::string text = bindings ? bindings->bufferText(i) : manifest.parameters[i].defaultValue.value_or("");
    if (manifest.parameters[i].isPointer && text.starts_with("peers("))
      return true;
  }
  return false;
}

Result<std::vector<int>> parseDevices(const std::string &text) {
  std::vector<int> devices;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    int device = 0;
    const auto [last, error] = std::from_chars(at, end, device);
    if (error != std::errc() || (last != end && *last != ','))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "--devices={}: expected numbers of devices, as in 0,1", text);
    if (std::find(devices.begin(), devices.end(), device) != devices.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "--devices={}: device {} is given twice", text, device);
    devices.push_back(device);
    at = last;
  }
  return devices;
}

/// Fails if the machine lacks one of the devices.
Status checkDevices(const RankPlan &plan) {
  Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
  if (!devices)
    return devices.error();
  const int largest = *std::max_element(plan.devices.begin(), plan.devices.end());
  if (largest < static_cast<int>(devices->size()))
    return Success{};
  return makeError(TILE_ERROR_INVALID_ARGUMENT,
                   "device {} does not exist; this machine has {}; --device=sim --ranks={} simulates as many", largest,
                   devices->size(), plan.size);
}

/// Rejects options that cannot be combined with several ranks.
Status checkCombination(const RunOptions &options, const RankPlan &plan) {
  const auto fail = [](const char *message) { return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", message); };
  if (options.bench)
    return fail("--bench measures one device; omit --ranks and --devices");
  if (!options.after.empty())
    return fail("--after runs on one device; omit --ranks and --devices");
  for (const std::string &save : options.saves)
    if (save.find(rankField) == std::string::npos)
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "--save: every rank would write '{}'; put {{rank}} where its number belongs in the name",
                       save.substr(save.find('=') + 1));
  if (!options.trace.empty() && !plan.isOneProcess() && options.trace.find(rankField) == std::string::npos)
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "--trace: every process would write '{}'; put {{rank}} where its number belongs in the name",
                     options.trace);
  if (plan.isSimulated && !plan.isOneProcess())
    return fail("processes cannot share a simulator; start one with --ranks=N --device=sim");
  return Success{};
}

/// Adds the rank of this process among the processes that a launcher has started.
Status readProcess(const RunOptions &options, RankPlan &plan, const std::vector<int> &devices) {
  Result<dist::Launch> launch = dist::readLaunch(options.environment, nullptr);
  if (!launch)
    return launch.error();
  if (launch->size == 1)
    return Success{};
  if (options.ranks != 0 && options.ranks != launch->size)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--ranks={}, but {} processes have been started", options.ranks,
                     launch->size);
  plan.size = launch->size;
  plan.first = launch->rank;
  plan.address = launch->address;
  if (devices.empty())
    plan.devices = {launch->localRank};
  else if (launch->localRank < static_cast<int>(devices.size()))
    plan.devices = {devices[static_cast<size_t>(launch->localRank)]};
  else
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "--devices={} has {} devices, but the process is number {} of its host", options.devices,
                     devices.size(), launch->localRank);
  return Success{};
}

/// Sets the ranks of a run for which an option requests several ranks.
Status chooseRanks(const RunOptions &options, RankPlan &plan, const std::vector<int> &devices) {
  plan.size = options.ranks ? options.ranks : static_cast<int>(devices.size());
  if (!devices.empty() && static_cast<int>(devices.size()) != plan.size)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--ranks={}, but --devices={} has {}", options.ranks, options.devices,
                     devices.size());
  plan.devices = devices;
  for (int rank = static_cast<int>(devices.size()); rank < plan.size; ++rank)
    plan.devices.push_back(rank);
  return Success{};
}

} // namespace

Result<RankPlan> planRanks(const RunOptions &options, const Manifest &manifest) {
  RankPlan plan;
  const bool isGiven = options.ranks != 0 || !options.devices.empty();
  if (!isGiven && (!options.environment || !hasPeers(options, manifest)))
    return plan;
  Result<std::vector<int>> devices = parseDevices(options.devices);
  if (!devices)
    return devices.error();
  if (options.environment)
    if (Status status = readProcess(options, plan, *devices); !status)
      return status.error();
  if (plan.size == 1 && !isGiven)
    return plan;
  const std::string device = chooseDevice(options);
  plan.isSimulated = device == "sim";
  if (!plan.isSimulated && device != "cuda")
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "--device={} is one device; several ranks need --device=cuda, with --devices=0,1, or --device=sim",
                     device);
  if (plan.isSimulated && !devices->empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--devices={} needs GPUs; the device is sim; use --ranks={}",
                     options.devices, devices->size());
  if (plan.isOneProcess())
    if (Status status = chooseRanks(options, plan, *devices); !status)
      return status.error();
  if (!plan.isSimulated)
    if (Status status = checkDevices(plan); !status)
      return status.error();
  if (plan.isSimulated)
    plan.devices.clear();
  if (plan.size > 1 && !hasPeers(options, manifest))
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "kernel '{}' has no table of peers, so its ranks would not communicate; add "
                     "'#: buffer table[num_ranks] = random' and '#: default table = peers(x)' to its source",
                     manifest.kernel);
  if (Status status = plan.size > 1 ? checkCombination(options, plan) : Status(Success{}); !status)
    return status.error();
  return plan;
}

Result<RunOptions> optionsOfRank(const RunOptions &options, const Manifest &manifest, int rank, int ranks) {
  RunOptions own = options;
  own.rank = rank;
  own.ranks = ranks;
  for (std::vector<std::string> *texts : {&own.arguments, &own.saves, &own.recorded})
    for (std::string &text : *texts)
      text = replaceRank(std::move(text), rank);
  own.trace = replaceRank(std::move(own.trace), rank);
  // Choosing a variant evaluates expressions without ranks, so arguments that use `this_rank` or `num_ranks` are
  // replaced by integers.
  const Manifest general = manifestOfRank(manifest, rank, ranks);
  Result<Bindings> bindings = Bindings::bind(general, own.arguments, 1);
  if (!bindings)
    return bindings.error();
  std::erase_if(own.arguments, [&](const std::string &assignment) {
    const Parameter *parameter = manifest.findParameter(assignment.substr(0, assignment.find('=')));
    return parameter && parameter->isInteger();
  });
  for (size_t i = 0; i < manifest.parameters.size(); ++i)
    if (const Parameter &parameter = manifest.parameters[i]; parameter.isInteger())
      own.arguments.push_back(fmt::format("{}={}", parameter.name, bindings->scalar(i).integer));
  return own;
}

Manifest manifestOfRank(const Manifest &manifest, int rank, int ranks) {
  Manifest own = manifest;
  for (const auto &[name, value] : {std::pair<std::string, int64_t>{"this_rank", rank}, {"num_ranks", ranks}})
    if (!own.findParameter(name))
      own.constants.emplace_back(name, value);
  return own;
}

Result<PreparedRanks> prepareRanks(const RunOptions &options, const Artifact &artifact, const Manifest &variant,
                                   Device &device, int size, std::optional<int> only) {
  const bool needsAll =
      !only || (options.check && std::any_of(variant.expect.begin(), variant.expect.end(), [](const auto &expected) {
                  return expected.expression.find("peers") != std::string::npos;
                }));
  PreparedRanks ranks;
  std::vector<Execution *> executions;
  const Manifest &general = artifact.manifest;
  for (int rank = 0; rank < size; ++rank) {
    if (!needsAll && rank != *only) {
      ranks.push_back(nullptr);
      continue;
    }
    auto own = std::make_unique<PreparedRank>();
    Result<RunOptions> ownOptions = optionsOfRank(options, general, rank, size);
    if (!ownOptions)
      return ownOptions.error();
    own->options = std::move(*ownOptions);
    std::erase_if(own->options.arguments, [&](const std::string &assignment) { // the variant has compiled these in
      const std::string name = assignment.substr(0, assignment.find('='));
      return general.findParameter(name) && !variant.findParameter(name);
    });
    own->manifest = manifestOfRank(variant, rank, size);
    Result<Execution> execution = Execution::prepare(own->options, own->manifest, device);
    if (!execution)
      return execution.error();
    own->execution = std::make_unique<Execution>(std::move(*execution));
    own->report = startReport(*own->execution, device, options.artifact);
    own->report.device = fmt::format("rank {} of {}, {}", rank, size, device.name());
    executions.push_back(own->execution.get());
    ranks.push_back(std::move(own));
  }
  for (const auto &rank : ranks)
    if (rank && (!only || rank->options.rank == *only))
      if (Status status = rank->execution->linkPeers(executions); !status)
        return status.error();
  return ranks;
}

namespace {

Status checkGrids(const PreparedRanks &ranks) {
  const Grid &first = ranks[0]->execution->launchGrid();
  for (size_t rank = 1; rank < ranks.size(); ++rank)
    if (const Grid &grid = ranks[rank]->execution->launchGrid(); grid != first)
      return makeError(TILE_ERROR_GRID,
                       "rank {} has the grid {}x{}x{}, rank 0 {}x{}x{}; the simulator runs one grid on all ranks", rank,
                       grid[0], grid[1], grid[2], first[0], first[1], first[2]);
  return Success{};
}

/// Runs all ranks in the simulator once.
Status simulateOnce(PreparedRanks &ranks, Device &device) {
  std::vector<std::vector<DeviceArgument>> arguments;
  for (const auto &rank : ranks) {
    Result<std::vector<DeviceArgument>> fresh = rank->execution->freshArguments();
    if (!fresh)
      return fresh.error();
    arguments.push_back(std::move(*fresh));
  }
  const Execution &first = *ranks[0]->execution;
  Result<RunTiming> timing = device.runOnRanks(first.kernel(), first.launchGrid(), arguments);
  if (!timing)
    return timing.error();
  for (const auto &rank : ranks)
    if (Status status = rank->execution->finishRun(*timing, rank->report); !status)
      return status;
  return Success{};
}

/// Chooses the variant that all ranks use.
Result<Variants::Taken> takeForAll(const RunOptions &options, const Artifact &artifact, Variants &variants, int size) {
  std::optional<Variants::Taken> taken;
  for (int rank = 0; rank < size; ++rank) {
    Result<RunOptions> own = optionsOfRank(options, artifact.manifest, rank, size);
    if (!own)
      return own.error();
    Result<Variants::Taken> found = variants.take(*own);
    if (!found)
      return found.error();
    if (taken && found->index != taken->index)
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "rank {} would run variant '{}', rank 0 '{}'; choose one with --variant", rank,
                       found->manifest->variant, taken->manifest->variant);
    taken = std::move(*found);
  }
  return std::move(*taken);
}

bool allPassed(const PreparedRanks &ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const auto &rank) { return rank->report.passed(); });
}

Result<PreparedRanks> simulateRanks(const RunOptions &options, const Artifact &artifact, int size) {
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return loader.error();
  Result<Variants> variants = Variants::open(options, artifact, *loader);
  if (!variants)
    return variants.error();
  Result<Variants::Taken> taken = takeForAll(options, artifact, *variants, size);
  if (!taken)
    return taken.error();
  Device &device = *taken->device;
  Result<PreparedRanks> ranks = prepareRanks(options, artifact, *taken->manifest, device, size);
  if (!ranks)
    return ranks.error();
  if (Status status = checkGrids(*ranks); !status)
    return status.error();
  const int64_t runs = int64_t(options.repeat) * options.orders;
  for (int64_t run = 0; run < runs && allPassed(*ranks); ++run)
    if (Status status = simulateOnce(*ranks, device); !status)
      return status.error();
  for (const auto &rank : *ranks) {
    if (!rank->report.passed())
      rank->report.lastRun = device.lastRun();
    if (Status status = rank->execution->saveOutputs(); !status)
      return status.error();
  }
  return ranks;
}

/// Writes the timelines: one for all ranks of this process, or one for each if the file name contains the rank.
Status saveTraces(const RunOptions &options, const PreparedRanks &ranks) {
  std::vector<RankTimes> times;
  for (const auto &rank : ranks)
    if (!options.trace.empty())
      times.push_back({rank->options.rank, &rank->execution->output(target::timesName)});
  const Manifest &manifest = ranks.front()->manifest;
  const bool hasRank = options.trace.find(rankField) != std::string::npos;
  for (size_t i = 0; i < times.size() && hasRank; ++i)
    if (Status status = writeFileAtomically(ranks[i]->options.trace, timeTrace(manifest, {&times[i], 1})); !status)
      return status;
  return times.empty() || hasRank ? Status(Success{}) : writeFileAtomically(options.trace, timeTrace(manifest, times));
}

} // namespace

int runOnRanks(const RunOptions &options, const Artifact &artifact, const RankPlan &plan) {
  const std::unique_ptr<HardLimit> enforced = enforceLimit(options);
  Result<PreparedRanks> ranks =
      plan.isSimulated ? simulateRanks(options, artifact, plan.size) : runOnGpus(options, artifact, plan);
  if (!ranks)
    return reportFailure(options, ranks.error());
  for (const auto &rank : *ranks) {
    if (Status status = printReport(options, rank->report, rank == ranks->front()); !status)
      return reportFailure(options, status.error());
    for (const std::string &output : rank->report.unwritten)
      reportWarning(options, fmt::format("{}: nothing was written to output '{}'", rank->report.device, output));
  }
  if (Status status = saveTraces(options, *ranks); !status)
    return reportFailure(options, status.error());
  return allPassed(*ranks) ? 0 : 1;
}

} // namespace tile::runner
