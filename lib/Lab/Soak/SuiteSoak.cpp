// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Soak/SuiteSoak.h"

#include "Runner/Inputs/Random.h"

#include <filesystem>
#include <fmt/ranges.h>
#include <numeric>

namespace tile::runner {

using runtime::makeError;

size_t drawCase(size_t count, uint64_t seed, uint64_t number) {
  const uint64_t round = seedFor(seed + number / count, "round");
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  for (size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[randomBits(round, left) % left]);
  return order[number % count];
}

namespace {

RunOptions optionsOf(const RunOptions &options, const SuiteCase &item) {
  RunOptions its = options;
  its.label = item.name;
  its.artifact = item.artifact;
  its.arguments = item.arguments;
  return its;
}

/// Validates all cases before the soak begins. Removes cases that are too large for the simulator.
Status prepareCases(const RunOptions &options, LoadedArtifacts &artifacts, std::vector<SuiteCase> &cases) {
  std::vector<SuiteCase> kept;
  for (SuiteCase &item : cases) {
    const auto fail = [&](const Error &error) { return runtime::withContext("case '" + item.name + "'", error); };
    Result<Variants *> variants = artifacts.open(item.artifact);
    if (!variants)
      return fail(variants.error());
    if (Status status = validateRequest(optionsOf(options, item), (*variants)->artifact().manifest); !status)
      return fail(status.error());
    Result<int64_t> elements = artifacts.countElements(item.artifact, item.arguments);
    if (!elements)
      return fail(elements.error());
    if (artifacts.device().cuda() || *elements <= maxSimulated)
      kept.push_back(std::move(item));
  }
  if (kept.empty())
    return makeError(TILE_ERROR_UNSUPPORTED, "all cases are too large for the simulator");
  cases = std::move(kept);
  return runtime::Success{};
}

} // namespace

int runSuiteSoak(const SoakOptions &options, const std::vector<std::string> &files, const std::string &folder) {
  std::vector<SuiteCase> cases;
  std::vector<std::string> names;
  for (const std::string &file : files) {
    Result<std::vector<SuiteCase>> more = readSuite(file, folder, options.run.arguments);
    if (!more)
      return reportFailure(options.run, more.error());
    const std::filesystem::path path(file);
    names.push_back(path.filename());
    for (SuiteCase &item : *more) {
      if (files.size() > 1) // two suites may have a case of the same name
        item.name = path.stem().string() + "/" + item.name;
      cases.push_back(std::move(item));
    }
  }
  Result<DeviceLoader> loader = DeviceLoader::open(options.run);
  if (!loader)
    return reportFailure(options.run, loader.error());
  LoadedArtifacts artifacts(options.run, *loader);
  const size_t all = cases.size();
  if (Status status = prepareCases(options.run, artifacts, cases); !status)
    return reportFailure(options.run, status.error());
  SoakSource source;
  source.what = fmt::format("{} cases of {}", cases.size(), fmt::join(names, ", "));
  if (const size_t left = all - cases.size(); left > 0)
    source.what += fmt::format(" ({} other{} too large for the simulator)", left, left == 1 ? " is" : "s are");
  source.cases = cases.size();
  source.draw = [&](uint64_t number) -> Result<RunOptions> {
    return optionsOf(options.run, cases[drawCase(cases.size(), options.run.seed, number)]);
  };
  return runSoakLoop(options, source, artifacts);
}

} // namespace tile::runner
