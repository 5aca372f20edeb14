// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Cases.h"

#include "Runner/Journal.h"
#include "Runner/Progress.h"
#include "Runner/Variants.h"

#include <fmt/ranges.h>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;

namespace {

/// More elements take the simulator minutes.
constexpr int64_t mostSimulated = int64_t(1) << 20;

struct LoadedArtifact {
  std::unique_ptr<Artifact> artifact; ///< the variants point at it
  Variants variants;
};

class CaseRunner {
public:
  CaseRunner(const RunOptions &options, const DeviceLoader &loader) : options(options), loader(loader) {
    if (loader.cuda() && options.ceilings)
      ceilings.emplace(*loader.cuda(), options.cublas);
  }

  /// What tells the measurement of a case apart from others in a file of them.
  static std::string keyOf(const RunOptions &options, const SuiteCase &item) {
    return fmt::format("{}|{}|{}|graph={}|l2={}|baselines={}|variant={}|seed={}", item.name, item.artifact,
                       fmt::join(item.arguments, " "), options.graph || item.graph, options.l2,
                       fmt::join(options.baselines, ","), options.variant, options.seed);
  }

  Result<RunReport> run(const SuiteCase &item) {
    Result<LoadedArtifact *> loaded = load(item.artifact);
    if (!loaded)
      return loaded.error();
    RunOptions caseOptions = optionsOf(item);
    const Manifest &general = (*loaded)->artifact->manifest;
    if (caseOptions.check && isSimulatedInstead && general.expect.empty())
      caseOptions.check = false;
    if (Status status = validateRequest(caseOptions, general); !status)
      return status.error();
    Result<Variants::Taken> taken = (*loaded)->variants.take(caseOptions);
    if (!taken)
      return taken.error();
    Result<RunReport> report = runKernel(taken->options, *taken->manifest, *taken->device, item.artifact);
    if (!report)
      return report;
    report->label = item.name;
    report->key = options.bench ? keyOf(options, item) : "";
    if (report->bench && ceilings) {
      Result<Ceilings> measured = ceilings->measure(report->bench->productType);
      if (!measured)
        return measured.error();
      report->bench->ceilings = std::move(*measured);
    }
    return report;
  }

  /// Elements of all buffers.
  Result<int64_t> sizeOf(const SuiteCase &item) {
    Result<LoadedArtifact *> loaded = load(item.artifact);
    if (!loaded)
      return loaded.error();
    const Manifest &manifest = (*loaded)->artifact->manifest;
    Result<Bindings> bindings = Bindings::bind(manifest, item.arguments, 1);
    if (!bindings)
      return bindings.error();
    int64_t total = 0;
    for (const Parameter &parameter : manifest.parameters) {
      if (!parameter.buffer)
        continue;
      Result<std::vector<int64_t>> shape = bindings->evaluate(parameter.buffer->shape, manifest);
      if (!shape)
        return shape.error();
      int64_t elements = 1;
      for (int64_t extent : *shape)
        if (__builtin_mul_overflow(elements, extent, &elements))
          return INT64_MAX;
      if (__builtin_add_overflow(total, elements, &total))
        return INT64_MAX;
    }
    return total;
  }

  bool isSimulatedInstead = false;

private:
  Result<LoadedArtifact *> load(const std::string &path) {
    auto found = all.find(path);
    if (found == all.end()) {
      Result<Artifact> artifact = runtime::readArtifactFile(path);
      if (!artifact)
        return artifact.error();
      auto owner = std::make_unique<Artifact>(std::move(*artifact));
      RunOptions its = options;
      its.artifact = path;
      Result<Variants> variants = Variants::open(its, *owner, loader);
      if (!variants)
        return variants.error();
      found = all.emplace(path, LoadedArtifact{std::move(owner), std::move(*variants)}).first;
    }
    return &found->second;
  }

  RunOptions optionsOf(const SuiteCase &item) const {
    RunOptions caseOptions = options;
    caseOptions.label = item.name;
    caseOptions.artifact = item.artifact;
    caseOptions.graph |= item.graph;
    caseOptions.arguments = item.arguments;
    return caseOptions;
  }

  const RunOptions &options;
  const DeviceLoader &loader;
  std::optional<CeilingMeter> ceilings;
  std::map<std::string, LoadedArtifact> all;
};

bool hasGpu() {
  Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
  return devices && !devices->empty();
}

struct Outcome {
  size_t failed = 0, tooLarge = 0, known = 0, ran = 0;
  bool isFirst = true;
};

/// Runs one case and prints what comes of it; a Status that fails ends all.
Status runOne(const RunOptions &options, CaseRunner &runner, const SuiteCase &item, Progress &progress,
              Outcome &outcome) {
  const std::string context = item.name.empty() ? item.artifact : "case '" + item.name + "'";
  const auto fail = [&](const Error &error) {
    progress.hide();
    ++outcome.failed;
    (void)reportFailure(options, item.name.empty() ? error : runtime::withContext(context, error));
    return Status(runtime::Success{});
  };
  if (runner.isSimulatedInstead) {
    Result<int64_t> elements = runner.sizeOf(item);
    if (!elements)
      return fail(elements.error());
    if (*elements > mostSimulated) {
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
  std::string text = fmt::format("{} cases, {} failed", count, outcome.failed);
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
  if (isSingle && !isSimulatedInstead && !options.resume) // errors of its own, with their exit codes
    options.artifact = cases.front().artifact;
  Result<Journal> journal = Journal::open(options);
  if (!journal)
    return reportFailure(options, journal.error());
  if (isSimulatedInstead) {
    fmt::print(stderr,
               "{}: no GPU here, so nothing is measured: what is small enough runs in the simulator, for correctness\n",
               options.program);
    options.bench = false;
    options.benchJson.clear();
    options.check = true;
    options.device = "sim";
  }
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
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
  return outcome.failed == 0 ? 0 : 1;
}

} // namespace tile::runner
