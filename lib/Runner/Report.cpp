// Formatting only; every number was computed elsewhere.
#include "Runner/Report.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tile::runner {
namespace {

using Json = nlohmann::ordered_json;

/// TFLOP/s for products, TB/s for everything else.
struct Throughput {
  double value = 0;
  const char *unit = "";
};

Throughput throughput(const BenchResult &bench, double microseconds) {
  if (microseconds <= 0)
    return {};
  if (bench.flops > 0)
    return {bench.flops / microseconds * 1e-6, "TFLOP/s"};
  return {bench.bytes / microseconds * 1e-6, "TB/s"};
}

double worstError(const RunReport &report) {
  double worst = 0;
  for (const CheckResult &check : report.checks)
    worst = std::max(worst, check.relativeError);
  return worst;
}

std::string checkText(const CheckResult &check) {
  std::string text = fmt::format(
      "check {} == {}: {}, relative error {:.3g} (bound {:g}), max abs error {:.4g}, {}\n", check.buffer,
      check.expression, check.passed ? "ok" : "FAILED", check.relativeError, check.tolerance, check.maxAbsError,
      check.sampling.empty() ? fmt::format("{} elements", check.elements)
                             : fmt::format("sampled {} of {} elements", check.sampling, check.elements));
  if (check.wrongCount > 0)
    text += fmt::format("  {} of {} compared elements are wrong; the first are\n", check.wrongCount, check.compared);
  for (const WrongElement &wrong : check.firstWrong)
    text += fmt::format("  {}[{}]: expected {:.9g}, actual {:.9g}\n", check.buffer, fmt::join(wrong.index, ", "),
                        wrong.expected, wrong.actual);
  return text;
}

std::string benchText(const BenchResult &bench) {
  const Throughput ours = throughput(bench, bench.microseconds);
  const std::string samples = bench.launchesPerGraph == 0 ? fmt::format("{} launches", bench.samplesPerRound)
                                                          : fmt::format("{} replays of a graph of {} launches, L2 warm",
                                                                        bench.samplesPerRound, bench.launchesPerGraph);
  std::string text = fmt::format("bench: {:.2f} us, {:.3f} {} (median of {} rounds of {})\n", bench.microseconds,
                                 ours.value, ours.unit, bench.rounds.size(), samples);
  if (bench.baseline.empty())
    return text + fmt::format("  no baseline: {}\n", bench.baselineNote);
  const Throughput theirs = throughput(bench, bench.baselineMicroseconds);
  text += fmt::format("  {}: {:.2f} us, {:.3f} {}; ratio {:.3f}", bench.baseline, bench.baselineMicroseconds,
                      theirs.value, theirs.unit, bench.ratio());
  if (bench.differenceToBaseline >= 0)
    text += fmt::format("; results differ by {:.3g} (relative norm)", bench.differenceToBaseline);
  text += '\n';
  if (bench.telemetry)
    text += fmt::format("  card: {} MHz, {:.0f} of {:.0f} W, {} C\n", bench.telemetry->smClockMhz,
                        bench.telemetry->powerMilliwatts / 1000.0, bench.telemetry->powerLimitMilliwatts / 1000.0,
                        bench.telemetry->temperatureCelsius);
  return text;
}

std::string csvText(std::string_view text) {
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

/// JSON has no infinity and no NaN: they become text.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json checkJson(const CheckResult &check) {
  Json json = {{"buffer", check.buffer},
               {"expression", check.expression},
               {"passed", check.passed},
               {"tolerance", check.tolerance},
               {"relative_error", number(check.relativeError)},
               {"max_abs_error", number(check.maxAbsError)},
               {"elements", check.elements},
               {"compared", check.compared},
               {"wrong", check.wrongCount}};
  for (const WrongElement &wrong : check.firstWrong)
    json["first_wrong"].push_back(
        {{"index", wrong.index}, {"expected", number(wrong.expected)}, {"actual", number(wrong.actual)}});
  return json;
}

Json benchJson(const BenchResult &bench) {
  Json json = {{"time_us", bench.microseconds},
               {"rounds_us", bench.rounds},
               {"launches_per_round", bench.samplesPerRound * std::max(bench.launchesPerGraph, 1)},
               {"flops", bench.flops},
               {"bytes", bench.bytes},
               {"throughput", throughput(bench, bench.microseconds).value},
               {"unit", throughput(bench, bench.microseconds).unit}};
  if (bench.launchesPerGraph > 0)
    json["launches_per_graph"] = bench.launchesPerGraph;
  if (bench.baseline.empty()) {
    json["baseline_note"] = bench.baselineNote;
  } else {
    json["baseline"] = bench.baseline;
    json["baseline_us"] = bench.baselineMicroseconds;
    json["baseline_rounds_us"] = bench.baselineRounds;
    json["baseline_throughput"] = throughput(bench, bench.baselineMicroseconds).value;
    json["ratio"] = bench.ratio();
    if (bench.differenceToBaseline >= 0)
      json["difference_to_baseline"] = number(bench.differenceToBaseline);
  }
  if (bench.telemetry)
    json["card"] = {{"driver", bench.telemetry->driverVersion},
                    {"sm_clock_mhz", bench.telemetry->smClockMhz},
                    {"memory_clock_mhz", bench.telemetry->memoryClockMhz},
                    {"power_w", bench.telemetry->powerMilliwatts / 1000.0},
                    {"power_limit_w", bench.telemetry->powerLimitMilliwatts / 1000.0},
                    {"temperature_c", bench.telemetry->temperatureCelsius}};
  return json;
}

std::string verdict(const RunReport &report) {
  if (!report.passed())
    return "FAILED";
  return report.checks.empty() ? "ran" : "ok";
}

} // namespace

bool RunReport::passed() const {
  return damages.empty() &&
         std::all_of(checks.begin(), checks.end(), [](const CheckResult &check) { return check.passed; });
}

std::string formatText(const RunReport &report) {
  std::string text = fmt::format("{} on {}: {}{}grid {}x{}x{}", report.kernel, report.device, report.arguments,
                                 report.arguments.empty() ? "" : ", ", report.grid[0], report.grid[1], report.grid[2]);
  if (!report.variant.empty())
    text += ", variant " + report.variant;
  if (report.milliseconds >= 0)
    text += fmt::format(", {:.4f} ms", report.milliseconds);
  if (report.runs > 1)
    text += fmt::format(", {} runs", report.runs);
  text += '\n';
  for (const std::string &damage : report.damages)
    text += fmt::format("  {}\n", damage);
  for (const CheckResult &check : report.checks)
    text += checkText(check);
  if (!report.lastRun.empty())
    text += fmt::format("  this was run {}, with {}\n", report.runs, report.lastRun);
  if (report.bench)
    text += benchText(*report.bench);
  return text;
}

std::string rowHeader() {
  return fmt::format("{:<28} {:<8} {:>10} {:>11} {:>9} {:<8} {:>11} {:>7}\n", "case", "result", "error", "time us",
                     "rate", "", "baseline us", "ratio");
}

std::string formatRow(const RunReport &report) {
  std::string row = fmt::format("{:<28} {:<8} {:>10}", report.label, verdict(report),
                                report.checks.empty() ? "-" : fmt::format("{:.2e}", worstError(report)));
  if (report.bench) {
    const Throughput rate = throughput(*report.bench, report.bench->microseconds);
    row += fmt::format(" {:>11.2f} {:>9.3f} {:<8} {:>11.2f} {:>7.3f}{}", report.bench->microseconds, rate.value,
                       rate.unit, report.bench->baselineMicroseconds, report.bench->ratio(),
                       report.bench->launchesPerGraph > 0 ? " graph" : "");
  }
  row += report.variant.empty() ? "\n" : "  " + report.variant + "\n";
  for (const std::string &damage : report.damages)
    row += fmt::format("  {}\n", damage);
  for (const CheckResult &check : report.checks)
    if (!check.passed)
      row += "  " + checkText(check);
  return row;
}

std::string csvHeader() {
  return "case,kernel,artifact,target,device,arguments,grid,result,relative_error,max_abs_error,time_us,throughput,"
         "unit,baseline,baseline_us,ratio,variant\n";
}

std::string formatCsv(const RunReport &report) {
  double maxAbsError = 0;
  for (const CheckResult &check : report.checks)
    maxAbsError = std::max(maxAbsError, check.maxAbsError);
  const bool isChecked = !report.checks.empty();
  std::string row = fmt::format("{},{},{},{},{},{},{}x{}x{},{},{},{}", csvText(report.label), csvText(report.kernel),
                                csvText(report.artifact), csvText(report.target), csvText(report.device),
                                csvText(report.arguments), report.grid[0], report.grid[1], report.grid[2],
                                verdict(report), isChecked ? fmt::format("{:.6g}", worstError(report)) : "",
                                isChecked ? fmt::format("{:.6g}", maxAbsError) : "");
  if (!report.bench)
    return row + fmt::format(",{},,,,,,{}\n",
                             report.milliseconds >= 0 ? fmt::format("{:.3f}", report.milliseconds * 1000) : "",
                             csvText(report.variant));
  const BenchResult &bench = *report.bench;
  const Throughput rate = throughput(bench, bench.microseconds);
  return row + fmt::format(",{:.3f},{:.4f},{},{},{:.3f},{:.4f},{}\n", bench.microseconds, rate.value, rate.unit,
                           csvText(bench.baseline), bench.baselineMicroseconds, bench.ratio(), csvText(report.variant));
}

std::string formatJson(const RunReport &report, const std::string &command, const std::vector<std::string> &labels) {
  Json json;
  if (!report.label.empty())
    json["case"] = report.label;
  json["kernel"] = report.kernel;
  if (!report.variant.empty())
    json["variant"] = report.variant;
  json["artifact"] = report.artifact;
  json["target"] = report.target;
  json["source_hash"] = report.sourceHash;
  json["device"] = report.device;
  json["arguments"] = report.arguments;
  json["grid"] = report.grid;
  json["passed"] = report.passed();
  if (!report.lastRun.empty())
    json["last_run"] = report.lastRun;
  if (report.milliseconds >= 0)
    json["run_ms"] = report.milliseconds;
  if (!report.damages.empty())
    json["damages"] = report.damages;
  for (const CheckResult &check : report.checks)
    json["checks"].push_back(checkJson(check));
  if (report.bench)
    json["bench"] = benchJson(*report.bench);
  if (!command.empty())
    json["command"] = command;
  for (const std::string &label : labels)
    json["labels"][label.substr(0, label.find('='))] =
        label.find('=') == std::string::npos ? "" : label.substr(label.find('=') + 1);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tile::runner
