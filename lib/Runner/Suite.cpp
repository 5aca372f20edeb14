// Runs the cases one after another; a case that cannot run is reported and the others still do. Artifacts are loaded
// once.
#include "Runner/Suite.h"

#include "Runner/Variants.h"

#include <filesystem>
#include <set>
#include <sstream>
#include <unistd.h>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;

Result<std::vector<SuiteCase>> parseSuite(std::string_view text) {
  std::vector<SuiteCase> cases;
  std::set<std::string> seen;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    SuiteCase item;
    item.line = number;
    if (!(words >> item.name))
      continue;
    if (!(words >> item.artifact))
      return makeError(TILE_ERROR_FILE, "line {}: case '{}' names no artifact", number, item.name);
    for (std::string word; words >> word;) {
      if (word == "--graph")
        item.graph = true;
      else if (word.starts_with("--"))
        return makeError(TILE_ERROR_FILE, "line {}: case '{}' has the option '{}'; a case can only have --graph",
                         number, item.name, word);
      else
        item.arguments.push_back(word);
    }
    if (!seen.insert(item.name).second)
      return makeError(TILE_ERROR_FILE, "line {}: the name '{}' is used twice", number, item.name);
    cases.push_back(std::move(item));
  }
  if (cases.empty())
    return makeError(TILE_ERROR_FILE, "the suite has no case");
  return cases;
}

namespace {

struct SuiteArtifact {
  std::unique_ptr<Artifact> artifact; ///< the variants point at it
  Variants variants;
};

class SuiteRunner {
public:
  SuiteRunner(const RunOptions &options, const std::string &folder, const DeviceLoader &loader)
      : options(options), folder(folder), loader(loader) {}

  Result<RunReport> run(const SuiteCase &item) {
    const std::string path = folder.empty() ? item.artifact : (std::filesystem::path(folder) / item.artifact).string();
    auto found = loaded.find(path);
    if (found == loaded.end()) {
      Result<Artifact> artifact = runtime::readArtifactFile(path);
      if (!artifact)
        return artifact.error();
      auto owner = std::make_unique<Artifact>(std::move(*artifact));
      Result<Variants> variants = Variants::open(options, *owner, loader);
      if (!variants)
        return variants.error();
      found = loaded.emplace(path, SuiteArtifact{std::move(owner), std::move(*variants)}).first;
    }
    RunOptions caseOptions = options;
    caseOptions.graph |= item.graph;
    caseOptions.arguments = item.arguments;
    caseOptions.arguments.insert(caseOptions.arguments.end(), options.arguments.begin(), options.arguments.end());
    if (Status status = validateRequest(caseOptions, found->second.artifact->manifest); !status)
      return status.error();
    Result<Variants::Taken> taken = found->second.variants.take(caseOptions);
    if (!taken)
      return taken.error();
    Result<RunReport> report = runKernel(taken->options, *taken->manifest, *taken->device, path);
    if (report)
      report->label = item.name;
    return report;
  }

private:
  const RunOptions &options;
  const std::string &folder;
  const DeviceLoader &loader;
  std::map<std::string, SuiteArtifact> loaded;
};

/// The case that is running, on a terminal only: one line that the next report overwrites.
class Progress {
public:
  explicit Progress(size_t count) : count(count), isShown(isatty(fileno(stderr))) {}
  void show(const std::string &name) {
    ++position;
    if (isShown)
      fmt::print(stderr, "{}[{}/{}] {}", clear, position, count, name);
  }
  void hide() const {
    if (isShown)
      fmt::print(stderr, "{}", clear);
  }

private:
  static constexpr const char *clear = "\r\x1b[K"; // ECMA-48: erase to the end of the line
  size_t count, position = 0;
  bool isShown;
};

} // namespace

int runSuite(const RunOptions &options, const std::string &file, const std::string &folder) {
  Result<std::string> text = runtime::readFile(file, 1 << 24);
  if (!text)
    return reportFailure(options, text.error());
  Result<std::vector<SuiteCase>> cases = parseSuite(*text);
  if (!cases)
    return reportFailure(options, runtime::withContext("'" + file + "'", cases.error()));
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  SuiteRunner runner(options, folder, *loader);
  size_t failures = 0;
  bool isFirst = true;
  Progress progress(cases->size());
  for (const SuiteCase &item : *cases) {
    progress.show(item.name);
    Result<RunReport> report = runner.run(item);
    progress.hide();
    if (!report) {
      ++failures;
      (void)reportFailure(options, runtime::withContext(fmt::format("case '{}'", item.name), report.error()));
      continue;
    }
    failures += !report->passed();
    if (Status status = printReport(options, *report, isFirst); !status)
      return reportFailure(options, status.error());
    isFirst = false;
  }
  if (options.format == "table")
    fmt::print("{} cases, {} failed\n", cases->size(), failures);
  return failures == 0 ? 0 : 1;
}

} // namespace tile::runner
