// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Performs a run: reads the options, runs the kernel, and prints the report.
#include "Runner/Run.h"

#include "Runner/Device/Variants.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Ranks.h"

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;

RunReport startReport(const Execution &execution, const Device &device, const std::string &artifactName) {
  const Manifest &manifest = execution.kernel();
  RunReport report;
  report.kernel = manifest.kernel;
  report.variant = manifest.variant;
  report.artifact = artifactName;
  report.target = manifest.target;
  report.sourceHash = manifest.sourceHash;
  report.device = device.name();
  report.arguments = execution.values().summary(manifest);
  report.grid = execution.launchGrid();
  return report;
}

Status runRepeatedly(const RunOptions &options, Execution &execution, const Device &device, RunReport &report) {
  const int64_t runs = int64_t(options.repeat) * options.orders;
  LongWork work("runs", options.limit);
  for (int64_t run = 0; run < runs && report.passed(); ++run) {
    if (!work.reach(double(run), double(runs)))
      return work.error();
    if (Status status = execution.run(report); !status)
      return status;
  }
  if (!report.passed())
    report.lastRun = device.lastRun();
  return execution.saveOutputs();
}

Status requireGpu(Device &device) {
  if (device.asCuda())
    return Success{};
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "only a GPU can be measured; the device is '{}'", device.name());
}

Result<RunReport> runKernel(const RunOptions &options, const Manifest &manifest, Device &device,
                            const std::string &artifactName, const EarlierKernels &earlier) {
  if (options.bench)
    if (Status status = requireGpu(device); !status)
      return status.error();
  Result<Execution> execution = Execution::prepare(options, manifest, device, earlier.last());
  if (!execution)
    return execution.error();
  RunReport report = startReport(*execution, device, artifactName);
  report.after = earlier.names();
  if (Status status = runRepeatedly(options, *execution, device, report); !status)
    return status.error();
  // Cases of a suite whose grid is empty are only checked and not measured.
  const bool isEdge = !options.label.empty() && (report.grid[0] == 0 || report.grid[1] == 0 || report.grid[2] == 0);
  if (options.bench && report.passed() && !isEdge) {
    assert(options.measure);
    Result<BenchResult> bench = options.measure(options, *device.asCuda(), *execution);
    if (!bench)
      return bench.error();
    report.bench = std::move(*bench);
  }
  return report;
}

struct Place {
  std::string file;
  uint32_t line = 0;
};

/// Finds the location in a message such as "kernel.tile:5:9: error: ...", as reported by the interpreter.
static std::optional<Place> findPlace(const std::string &message) {
  size_t end = message.find(": error: ");
  if (end == std::string::npos)
    return std::nullopt;
  Place place;
  for (int number = 0; number < 2; ++number) { // column and line
    const size_t digits = message.find_last_not_of("0123456789", end - 1);
    if (digits == std::string::npos || digits + 1 == end || message[digits] != ':')
      return std::nullopt;
    place.line = static_cast<uint32_t>(std::strtoul(message.c_str() + digits + 1, nullptr, 10));
    end = digits;
  }
  place.file = message.substr(0, end);
  return end > 0 ? std::optional(place) : std::nullopt;
}

int reportFailure(const RunOptions &options, const Error &error) {
  std::fflush(stdout);
  if (const std::optional<Place> place = findPlace(error.message)) {
    printPainted(stderr, options.colours.messages, error.message + "\n", paintMessages);
    if (const std::string line = Sources(sourceFolders(options)).line(place->file, place->line); !line.empty())
      fmt::print(stderr, "{:>8} | {}\n", place->line, line.substr(line.find_first_not_of(' ')));
  } else {
    printPainted(stderr, options.colours.messages, fmt::format("{}: error: {}\n", options.program, error.message),
                 paintMessages);
  }
  // Arguments that this kernel does not accept are usage errors, as are malformed arguments.
  const bool isCallWrong =
      error.code == TILE_ERROR_INVALID_ARGUMENT || error.code == TILE_ERROR_ASSUMPTION || error.code == TILE_ERROR_GRID;
  return isCallWrong ? 2 : 1;
}

std::unique_ptr<HardLimit> enforceLimitOnHost(const RunOptions &options) {
  return std::make_unique<HardLimit>(options.limit, [&options](const Error &error) { reportFailure(options, error); });
}

std::unique_ptr<HardLimit> enforceLimit(const RunOptions &options) {
  return options.limit && !chooseDevice(options).starts_with("cuda") ? enforceLimitOnHost(options) : nullptr;
}

void reportWarning(const RunOptions &options, const std::string &message) {
  printPainted(stderr, options.colours.messages, fmt::format("{}: warning: {}\n", options.program, message),
               paintMessages);
}

int finishOutput(const std::string &program, int code) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout))
    return code;
  fmt::print(stderr, "{}: error: cannot write to standard output{}{}\n", program, flushed ? "" : ": ",
             flushed ? "" : std::strerror(errno));
  return code ? code : 1;
}

Status printReport(const RunOptions &options, const RunReport &report, bool isFirst) {
  if (options.format == "json")
    fmt::print("{}", formatJson(report, "", options.labels));
  else if (options.format == "csv")
    fmt::print("{}{}", isFirst ? csvHeader() : "", formatCsv(report));
  else if (report.label.empty())
    printPainted(stdout, options.colours.results, formatText(report), paintVerdicts);
  else
    printPainted(stdout, options.colours.results, (isFirst ? rowHeader() : "") + formatRow(report), paintVerdicts);
  std::fflush(stdout);
  if (options.benchJson.empty() || !report.bench)
    return Success{};
  return appendToFile(options.benchJson, formatJson(report, options.command, options.labels));
}

int runOnDevice(const RunOptions &options, const Manifest &manifest, Device &device, const EarlierKernels &earlier) {
  Result<RunReport> report = runKernel(options, manifest, device, options.artifact, earlier);
  if (!report)
    return reportFailure(options, report.error());
  if (Status status = printReport(options, *report, true); !status)
    return reportFailure(options, status.error());
  for (const std::string &output : report->unwritten)
    reportWarning(options, fmt::format("nothing was written to output '{}'", output));
  return report->passed() ? 0 : 1;
}

/// The variants of a kernel, and the chosen one, which refers to them.
struct OpenKernel {
  Variants variants;
  Variants::Taken taken;
};

static Result<std::unique_ptr<OpenKernel>> openKernel(const RunOptions &options, const Artifact &artifact,
                                                      const DeviceLoader &loader) {
  Result<Variants> variants = Variants::open(options, artifact, loader);
  if (!variants)
    return variants.error();
  auto kernel = std::make_unique<OpenKernel>(OpenKernel{std::move(*variants), {}});
  Result<Variants::Taken> taken = kernel->variants.take(options);
  if (!taken)
    return taken.error();
  kernel->taken = std::move(*taken);
  return kernel;
}

int runArtifact(const RunOptions &given, const Artifact &artifact, std::span<const Artifact> before) {
  Result<RankPlan> plan = planRanks(given, artifact.manifest);
  if (!plan)
    return reportFailure(given, plan.error());
  if (plan->size > 1)
    return runOnRanks(given, artifact, *plan);
  RunOptions options = given;
  if (!plan->devices.empty()) // for example, --devices=1
    options.device = fmt::format("cuda:{}", plan->devices.front());
  if (before.empty())
    if (Status status = validateRequest(options, artifact.manifest); !status)
      return reportFailure(options, status.error());
  const std::unique_ptr<HardLimit> enforced = enforceLimit(options);
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  std::vector<std::unique_ptr<OpenKernel>> opened; // must outlive everything that refers to it
  EarlierKernels earlier;
  for (const Artifact &other : before) {
    RunOptions its = earlier.optionsFor(options, other.manifest, /*isLast=*/false);
    its.variant.clear();
    Result<std::unique_ptr<OpenKernel>> kernel = openKernel(its, other, *loader);
    if (!kernel)
      return reportFailure(options, runtime::withContext("kernel '" + other.manifest.kernel + "'", kernel.error()));
    opened.push_back(std::move(*kernel));
    const Variants::Taken &taken = opened.back()->taken;
    if (Status status = earlier.add(taken.options, *taken.manifest, *taken.device); !status)
      return reportFailure(options, status.error());
  }
  Result<std::unique_ptr<OpenKernel>> kernel =
      openKernel(earlier.optionsFor(options, artifact.manifest, /*isLast=*/true), artifact, *loader);
  if (!kernel)
    return reportFailure(options, kernel.error());
  const Variants::Taken &taken = (*kernel)->taken;
  return runOnDevice(taken.options, *taken.manifest, *taken.device, earlier);
}

} // namespace tile::runner
