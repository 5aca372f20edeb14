// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Results/Results.h"

#include "Runner/Colours.h"
#include "Runtime/Artifact.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tile::runner {

using Json = nlohmann::json;
using runtime::makeError;
using runtime::Result;

namespace {

std::string displayText(const Json &json, const char *key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? showControls(found->get<std::string>()) : "";
}

double numberOf(const Json &json, const char *key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<double> doublesOf(const Json &json, const char *key) {
  std::vector<double> values;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const Json &value : *found)
      if (value.is_number())
        values.push_back(value.get<double>());
  return values;
}

std::optional<double> energyOf(const Json &json) {
  const double energy = numberOf(json, "energy_mj");
  return energy > 0 ? std::optional(energy) : std::nullopt;
}

std::vector<std::pair<std::string, double>> parseArguments(const std::string &text) {
  std::vector<std::pair<std::string, double>> arguments;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    double value = 0;
    if (equals == std::string::npos)
      continue;
    const char *end = word.data() + word.size();
    if (const auto [last, error] = std::from_chars(word.data() + equals + 1, end, value);
        error == std::errc() && last == end)
      arguments.emplace_back(word.substr(0, equals), value);
  }
  return arguments;
}

std::vector<MeasuredBaseline> parseBaselines(const Json &bench) {
  std::vector<MeasuredBaseline> baselines;
  if (const auto list = bench.find("baselines"); list != bench.end() && list->is_array()) {
    for (const Json &json : *list) {
      const auto recorded = json.find("recorded");
      if (json.is_object() && numberOf(json, "time_us") > 0)
        baselines.push_back({displayText(json, "name"), numberOf(json, "time_us"), numberOf(json, "ratio"),
                             doublesOf(json, "rounds_us"), energyOf(json),
                             recorded != json.end() && *recorded == true});
    }
    return baselines;
  }
  // Earlier versions measured a single baseline.
  if (numberOf(bench, "baseline_us") > 0)
    baselines.push_back({displayText(bench, "baseline"), numberOf(bench, "baseline_us"), numberOf(bench, "ratio"),
                         doublesOf(bench, "baseline_rounds_us"), std::nullopt, false});
  return baselines;
}

Measurement parseMeasurement(const Json &json, const Json &bench) {
  Measurement measured;
  measured.label = displayText(json, "case");
  measured.kernel = displayText(json, "kernel");
  measured.artifact = displayText(json, "artifact");
  measured.variant = displayText(json, "variant");
  measured.device = displayText(json, "device");
  measured.argumentText = displayText(json, "arguments");
  measured.arguments = parseArguments(measured.argumentText);
  measured.command = displayText(json, "command");
  if (const auto labels = json.find("labels"); labels != json.end() && labels->is_object())
    measured.commit = displayText(*labels, "commit");
  measured.microseconds = numberOf(bench, "time_us");
  measured.rounds = doublesOf(bench, "rounds_us");
  measured.flops = numberOf(bench, "flops");
  measured.bytes = numberOf(bench, "bytes");
  measured.isGraph = bench.contains("launches_per_graph");
  measured.l2 = displayText(bench, "l2");
  if (measured.l2.empty())
    measured.l2 = measured.isGraph ? "warm" : "cold";
  measured.baselines = parseBaselines(bench);
  measured.millijoules = energyOf(bench);
  if (const auto card = bench.find("card"); card != bench.end() && card->is_object())
    measured.throttledBy = displayText(*card, "throttled_by");
  if (const auto ceilings = bench.find("ceilings"); ceilings != bench.end() && ceilings->is_object()) {
    measured.memoryCeiling = numberOf(*ceilings, "memory_gb_per_s");
    measured.flopsCeiling = numberOf(*ceilings, "gflop_per_s");
    measured.flopsCeilingBy = displayText(*ceilings, "gflop_per_s_by");
    measured.memoryPercent = numberOf(*ceilings, "percent_of_memory");
    measured.flopsPercent = numberOf(*ceilings, "percent_of_gflop_per_s");
  }
  return measured;
}

} // namespace

std::string cardOf(const std::string &device) {
  const size_t space = device.find(' ');
  return space == std::string::npos ? device : device.substr(space + 1);
}

std::string Measurement::line() const {
  return std::filesystem::path(artifact).stem().string();
}

std::string Measurement::caseText() const {
  const std::string name = line();
  std::string text = label;
  if (text == name || text.starts_with(name + " ")) // a sweep over several artifacts includes their names
    text.erase(0, name.size() + (text.size() > name.size()));
  return text.empty() ? argumentText : text;
}

Result<std::vector<Measurement>> readResults(const std::string &file) {
  Result<std::string> text = runtime::readFile(file, uint64_t(1) << 30);
  if (!text)
    return text.error();
  std::vector<Measurement> results;
  std::istringstream lines(*text);
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      return makeError(TILE_ERROR_FILE,
                       "'{}', line {}: not a measurement; expected JSON as tile-run bench -o writes it", file, number);
    const auto bench = json.find("bench");
    if (bench == json.end() || !bench->is_object() || !(numberOf(*bench, "time_us") > 0))
      continue;
    results.push_back(parseMeasurement(json, *bench));
  }
  if (results.empty())
    return makeError(TILE_ERROR_FILE, "'{}' has no measurement", file);
  return results;
}

} // namespace tile::runner
