// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/VerifyArtifact.h"

#include "Lab/Verify/BitContract.h"
#include "Lab/Verify/LastStore.h"
#include "Runner/Device/CudaDevice.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Results/Sha256.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr uint64_t defaultSizes = 4, defaultCalls = 12;
constexpr double approximateWithin = 1e-3; // tolerance of a kernel with approximate functions and no declared tolerance

std::string simText(int multiprocessors) {
  return fmt::format("sim ({} multiprocessors)", multiprocessors);
}

/// Prints the verdicts of a command, and its summary.
class VerdictReport {
public:
  VerdictReport(const VerifyOptions &options, std::string kernel, std::string what, std::string unit)
      : options(options), kernel(std::move(kernel)), what(std::move(what)), unit(std::move(unit)) {}

  void add(const Verdict &verdict) { verdicts.push_back(verdict); }
  /// Says why a call may use another variant of the second artifact.
  void noteChoice(std::string reason) { choice = std::move(reason); }

  int finish() const {
    const bool isPassed =
        std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &its) { return its.problem.empty(); });
    const bool isComplete =
        std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &its) { return its.isComplete(); });
    const bool isNothing =
        std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &its) { return !its.skipped.empty(); });
    const bool isEqual =
        std::none_of(verdicts.begin(), verdicts.end(), [](const Verdict &its) { return its.equal.empty(); });
    options.isJson ? printJson(isPassed, isComplete, isEqual) : printText(isPassed, isComplete, isEqual);
    return !isPassed || isNothing ? 1 : options.isStrict && !isComplete ? exitIncomplete : 0;
  }

private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - options.run.limit->start).count();
  }
  void printText(bool isPassed, bool isComplete, bool isEqual) const {
    size_t width = 0;
    uint64_t runs = 0;
    for (const Verdict &verdict : verdicts) {
      width = std::max(width, verdict.variant.size());
      runs += verdict.runs;
    }
    fmt::print("{} {}\n", kernel, what);
    for (const Verdict &verdict : verdicts)
      printPainted(stdout, options.run.colours.results, showControls(formatVerdict(verdict, width, unit)),
                   paintVerdicts);
    if (!choice.empty())
      fmt::print("  a call may use another variant of the second artifact: {}\n", showControls(choice));
    if (options.demandsBits) {
      const bool isProven = isEqual && choice.empty();
      fmt::print("compare: {}{} in {:.1f} s, {} of {} variant{}\n",
                 !isPassed  ? "different"
                 : isProven ? "equal bits for all calls"
                 : isEqual  ? "equal bits for all calls that use the same variant"
                 : runs     ? fmt::format("equal bits in the {} call{} that were tried", runs, runs == 1 ? "" : "s")
                            : "nothing is known",
                 isComplete || !isPassed ? "" : "; not everything that was planned has run", seconds(),
                 std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict &its) { return !its.equal.empty(); }),
                 verdicts.size(), verdicts.size() == 1 ? " by its order" : "s by their orders");
      return;
    }
    fmt::print("verify: {} in {:.1f} s, {} {}{} of {} variant{}{}\n",
               !isPassed   ? "FAILED"
               : runs == 0 ? "nothing has run"
                           : "passed",
               seconds(), runs, unit, runs == 1 ? "" : "s", verdicts.size(), verdicts.size() == 1 ? "" : "s",
               isComplete || !isPassed ? "" : "; not everything that was planned has run");
  }
  void printJson(bool isPassed, bool isComplete, bool isEqual) const {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"kernel", kernel},
                                   {"artifact", options.run.artifact},
                                   {"verified", what},
                                   {"unit", unit},
                                   {"passed", isPassed},
                                   {"complete", isComplete},
                                   {"seconds", seconds()},
                                   {"variants", nlohmann::ordered_json::array()}};
    if (options.demandsBits)
      json["equal_bits"] = isEqual && choice.empty();
    if (!choice.empty())
      json["choice"] = choice;
    for (const Verdict &verdict : verdicts)
      json["variants"].push_back(verdictToJson(verdict));
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

  const VerifyOptions &options;
  std::string kernel, what, unit, choice;
  std::vector<Verdict> verdicts;
};

/// Remembers in a folder which variants have passed: one file per variant, named by a hash of everything on which the
/// verdict depends.
class PassedRuns {
public:
  explicit PassedRuns(std::string folder) : folder(std::move(folder)) {}

  std::string keyOf(const TestedVariant &variant, const VerifyOptions &options, uint64_t sizes) const {
    if (folder.empty())
      return "";
    const Result<std::string> ptx = runtime::findPtx(variant.artifact);
    const RunOptions &run = options.run;
    return sha256(fmt::format("1\n{}\n{}\n{}\n{} {} {} {} {} {}\n{} {}", ptx ? *ptx : "",
                              runtime::toJson(variant.manifest()), fmt::join(run.arguments, "\n"), run.multiprocessors,
                              run.steps, run.seed, sizes, options.orders, fmt::join(run.grid, ","),
                              fmt::join(run.offsets, " "), tile_version()));
  }
  /// Returns the number of runs that passed; 0: unknown.
  uint64_t find(const std::string &key) const {
    if (key.empty())
      return 0;
    Result<std::string> text = runtime::readFile(pathOf(key), 100);
    return text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  }
  Status add(const std::string &key, uint64_t runs) const {
    if (key.empty())
      return Success{};
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return makeError(TILE_ERROR_FILE, "--cache={}: {}", folder, error.message());
    return writeFileAtomically(pathOf(key), fmt::format("{} runs passed\n", runs));
  }

private:
  std::string pathOf(const std::string &key) const { return folder + "/" + key; }
  std::string folder;
};

int verifySchedules(const VerifyOptions &options, const TestedVariants &variants, const std::string &kernel) {
  ScheduleOptions schedule{options.run, options.trials.value_or(defaultSizes), options.orders};
  const PassedRuns passed(options.cache);
  struct Entry {
    std::unique_ptr<TestedVariant> variant;
    std::unique_ptr<ScheduleTrial> trial; ///< null if it was not run
    Verdict verdict;
    std::string key;
  };
  std::vector<Entry> entries;
  for (size_t i = 0; i < variants.size(); ++i) {
    Entry &entry = entries.emplace_back();
    Result<std::unique_ptr<TestedVariant>> variant = variants.load(i);
    if (!variant) {
      if (variants.size() == 1)
        return reportFailure(options.run, variant.error());
      entry.verdict.variant = variants.manifest(i).variant;
      entry.verdict.target = variants.manifest(i).target;
      entry.verdict.skipped = variant.error().message;
      continue;
    }
    entry.variant = std::move(*variant);
    entry.key = passed.keyOf(*entry.variant, options, schedule.trials);
    if (const uint64_t runs = passed.find(entry.key)) {
      entry.verdict = entry.variant->startVerdict();
      entry.verdict.isCached = true;
      entry.verdict.planned = entry.verdict.runs = runs;
      continue;
    }
    entry.trial = std::make_unique<ScheduleTrial>(*entry.variant, schedule);
  }
  // Every variant runs once before any runs again, since the time may not suffice for all.
  for (bool shouldContinue = true; shouldContinue;) {
    shouldContinue = false;
    for (Entry &entry : entries) {
      if (!entry.trial || entry.trial->isDone() || options.run.limit->isOver())
        continue;
      if (Status status = entry.trial->runNext(); !status && !options.run.limit->ended(status.error())) {
        if (variants.size() == 1)
          return reportFailure(options.run, status.error());
        entry.verdict = entry.variant->startVerdict();
        entry.verdict.skipped = status.error().message;
        entry.trial.reset();
      }
      shouldContinue = true;
    }
  }
  const int multiprocessors = options.run.multiprocessors ? options.run.multiprocessors : SimOptions().multiprocessors;
  VerdictReport report(options, kernel,
                       fmt::format("in {}: {} size{}, {} order{} each", simText(multiprocessors), schedule.trials,
                                   schedule.trials == 1 ? "" : "s", schedule.orders, schedule.orders == 1 ? "" : "s"),
                       "run");
  for (Entry &entry : entries) {
    if (entry.trial)
      entry.verdict = entry.trial->verdict();
    report.add(entry.verdict);
    const Verdict &verdict = entry.verdict;
    if (entry.trial && verdict.isComplete() && verdict.problem.empty())
      if (Status status = passed.add(entry.key, verdict.runs); !status)
        return reportFailure(options.run, status.error());
  }
  return report.finish();
}

/// Opens devices for the two sides of a comparison.
class SideOpener {
public:
  static Result<SideOpener> open(const VerifyOptions &options) {
    SideOpener opener(options);
    if (options.run.device == "sim")
      return opener;
    Result<DeviceLoader> loader = DeviceLoader::open(options.run);
    if (!loader)
      return loader.error();
    opener.gpu.emplace(std::move(*loader));
    return opener;
  }
  bool hasGpu() const { return gpu.has_value(); }
  std::string gpuName() const { return gpu->name(); }
  int multiprocessors() const {
    if (gpu)
      return gpu->multiprocessors();
    return options->run.multiprocessors ? options->run.multiprocessors : SimOptions().multiprocessors;
  }

  /// Loads the variant on the GPU or, without one or with `onSim`, in the simulator.
  Result<std::unique_ptr<Device>> load(const Artifact &artifact, bool onSim, const RunOptions &run) const {
    if (gpu && !onSim) {
      Result<std::unique_ptr<Device>> device = gpu->load(artifact);
      if (device)
        if (CudaDevice *cuda = (*device)->asCuda())
          cuda->watch({options->deadline, [text = reportHang(artifact)] {
                         fmt::print("{}", text);
                         std::fflush(stdout);
                         std::_Exit(1);
                       }});
      return device;
    }
    SimOptions sim;
    sim.multiprocessors = multiprocessors(); // number of multiprocessors, by which kernels may divide their work
    sim.threads = run.threads;
    sim.steps = run.steps;
    sim.limit = run.limit;
    sim.checks = false;
    return openSimDevice(artifact, sim);
  }

private:
  explicit SideOpener(const VerifyOptions &options) : options(&options) {}
  std::string reportHang(const Artifact &artifact) const {
    return fmt::format("verify: FAILED: variant '{}' has not finished on {} within {} s\n", artifact.manifest.variant,
                       gpu->name(), options->deadline);
  }

  const VerifyOptions *options;
  std::optional<DeviceLoader> gpu;
};

/// Returns the required agreement of results, and the reason; sets the allowed error.
std::string chooseRequirement(const PtxUses &first, const PtxUses &second, const Manifest &manifest,
                              const std::optional<double> &given, AgreementOptions &agreement) {
  std::set<std::string> uses = first.approximate;
  uses.insert(second.approximate.begin(), second.approximate.end());
  uses.insert(first.floatAtomics.begin(), first.floatAtomics.end());
  uses.insert(second.floatAtomics.begin(), second.floatAtomics.end());
  if (uses.empty() && !given) {
    agreement.within = [](const Parameter &) { return 0; };
    return "same bits";
  }
  double largest = 0;
  std::map<std::string, double> declared;
  for (const runtime::Expectation &expectation : manifest.expect) {
    declared[expectation.buffer] = expectation.tolerance;
    largest = std::max(largest, expectation.tolerance);
  }
  const double other = given.value_or(declared.empty() ? approximateWithin : largest);
  agreement.within = [declared, given, other](const Parameter &output) {
    const auto its = declared.find(output.name);
    return given || its == declared.end() ? other : its->second;
  };
  return fmt::format("within {}{}", other, uses.empty() ? "" : fmt::format(" ({})", fmt::join(uses, ", ")));
}

Verdict compareVariant(const VerifyOptions &options, const SideOpener &opener, const TestedVariant &variant,
                       const TestedVariant *other, double seconds) {
  Verdict verdict = variant.startVerdict();
  AgreementOptions agreement;
  agreement.run = options.run;
  agreement.run.limit.emplace(seconds);
  agreement.trials = verdict.planned = options.trials.value_or(defaultCalls);
  agreement.inputs = options.inputs;
  if (options.demandsBits) {
    agreement.within = [](const Parameter &) { return 0; };
    verdict.required = "same bits; not known for other calls: " +
                       runtime::explainDifference(variant.manifest().order, other->manifest().order);
  } else {
    verdict.required = chooseRequirement(variant.uses, (other ? *other : variant).uses, variant.manifest(),
                                         options.run.within, agreement);
  }
  // If only a GPU is given, the simulator is the first side. With another artifact, both sides run on the same device.
  Result<std::unique_ptr<Device>> first = opener.load(variant.artifact, !other, agreement.run);
  Result<std::unique_ptr<Device>> second = opener.load((other ? *other : variant).artifact, false, agreement.run);
  if (!first || !second) {
    verdict.skipped = first ? second.error().message : first.error().message;
    return verdict;
  }
  const TestedVariant &theirs = other ? *other : variant;
  Agreement pair(variant.plan, {other ? options.run.artifact : "sim", &variant.manifest(), first->get(), variant.adapt},
                 {other ? options.sameAs : (*second)->name(), &theirs.manifest(), second->get(), theirs.adapt},
                 agreement);
  Result<AgreementResult> result = pair.run([&](const TrialCall &call) {
    Status status = variant.admits(call);
    return status && other ? other->admits(call) : status;
  });
  if (!result) {
    verdict.skipped = result.error().message;
    return verdict;
  }
  verdict.runs = result->compared + result->failing;
  if (result->failing)
    verdict.note = fmt::format("both report an error for {} call{}: {}", result->failing,
                               result->failing == 1 ? "" : "s", result->firstFailure);
  if (const std::optional<Difference> &difference = result->difference) {
    verdict.problem =
        difference->text(other ? options.run.artifact : "sim", other ? options.sameAs : (*second)->name());
    if (!difference->buffer.empty())
      if (Result<std::string> store = findLastStore(variant, *difference, agreement.run, opener.multiprocessors());
          store && !store->empty())
        verdict.problem += "\nstored by " + *store;
    verdict.command = "tile-run verify " + variant.commandFor(difference->call, options.run) +
                      (options.demandsBits ? " --within=0" : "") +
                      (other ? " --same-as=" + quoteWord(options.sameAs) : "") + " --device=" + options.run.device +
                      " --trials=1 --inputs=random";
  }
  return verdict;
}

int verifyAgreement(const VerifyOptions &options, const Artifact &artifact) {
  Result<SideOpener> opener = SideOpener::open(options);
  if (!opener)
    return reportFailure(options.run, opener.error());
  Result<TestedVariants> variants = TestedVariants::open(options.run, artifact, opener->multiprocessors());
  if (!variants)
    return reportFailure(options.run, variants.error());
  Artifact sameAs;
  std::optional<TestedVariants> others;
  RunOptions otherOptions = options.run;
  if (!options.sameAs.empty()) {
    Result<Artifact> read = runtime::readArtifactFile(options.sameAs);
    if (!read)
      return reportFailure(options.run, read.error());
    sameAs = std::move(*read);
    otherOptions.artifact = options.sameAs;
    otherOptions.variant.clear();
    otherOptions.target.clear();
    Result<TestedVariants> opened = TestedVariants::open(otherOptions, sameAs, opener->multiprocessors());
    if (!opened)
      return reportFailure(options.run, opened.error());
    others.emplace(std::move(*opened));
  }
  const std::string device = opener->hasGpu() ? opener->gpuName() : "sim";
  VerdictReport report(options, artifact.manifest.kernel,
                       others ? fmt::format("on {}: {} against {}", device, options.run.artifact, options.sameAs)
                              : fmt::format("on {} against {}", device, simText(opener->multiprocessors())),
                       "call");
  if (options.demandsBits)
    report.noteChoice(explainChoice(artifact, sameAs));
  for (size_t i = 0; i < variants->size(); ++i) {
    const Manifest &manifest = variants->manifest(i);
    Result<std::unique_ptr<TestedVariant>> other = std::unique_ptr<TestedVariant>();
    if (others) {
      other = makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' has no variant '{}' for {}", options.sameAs,
                        manifest.variant, manifest.target);
      std::optional<size_t> match;
      for (size_t j = 0; j < others->size(); ++j)
        if (others->size() == 1 ||
            (others->manifest(j).variant == manifest.variant && others->manifest(j).target == manifest.target))
          match = j;
      if (match && options.demandsBits &&
          runtime::explainDifference(manifest.order, others->manifest(*match).order).empty()) {
        Verdict equal;
        equal.variant = manifest.variant;
        equal.target = manifest.target;
        equal.equal = "both add in the order " + manifest.order.value;
        report.add(equal);
        continue;
      }
      if (match)
        other = others->load(*match);
    }
    Result<std::unique_ptr<TestedVariant>> variant = variants->load(i);
    if (!variant || !other) {
      const Error &error = variant ? other.error() : variant.error();
      if (variants->size() == 1)
        return reportFailure(options.run, error);
      Verdict verdict;
      verdict.variant = manifest.variant;
      verdict.target = manifest.target;
      verdict.skipped = error.message;
      report.add(verdict);
      continue;
    }
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - options.run.limit->start).count();
    const double share = (options.run.limit->seconds - spent) / static_cast<double>(variants->size() - i);
    Verdict verdict = compareVariant(options, *opener, **variant, other->get(), std::max(share, 0.001));
    if (!verdict.skipped.empty() && variants->size() == 1)
      return reportFailure(options.run, makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", verdict.skipped));
    report.add(verdict);
  }
  return report.finish();
}

} // namespace

int verifyArtifact(const VerifyOptions &options, const Artifact &artifact) {
  if (Status status = checkGivenArguments(options.run.arguments, artifact.manifest); !status)
    return reportFailure(options.run, status.error());
  if (options.run.device != "sim" || !options.sameAs.empty())
    return verifyAgreement(options, artifact);
  const int multiprocessors = options.run.multiprocessors ? options.run.multiprocessors : SimOptions().multiprocessors;
  Result<TestedVariants> variants = TestedVariants::open(options.run, artifact, multiprocessors);
  return variants ? verifySchedules(options, *variants, artifact.manifest.kernel)
                  : reportFailure(options.run, variants.error());
}

} // namespace tile::runner
