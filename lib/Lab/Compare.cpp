// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports a run of the first artifact. The outputs of the second artifact are the expected ones, and its time is the
// baseline.
#include "Lab/Compare.h"

#include "Lab/Bench/MeasureRun.h"
#include "Runner/Device/Variants.h"

#include <fmt/ranges.h>

namespace tile::runner {

using runtime::Artifact;
using runtime::BufferRole;
using runtime::makeError;
using runtime::Success;

namespace {

/// One of the two artifacts on the device.
struct Side {
  std::unique_ptr<Variants> variants;
  std::unique_ptr<Variants::Taken> taken; ///< referenced by the execution
  std::unique_ptr<Execution> execution;
  RunReport report;

  std::string name() const {
    const std::string &variant = taken->manifest->variant;
    return taken->options.artifact + (variant.empty() ? "" : " (" + variant + ")");
  }
  const Manifest &manifest() const { return *taken->manifest; }
};

Result<Side> runSide(const RunOptions &options, const Artifact &artifact, const DeviceLoader &loader) {
  Side side;
  Result<Variants> variants = Variants::open(options, artifact, loader);
  if (!variants)
    return variants.error();
  side.variants = std::make_unique<Variants>(std::move(*variants));
  Result<Variants::Taken> taken = side.variants->take(options);
  if (!taken)
    return taken.error();
  side.taken = std::make_unique<Variants::Taken>(std::move(*taken));
  Device &device = *side.taken->device;
  Result<Execution> execution = Execution::prepare(side.taken->options, side.manifest(), device);
  if (!execution)
    return execution.error();
  side.execution = std::make_unique<Execution>(std::move(*execution));
  side.report = startReport(*side.execution, device, options.artifact);
  if (Status status = runRepeatedly(side.taken->options, *side.execution, device, side.report); !status)
    return status.error();
  return side;
}

double toleranceOf(const RunOptions &options, const Manifest &manifest, const std::string &buffer) {
  if (options.within)
    return *options.within;
  for (const runtime::Expectation &expectation : manifest.expect)
    if (expectation.buffer == buffer)
      return expectation.tolerance;
  return 0;
}

/// Adds a check for each buffer that the kernel may write.
Status compareOutputs(Side &first, const Side &second) {
  for (const Parameter &parameter : first.manifest().parameters) {
    if (!parameter.isPointer || (parameter.buffer && parameter.buffer->role == BufferRole::Random))
      continue;
    const Parameter *other = second.manifest().findParameter(parameter.name);
    if (!other || !other->isPointer)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' writes buffer '{}', which '{}' does not have", first.name(),
                       parameter.name, second.name());
    const HostBuffer &ours = first.execution->output(parameter.name);
    const HostBuffer &theirs = second.execution->output(parameter.name);
    if (ours.layout().shape != theirs.layout().shape)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "buffer '{}' has shape [{}] in '{}' and [{}] in '{}'",
                       parameter.name, fmt::join(ours.layout().shape, ", "), first.name(),
                       fmt::join(theirs.layout().shape, ", "), second.name());
    Result<CheckResult> check =
        checkRecorded(parameter.name, theirs, second.name(),
                      toleranceOf(first.taken->options, first.manifest(), parameter.name), ours);
    if (!check)
      return check.error();
    first.report.checks.push_back(std::move(*check));
  }
  return Success{};
}

Result<BenchResult> measure(Side &first, Side &second) {
  CudaDevice &device = *first.taken->device->asCuda();
  std::vector<CudaSession> sessions;
  for (Side *side : {&first, &second}) {
    if (Status status = requireWork(side->execution->launchGrid()); !status)
      return status.error();
    Result<std::vector<DeviceArgument>> arguments = side->execution->freshArguments();
    if (!arguments)
      return arguments.error();
    Result<CudaSession> session = side->taken->device->asCuda()->prepare(*arguments);
    if (!session)
      return session.error();
    sessions.push_back(std::move(*session));
  }
  Result<Stopwatch> watch = Stopwatch::create(device.cudaContext());
  if (!watch)
    return watch.error();
  std::vector<Contestant> contestants;
  for (size_t i = 0; i < 2; ++i)
    contestants.emplace_back([&session = sessions[i], &execution = *(i == 0 ? first : second).execution](
                                 runtime::CUstream stream) { return session.launch(execution.launchGrid(), stream); });
  BenchResult result;
  const RunOptions &options = first.taken->options;
  if (Status status = measureContestants(device, *watch, contestants, startBench(options), result); !status)
    return status.error();
  result.rounds = contestants[0].rounds;
  result.microseconds = contestants[0].microseconds();
  BaselineTime other;
  other.name = second.name();
  other.rounds = contestants[1].rounds;
  other.microseconds = contestants[1].microseconds();
  result.baselines.push_back(std::move(other));
  return result;
}

} // namespace

int compareArtifacts(const RunOptions &options, const Artifact &artifact, const OtherArtifact &compared,
                     const Artifact &other) {
  RunOptions otherOptions = options;
  otherOptions.artifact = compared.file;
  if (!compared.variant.empty())
    otherOptions.variant = compared.variant;
  otherOptions.saves.clear(); // only outputs of the first artifact are saved
  otherOptions.recorded.clear();
  const std::pair<const RunOptions *, const Artifact *> both[] = {{&options, &artifact}, {&otherOptions, &other}};
  for (const auto &[sideOptions, its] : both)
    if (Status status = validateRequest(*sideOptions, its->manifest); !status)
      return reportFailure(options, runtime::withContext("'" + sideOptions->artifact + "'", status.error()));
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  Result<Side> first = runSide(options, artifact, *loader);
  if (!first)
    return reportFailure(options, runtime::withContext("'" + options.artifact + "'", first.error()));
  Result<Side> second = runSide(otherOptions, other, *loader);
  if (!second)
    return reportFailure(options, runtime::withContext("'" + compared.file + "'", second.error()));
  if (Status status = compareOutputs(*first, *second); !status)
    return reportFailure(options, status.error());
  if (first->report.passed() && second->report.passed() && first->taken->device->asCuda()) {
    Result<BenchResult> bench = measure(*first, *second);
    if (!bench)
      return reportFailure(options, bench.error());
    first->report.bench = std::move(*bench);
  }
  bool isFirst = true;
  for (const Side *side : {&*first, &*second}) {
    if (side == &*second && side->report.passed())
      continue; // its results are in the report of the first artifact
    if (Status status = printReport(options, side->report, isFirst); !status)
      return reportFailure(options, status.error());
    isFirst = false;
  }
  return first->report.passed() && second->report.passed() ? 0 : 1;
}

} // namespace tile::runner
