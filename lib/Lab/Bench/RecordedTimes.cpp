// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/RecordedTimes.h"

#include "Runtime/Artifact.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tile::runner {

using Json = nlohmann::json;
using runtime::makeError;

namespace {

std::vector<std::pair<std::string, std::string>> splitAll(const std::string &text) {
  std::vector<std::pair<std::string, std::string>> arguments;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const size_t equals = word.find('='); equals != std::string::npos)
      arguments.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  return arguments;
}

std::string textOf(const Json &json, const char *key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<RecordedTime> parseLine(const Json &json) {
  if (!json.is_object())
    return makeError(TILE_ERROR_FILE, "expected an object");
  const auto bench = json.find("bench");
  const bool isOurs = bench != json.end() && bench->is_object();
  const Json &figures = isOurs ? *bench : json;
  const auto time = figures.find("time_us");
  if (time == figures.end() || !time->is_number() || !(time->get<double>() > 0))
    return makeError(TILE_ERROR_FILE, "'time_us' must be a positive number");
  RecordedTime recorded;
  recorded.microseconds = time->get<double>();
  recorded.label = textOf(json, "case");
  recorded.command = textOf(json, "command");
  recorded.arguments = splitAll(textOf(json, "arguments"));
  recorded.name = textOf(json, "name");
  if (recorded.name.empty())
    recorded.name = textOf(json, isOurs ? "artifact" : "kernel");
  if (recorded.name.empty())
    return makeError(TILE_ERROR_FILE, "'name' is missing");
  if (isOurs)
    recorded.isGraph = figures.contains("launches_per_graph");
  else if (const auto graph = json.find("graph"); graph != json.end() && graph->is_boolean())
    recorded.isGraph = graph->get<bool>();
  return recorded;
}

} // namespace

Result<std::vector<RecordedTime>> parseRecordedTimes(std::string_view text) {
  std::vector<RecordedTime> times;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded())
      return makeError(TILE_ERROR_FILE, "line {} is not JSON", number);
    Result<RecordedTime> recorded = parseLine(json);
    if (!recorded)
      return runtime::withContext(fmt::format("line {}", number), recorded.error());
    times.push_back(std::move(*recorded));
  }
  return times;
}

const RecordedTime *findRecorded(std::span<const RecordedTime> times, const std::string &label,
                                 const std::string &arguments, bool isGraph) {
  const std::vector<std::pair<std::string, std::string>> call = splitAll(arguments);
  const auto matches = [&](const RecordedTime &recorded) {
    if ((!label.empty() && !recorded.label.empty() && label != recorded.label) ||
        recorded.isGraph.value_or(isGraph) != isGraph || (recorded.arguments.empty() && recorded.label != label))
      return false;
    return std::all_of(recorded.arguments.begin(), recorded.arguments.end(), [&](const auto &argument) {
      return std::find(call.begin(), call.end(), argument) != call.end();
    });
  };
  const RecordedTime *found = nullptr;
  for (const RecordedTime &recorded : times)
    if (matches(recorded))
      found = &recorded;
  return found;
}

Result<Baseline> recordedBaseline(const std::string &file, const BenchRequest &request) {
  Result<std::string> text = runtime::readFile(file, uint64_t(1) << 30);
  if (!text)
    return runtime::withContext("--baseline", text.error());
  Result<std::vector<RecordedTime>> times = parseRecordedTimes(*text);
  if (!times)
    return runtime::withContext("--baseline '" + file + "'", times.error());
  Baseline baseline;
  const RecordedTime *recorded = findRecorded(*times, request.label, request.argumentText, request.useGraphs);
  if (!recorded) {
    baseline.note = fmt::format("'{}' has no line for this call", file);
    return baseline;
  }
  baseline.name = recorded->name + " (recorded)";
  baseline.command = recorded->command;
  baseline.recordedMicroseconds = recorded->microseconds;
  return baseline;
}

} // namespace tile::runner
