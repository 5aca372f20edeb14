// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run compare old.cubin new.cubin M=512 N=512 K=300
// tile-run compare old.cubin new.cubin --bits
// tile-run compare gemm.cubin M=512 N=512 K=300 --recorded c=c.npy
// tile-run compare before.jsonl after.jsonl
#include "Lab/Compare.h"
#include "Lab/Commands/Commands.h"
#include "Lab/Results/CompareResults.h"
#include "Lab/Verify/VerifyArtifact.h"
#include "Runner/Results/Report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tile::runner {

static int compare(const RunOptions &options, const OtherArtifact &compared) {
  if (compared.file.empty() && options.recorded.empty())
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "nothing to compare with; give a second artifact, or --recorded "
                                                     "NAME=FILE"));
  return withArtifact(options, [&](const runtime::Artifact &artifact) {
    if (compared.file.empty())
      return runArtifact(options, artifact);
    RunOptions other = options;
    other.artifact = compared.file;
    return withArtifact(
        other, [&](const runtime::Artifact &second) { return compareArtifacts(options, artifact, compared, second); });
  });
}

/// Says whether two artifacts give the same bits.
static int compareBits(RunOptions options, const OtherArtifact &compared, std::optional<uint64_t> trials) {
  constexpr double defaultSeconds = 100;
  if (compared.file.empty() || !compared.variant.empty() || !options.recorded.empty() || options.within)
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "--bits needs two artifacts, and excludes --other-variant, "
                                                     "--recorded and --within"));
  if (options.format == "csv")
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "--bits prints a table or, with --format=json, a JSON document; "
                                                     "it has no --format=csv"));
  VerifyOptions verify;
  options.device = chooseDevice(options);
  if (!options.limit)
    options.limit.emplace(defaultSeconds);
  verify.run = std::move(options);
  verify.sameAs = compared.file;
  verify.trials = trials;
  verify.demandsBits = true;
  verify.isJson = verify.run.format == "json";
  return withArtifact(verify.run, [&](const runtime::Artifact &artifact) { return verifyArtifact(verify, artifact); });
}

struct CompareOptions {
  RunOptions run;
  OtherArtifact other;
  double threshold = 2; ///< percent
  std::string figure = "ratio";
  bool bits = false;
  std::optional<uint64_t> trials; ///< calls, for `bits`
};

static bool isResults(const std::string &file) {
  return file.ends_with(".jsonl");
}

static const char *verdictOf(const ResultChange &change) {
  return change.isSlower() ? "slower" : change.isFaster() ? "faster" : "same";
}

/// Prints a line for each case of either file; cases that cannot be compared have no figures.
static void printCsv(const ResultComparison &comparison) {
  fmt::print("case,figure,before,after,change,noise,verdict\n");
  for (const ResultChange &change : comparison.changes)
    fmt::print("{},{},{:.6g},{:.6g},{:.4f},{:.4f},{}\n", csvText(change.name), change.isRatio ? "ratio" : "time_us",
               change.before, change.after, change.change, change.noise, verdictOf(change));
  for (const auto &[names, verdict] :
       {std::pair(&comparison.onlyBefore, "only before"), std::pair(&comparison.onlyAfter, "only after"),
        std::pair(&comparison.notCompared, "not compared")})
    for (const std::string &name : *names)
      fmt::print("{},,,,,,{}\n", csvText(name), verdict);
}

static void printJson(const ResultComparison &comparison) {
  nlohmann::ordered_json json = {{"changes", nlohmann::ordered_json::array()},
                                 {"only_before", comparison.onlyBefore},
                                 {"only_after", comparison.onlyAfter},
                                 {"not_compared", comparison.notCompared}};
  if (!comparison.cardAfter.empty())
    json["cards"] = {comparison.cardBefore, comparison.cardAfter};
  for (const ResultChange &change : comparison.changes)
    json["changes"].push_back({{"case", change.name},
                               {"figure", change.isRatio ? "ratio" : "time_us"},
                               {"before", change.before},
                               {"after", change.after},
                               {"change", change.change},
                               {"noise", change.noise},
                               {"verdict", verdictOf(change)}});
  fmt::print("{}\n", json.dump());
}

static void printTable(const ResultComparison &comparison, bool usesTime) {
  size_t faster = 0, slower = 0;
  if (!comparison.cardAfter.empty())
    fmt::print("two cards, '{}' and '{}': {}\n", comparison.cardBefore, comparison.cardAfter,
               usesTime ? "times are hardly comparable" : "only ratios to the same baseline are compared");
  for (const ResultChange &change : comparison.changes) {
    faster += change.isFaster();
    slower += change.isSlower();
    if (change.isFaster() || change.isSlower())
      fmt::print("{:<6} {:<44} {:<5} {:>10.4g} -> {:>10.4g} {:>+7.1f} %  (noise {:.1f} %)\n",
                 change.isFaster() ? "faster" : "SLOWER", change.name, change.isRatio ? "ratio" : "us", change.before,
                 change.after, 100 * change.change, 100 * change.noise);
  }
  for (const auto &[names, where] : {std::pair(&comparison.onlyBefore, "only in the first file"),
                                     std::pair(&comparison.onlyAfter, "only in the second file"),
                                     std::pair(&comparison.notCompared, "not compared, no baseline in common")})
    for (const std::string &name : *names)
      fmt::print("{}: {}\n", where, name);
  fmt::print("{} case{} in both, {} faster, {} slower, {} within the noise\n", comparison.changes.size(),
             comparison.changes.size() == 1 ? "" : "s", faster, slower, comparison.changes.size() - faster - slower);
}

/// Returns 1 if a case has become slower.
static int compareFiles(const CompareOptions &options) {
  Result<std::vector<Measurement>> before = readResults(options.run.artifact);
  if (!before)
    return reportFailure(options.run, before.error());
  Result<std::vector<Measurement>> after = readResults(options.other.file);
  if (!after)
    return reportFailure(options.run, after.error());
  const bool usesTime = options.figure == "time";
  const ResultComparison comparison = compareResults(*before, *after, options.threshold / 100, usesTime);
  if (comparison.changes.empty() && !comparison.notCompared.empty())
    return reportFailure(options.run,
                         runtime::makeError(TILE_ERROR_FILE,
                                            "'{}' is of '{}' and '{}' of '{}', and no case has a baseline in common; "
                                            "--figure=time compares times anyway",
                                            options.run.artifact, comparison.cardBefore, options.other.file,
                                            comparison.cardAfter));
  if (comparison.changes.empty())
    return reportFailure(options.run, runtime::makeError(TILE_ERROR_FILE, "'{}' and '{}' have no case in common",
                                                         options.run.artifact, options.other.file));
  if (options.run.format == "json")
    printJson(comparison);
  else if (options.run.format == "csv")
    printCsv(comparison);
  else
    printTable(comparison, usesTime);
  return std::any_of(comparison.changes.begin(), comparison.changes.end(),
                     [](const ResultChange &change) { return change.isSlower(); });
}

Action addCompare(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<CompareOptions>();
  options->run = start;
  addArtifact(app, options->run)
      ->description("Cubin, PTX or .tilepack made by tilec; or measurements (.jsonl) of tile-run bench -o");
  app.add_option("other", options->other.file,
                 "Another artifact of the same kernel, or the same one for --other-variant; or newer measurements: the "
                 "exit code is 1 if a case has become slower by more than the noise")
      ->type_name("FILE");
  app.add_option("--threshold", options->threshold, "For measurements: changes below this percentage count as noise")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str()
      ->group("Measurements");
  app.add_option("--figure", options->figure,
                 "For measurements: compare times, or ratios to the baseline where both files have the same one")
      ->check(CLI::IsMember({"ratio", "time"}))
      ->capture_default_str()
      ->group("Measurements");
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  app.add_option("--other-variant", options->other.variant, "Variant of the other artifact (default: --variant)")
      ->type_name("NAME")
      ->group("Artifacts with several variants");
  app.add_flag("--bits", options->bits,
               "Say whether each variant gives the same bits as the one of that name in the other artifact: for all "
               "calls if both add in the same order (tile-run order), else for --trials calls with random arguments");
  app.add_option("--trials", options->trials, "With --bits: number of calls (default: 12)")
      ->check(CLI::Range(uint64_t(1), uint64_t(1000000)));
  addCheckOptions(app, options->run);
  addRecordedOptions(app, "--recorded", options->run);
  app.get_option("--within")
      ->description("Allowed relative error; 0 demands equal values. Default: what the kernel's `expect` declarations "
                    "allow for two artifacts, 0 for recorded outputs");
  addSimulatorOptions(app, options->run);
  addMeasureOptions(app, options->run);
  addFormatOption(app, options->run);
  return [options] {
    if (options->other.file.find('=') != std::string::npos) { // not an artifact, but the first argument
      options->run.arguments.insert(options->run.arguments.begin(), options->other.file);
      options->other.file.clear();
    }
    if (isResults(options->run.artifact) && isResults(options->other.file) && options->run.arguments.empty())
      return compareFiles(*options);
    if (options->bits)
      return compareBits(options->run, options->other, options->trials);
    if (!options->other.file.empty() && isResults(options->run.artifact) != isResults(options->other.file))
      return reportFailure(options->run,
                           runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                              "only one of '{}' and '{}' has measurements (.jsonl); give two such "
                                              "files, or two artifacts",
                                              options->run.artifact, options->other.file));
    return compare(options->run, options->other);
  };
}

} // namespace tile::runner
