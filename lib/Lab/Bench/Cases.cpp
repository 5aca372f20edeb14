// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/Cases.h"

#include "Lab/Bench/Ceilings.h"
#include "Lab/Bench/Journal.h"
#include "Runner/Device/LoadedArtifacts.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Progress.h"

#include <fmt/ranges.h>

namespace tile::runner {

using runtime::makeError;

namespace {

class CaseRunner {
public:
  CaseRunner(const RunOptions &options, const DeviceLoader &loader) : options(options), artifacts(options, loader) {
    if (loader.cuda() && options.ceilings)
      ceilings.emplace(*loader.cuda(), options.cublas);
  }

  /// Returns the key that identifies the measurement of a case in the journal.
  static std::string keyOf(const RunOptions &options, const SuiteCase &item) {
    return fmt::format("{}|{}|{}|graph={}|l2={}|baselines={}|variant={}|seed={}", item.name, item.artifact,
                       fmt::join(item.arguments, " "), options.graph || item.graph, options.l2,
                       fmt::join(options.baselines, ","), options.variant, options.seed);
  }

  Result<RunReport> run(const SuiteCase &item) {
    Result<Variants *> variants = artifacts.open(item.artifact);
    if (!variants)
      return variants.error();
    RunOptions caseOptions = optionsOf(item);
    if (caseOptions.check && isSimulatedInstead && (*variants)->artifact().manifest.expect.empty())
      caseOptions.check = false;
    Result<RunReport> report = artifacts.run(caseOptions);
    if (!report)
      return report;
    report->label = item.name;
    report->key = options.bench ? keyOf(options, item) : "";
    if (report->bench && ceilings) {
      Result<Ceilings> measured = ceilings->measure(report->bench->gemmType);
      if (!measured)
        return measured.error();
      report->bench->ceilings = std::move(*measured);
    }
    return report;
  }

  Result<int64_t> sizeOf(const SuiteCase &item) { return artifacts.countElements(item.artifact, item.arguments); }

  bool isSimulatedInstead = false;

private:
  RunOptions optionsOf(const SuiteCase &item) const {
    RunOptions caseOptions = options;
    caseOptions.label = item.name;
    caseOptions.artifact = item.artifact;
    caseOptions.graph |= item.graph;
    if (!item.flops.empty())
      caseOptions.flops = item.flops;
    caseOptions.arguments = item.arguments;
    return caseOptions;
  }

  const RunOptions &options;
  LoadedArtifacts artifacts;
  std::optional<CeilingMeter> ceilings;
};

bool hasGpu() {
  Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
  return devices && !devices->empty();
}

struct Outcome {
  size_t failed = 0, misused = 0, tooLarge = 0, known = 0, ran = 0;
  bool isFirst = true;
};

/// Runs one case and prints its result. Returns an error only if the whole run must end.
Status runOne(const RunOptions &options, CaseRunner &runner, const SuiteCase &item, Progress &progress,
              Outcome &outcome) {
  const std::string context = item.name.empty() ? item.artifact : "case '" + item.name + "'";
  const auto fail = [&](const Error &error) {
    progress.hide();
    ++outcome.failed;
    constexpr int usageCode = 2;
    outcome.misused +=
        reportFailure(options, item.name.empty() ? error : runtime::withContext(context, error)) == usageCode;
    return Status(runtime::Success{});
  };
  if (runner.isSimulatedInstead) {
    Result<int64_t> elements = runner.sizeOf(item);
    if (!elements)
      return fail(elements.error());
    if (*elements > maxSimulated) {
      ++outcome.tooLarge;
      return runtime::Success{};
    }
  }
  Result<RunReport> report = runner.run(item);
  progress.hide();
  if (!report)
    return fail(report.error());
  ++outcome.ran;
  outcome.failed += !report->passed();
  Status status = printReport(options, *report, outcome.isFirst);
  outcome.isFirst = false;
  return status;
}

void printSummary(const RunOptions &options, size_t count, const Outcome &outcome) {
  std::string text = fmt::format("{} case{}, {} failed", count, count == 1 ? "" : "s", outcome.failed);
  if (outcome.known > 0)
    text += fmt::format(", {} in '{}' before", outcome.known, options.benchJson);
  if (outcome.tooLarge > 0)
    text += fmt::format(", {} too large for the simulator", outcome.tooLarge);
  fmt::print("{}\n", text);
}

} // namespace

int runCases(RunOptions options, const std::vector<SuiteCase> &cases) {
  const bool isSimulatedInstead = options.bench && options.device == "auto" && !hasGpu();
  const bool isSingle = cases.size() == 1 && cases.front().name.empty();
  if (isSingle && !isSimulatedInstead && !options.resume) // for a single call, errors determine the exit code
    options.artifact = cases.front().artifact;
  Result<Journal> journal = Journal::open(options);
  if (!journal)
    return reportFailure(options, journal.error());
  if (isSimulatedInstead) {
    fmt::print(stderr,
               "{}: no GPU found, so nothing is measured{}; small cases run in the simulator to check their results\n",
               options.program, options.benchJson.empty() ? "" : fmt::format(" or written to '{}'", options.benchJson));
    options.bench = false;
    options.benchJson.clear();
    options.check = true;
    options.device = "sim";
  }
  if (Status status = checkAppendable(options.benchJson); !status)
    return reportFailure(options, status.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  if (Status status = journal->checkDevice(loader->name()); !status && !isSimulatedInstead)
    return reportFailure(options, status.error());
  CaseRunner runner(options, *loader);
  runner.isSimulatedInstead = isSimulatedInstead;
  Outcome outcome;
  if (isSingle && !isSimulatedInstead && !options.resume) {
    Result<RunReport> report = runner.run(cases.front());
    if (!report)
      return reportFailure(options, report.error());
    if (Status status = printReport(options, *report, true); !status)
      return reportFailure(options, status.error());
    return report->passed() ? 0 : 1;
  }
  Progress progress(cases.size());
  for (const SuiteCase &item : cases) {
    if (journal->has(CaseRunner::keyOf(options, item))) {
      ++outcome.known;
      progress.skip();
      continue;
    }
    if (options.limit && options.limit->isOver())
      return reportFailure(options, options.limit->error());
    progress.show(item.name);
    if (Status status = runOne(options, runner, item, progress, outcome); !status)
      return reportFailure(options, status.error());
  }
  if (options.format == "table")
    printSummary(options, cases.size(), outcome);
  if (outcome.tooLarge > 0 && outcome.ran == 0 && outcome.failed == 0)
    return reportFailure(options, makeError(TILE_ERROR_UNSUPPORTED, "all cases are too large for the simulator"));
  const bool isMisused = outcome.ran == 0 && outcome.misused == outcome.failed; // no kernel accepts its arguments
  return outcome.failed == 0 ? 0 : isMisused ? 2 : 1;
}

} // namespace tile::runner
