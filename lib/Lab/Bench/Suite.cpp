// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts suites and sweeps to lists of cases (Cases.h).
#include "Lab/Bench/Suite.h"

#include "Lab/Bench/Cases.h"
#include "Lab/Bench/Sweep.h"

#include <filesystem>
#include <set>
#include <sstream>

namespace tile::runner {

using runtime::makeError;

static constexpr std::string_view flopsOption = "--flops=";

Result<std::vector<SuiteCase>> parseSuite(std::string_view text) {
  std::vector<SuiteCase> cases;
  std::set<std::string> seen;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    SuiteCase item;
    if (!(words >> item.name))
      continue;
    if (!(words >> item.artifact))
      return makeError(TILE_ERROR_FILE, "line {}: case '{}' names no artifact", number, item.name);
    item.line = number;
    for (std::string word; words >> word;) {
      if (word == "--graph")
        item.graph = true;
      else if (word.starts_with(flopsOption))
        item.flops = word.substr(flopsOption.size());
      else if (word.starts_with("--"))
        return makeError(TILE_ERROR_FILE,
                         "line {}: case '{}' has the option '{}'; a case can only have --graph and "
                         "--flops=EXPR",
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

Result<std::vector<SuiteCase>> expandCases(const std::vector<SuiteCase> &cases,
                                           const std::vector<std::string> &arguments) {
  std::vector<SuiteCase> all;
  for (const SuiteCase &item : cases) {
    std::vector<std::string> whole = item.arguments;
    whole.insert(whole.end(), arguments.begin(), arguments.end());
    Result<std::vector<SweepPoint>> points = expandSweep(whole);
    if (!points)
      return item.line == 0
                 ? points.error()
                 : runtime::withContext(fmt::format("line {}: case '{}'", item.line, item.name), points.error());
    for (SweepPoint &point : *points) {
      SuiteCase &next = all.emplace_back(item);
      next.arguments = std::move(point.arguments);
      if (!point.varying.empty())
        next.name += (next.name.empty() ? "" : " ") + point.varying;
    }
  }
  return all;
}

Result<std::vector<SuiteCase>> readSuite(const std::string &file, const std::string &folder,
                                         const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments)
    if (argument.find('=') == std::string::npos)
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "'{}' is not of the form name=value; the cases of a suite name their artifacts themselves",
                       argument);
  Result<std::string> text = runtime::readFile(file, 1 << 24);
  if (!text)
    return text.error();
  Result<std::vector<SuiteCase>> cases = parseSuite(*text);
  if (cases)
    cases = expandCases(*cases, arguments);
  if (!cases)
    return runtime::withContext("'" + file + "'", cases.error());
  if (!folder.empty())
    for (SuiteCase &item : *cases)
      item.artifact = (std::filesystem::path(folder) / item.artifact).string();
  return cases;
}

int runSuite(const RunOptions &options, const std::string &file, const std::string &folder) {
  Result<std::vector<SuiteCase>> cases = readSuite(file, folder, options.arguments);
  return cases ? runCases(options, *cases) : reportFailure(options, cases.error());
}

} // namespace tile::runner
