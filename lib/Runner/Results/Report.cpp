// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats reports; all values are computed elsewhere.
#include "Runner/Results/Report.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tile::runner {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A throughput: in TFLOP/s for kernels with matrix multiplications, and in TB/s for all others.
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

/// Shortens an expression, which may be long after names of "#: let" have been substituted.
std::string shorten(const std::string &expression) {
  constexpr size_t most = 200;
  return expression.size() <= most ? expression : expression.substr(0, most) + " ...";
}

std::string checkText(const CheckResult &check) {
  std::string text =
      fmt::format("check {} == {}: {}, relative error {:.3g} (bound {:g}), max abs error {:.4g}, {}\n", check.buffer,
                  shorten(check.expression), check.passed ? "ok" : "FAILED", check.relativeError, check.tolerance,
                  check.maxAbsError,
                  check.sampling.empty() ? fmt::format("{} elements", check.elements)
                                         : fmt::format("sampled {} of {} elements", check.sampling, check.elements));
  if (check.wrongCount > 0)
    text += fmt::format("  {} of {} compared elements are wrong; the first are\n", check.wrongCount, check.compared);
  for (const WrongElement &wrong : check.firstWrong)
    text += fmt::format("  {}[{}]: expected {:.9g}, actual {:.9g}\n", check.buffer, fmt::join(wrong.index, ", "),
                        wrong.expected, wrong.actual);
  return text;
}

std::string samplesText(const BenchResult &bench) {
  const char *cache = bench.isCold ? "cold" : "warm";
  return bench.launchesPerGraph == 0 ? fmt::format("{} launches, L2 {}", bench.samplesPerRound, cache)
                                     : fmt::format("{} replays of a graph of {} launches, L2 {}", bench.samplesPerRound,
                                                   bench.launchesPerGraph, cache);
}

/// Returns "; 46.1 mJ per launch, 372 GFLOP/J".
std::string energyText(const BenchResult &bench, const std::optional<double> &millijoules) {
  if (!millijoules)
    return {};
  std::string text = fmt::format("; {:.4g} mJ per launch", *millijoules);
  if (bench.flops > 0 && *millijoules > 0)
    text += fmt::format(", {:.4g} GFLOP/J", bench.flops / *millijoules * 1e-6);
  return text;
}

std::string cardText(const CardState &card) {
  std::string text = fmt::format("  card: {} MHz", card.lowestClockMhz);
  if (card.lowestClockMhz != card.highestClockMhz)
    text += fmt::format(" to {} MHz", card.highestClockMhz);
  text += fmt::format(", {:.0f} of {:.0f} W, {} C\n", card.last.powerMilliwatts / 1000.0,
                      card.last.powerLimitMilliwatts / 1000.0, card.last.temperatureCelsius);
  if (card.slowedRounds > 0)
    text += fmt::format("  the clock was throttled in {} of {} rounds: {}\n", card.slowedRounds, card.rounds,
                        slowdownText(card.slowdowns));
  return text;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// The fractions of the measured ceilings that the kernel reaches; 0: unknown.
struct Shares {
  double memory = 0, compute = 0;
};

Shares sharesOf(const BenchResult &bench) {
  if (!bench.ceilings || bench.microseconds <= 0)
    return {};
  return {percent(bench.bytes / bench.microseconds * 1e6, bench.ceilings->memoryBytes),
          percent(bench.flops / bench.microseconds * 1e6, bench.ceilings->flops)};
}

std::string ceilingsText(const BenchResult &bench) {
  if (!bench.ceilings)
    return {};
  const Shares shares = sharesOf(bench);
  std::string text = fmt::format("  {:.1f} % of this card's copy bandwidth ({:.3f} TB/s)", shares.memory,
                                 bench.ceilings->memoryBytes * 1e-12);
  if (bench.flops > 0 && bench.ceilings->flops > 0)
    text += fmt::format(", {:.1f} % of its {:.0f} TFLOP/s ({})", shares.compute, bench.ceilings->flops * 1e-12,
                        bench.ceilings->flopsBy);
  return text + "\n";
}

std::string benchText(const BenchResult &bench) {
  const Throughput ours = throughput(bench, bench.microseconds);
  std::string text =
      fmt::format("bench: {:.2f} us, {:.3f} {} (median of {} rounds of {}){}\n", bench.microseconds, ours.value,
                  ours.unit, bench.rounds.size(), samplesText(bench), energyText(bench, bench.millijoules));
  for (const BaselineTime &other : bench.baselines) {
    if (other.name.empty()) {
      text += fmt::format("  no baseline: {}\n", other.note);
      continue;
    }
    const Throughput theirs = throughput(bench, other.microseconds);
    text += fmt::format("  {}: {:.2f} us, {:.3f} {}; ratio {:.3f}", other.name, other.microseconds, theirs.value,
                        theirs.unit, bench.ratio(other));
    if (other.difference >= 0)
      text += fmt::format("; results differ by {:.3g} (relative norm)", other.difference);
    text += energyText(bench, other.millijoules);
    if (other.isRecorded)
      text += other.command.empty() ? "; not measured in these rounds"
                                    : fmt::format("; not measured in these rounds but by: {}", other.command);
    text += '\n';
  }
  text += ceilingsText(bench);
  if (bench.card)
    text += cardText(*bench.card);
  return text;
}

/// Returns a number for JSON, which has neither infinity nor NaN: these become strings.
OrderedJson number(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(fmt::format("{}", value));
}

OrderedJson checkJson(const CheckResult &check) {
  OrderedJson json = {{"buffer", check.buffer},
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

OrderedJson baselineJson(const BenchResult &bench, const BaselineTime &other) {
  OrderedJson json = {{"name", other.name}, {"time_us", other.microseconds}, {"ratio", bench.ratio(other)}};
  if (!other.rounds.empty())
    json["rounds_us"] = other.rounds;
  json["throughput"] = throughput(bench, other.microseconds).value;
  if (other.difference >= 0)
    json["difference"] = number(other.difference);
  if (other.millijoules)
    json["energy_mj"] = *other.millijoules;
  if (other.isRecorded) {
    json["recorded"] = true;
    json["command"] = other.command;
  }
  return json;
}

OrderedJson cardJson(const CardState &card) {
  OrderedJson json = {{"driver", card.last.driverVersion},
                      {"sm_clock_mhz", card.last.smClockMhz},
                      {"lowest_sm_clock_mhz", card.lowestClockMhz},
                      {"highest_sm_clock_mhz", card.highestClockMhz},
                      {"memory_clock_mhz", card.last.memoryClockMhz},
                      {"power_w", card.last.powerMilliwatts / 1000.0},
                      {"power_limit_w", card.last.powerLimitMilliwatts / 1000.0},
                      {"temperature_c", card.last.temperatureCelsius}};
  if (card.slowedRounds > 0) {
    json["throttled_by"] = slowdownText(card.slowdowns);
    json["throttled_rounds"] = card.slowedRounds;
  }
  return json;
}

OrderedJson ceilingsJson(const BenchResult &bench) {
  const Ceilings &ceilings = *bench.ceilings;
  const Shares shares = sharesOf(bench);
  OrderedJson json = {{"memory_gb_per_s", ceilings.memoryBytes * 1e-9},
                      {"launch_us", ceilings.launchMicroseconds},
                      {"percent_of_memory", shares.memory}};
  if (ceilings.flops > 0) {
    json["gflop_per_s"] = ceilings.flops * 1e-9;
    json["gflop_per_s_by"] = ceilings.flopsBy;
    json["percent_of_gflop_per_s"] = shares.compute;
  }
  return json;
}

/// The first baseline has its own keys; the other baselines are in a list.
OrderedJson benchJson(const BenchResult &bench) {
  OrderedJson json = {{"time_us", bench.microseconds},
                      {"rounds_us", bench.rounds},
                      {"launches_per_round", bench.samplesPerRound * std::max(bench.launchesPerGraph, 1)},
                      {"flops", bench.flops},
                      {"bytes", bench.bytes},
                      {"throughput", throughput(bench, bench.microseconds).value},
                      {"unit", throughput(bench, bench.microseconds).unit}};
  if (bench.microseconds > 0) {
    json["gflop_per_s"] = bench.flops / bench.microseconds * 1e-3;
    json["gb_per_s"] = bench.bytes / bench.microseconds * 1e-3;
  }
  json["l2"] = bench.isCold ? "cold" : "warm";
  if (bench.launchesPerGraph > 0)
    json["launches_per_graph"] = bench.launchesPerGraph;
  if (bench.millijoules)
    json["energy_mj"] = *bench.millijoules;
  const BaselineTime *first = bench.baseline();
  if (first) {
    json["baseline"] = first->name;
    json["baseline_us"] = first->microseconds;
    json["baseline_rounds_us"] = first->rounds;
    json["baseline_throughput"] = throughput(bench, first->microseconds).value;
    json["ratio"] = bench.ratio(*first);
    if (first->difference >= 0)
      json["difference_to_baseline"] = number(first->difference);
    for (const BaselineTime &other : bench.baselines)
      if (!other.name.empty())
        json["baselines"].push_back(baselineJson(bench, other));
  }
  for (const BaselineTime &other : bench.baselines)
    if (other.name.empty())
      json["baseline_note"] = other.note;
  if (bench.ceilings)
    json["ceilings"] = ceilingsJson(bench);
  if (bench.card)
    json["card"] = cardJson(*bench.card);
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
  std::string text = fmt::format("{}{}{} on {}: {}{}grid {}x{}x{}", report.kernel,
                                 report.after.empty() ? "" : " after ", report.after, report.device, report.arguments,
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
    const BaselineTime *other = report.bench->baseline();
    row += fmt::format(" {:>11.2f} {:>9.3f} {:<8} {:>11} {:>7}{}{}", report.bench->microseconds, rate.value, rate.unit,
                       other ? fmt::format("{:.2f}", other->microseconds) : "-",
                       other ? fmt::format("{:.3f}", report.bench->ratio(*other)) : "-",
                       report.bench->launchesPerGraph > 0 ? " graph" : "",
                       report.bench->card && report.bench->card->slowedRounds > 0 ? " throttled" : "");
  }
  row += report.variant.empty() ? "\n" : "  " + report.variant + "\n";
  if (report.bench)
    for (const BaselineTime &other : report.bench->baselines)
      if (!other.name.empty() && &other != report.bench->baseline())
        row += fmt::format("  {:<78} {:>11.2f} {:>7.3f}\n", other.name, other.microseconds, report.bench->ratio(other));
  for (const std::string &damage : report.damages)
    row += fmt::format("  {}\n", damage);
  for (const CheckResult &check : report.checks)
    if (!check.passed)
      row += "  " + checkText(check);
  return row;
}

std::string csvText(std::string_view text) {
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string csvHeader() {
  return "case,kernel,artifact,target,device,arguments,grid,result,relative_error,max_abs_error,time_us,throughput,"
         "unit,baseline,baseline_us,ratio,variant,gflop_per_s,gb_per_s,percent_of_gflop_per_s,percent_of_memory,"
         "energy_mj,graph,l2,throttled\n";
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
    return row + fmt::format(",{},,,,,,{},,,,,,,,\n",
                             report.milliseconds >= 0 ? fmt::format("{:.3f}", report.milliseconds * 1000) : "",
                             csvText(report.variant));
  const BenchResult &bench = *report.bench;
  const Throughput rate = throughput(bench, bench.microseconds);
  const BaselineTime *other = bench.baseline();
  const Shares shares = sharesOf(bench);
  const auto known = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : std::string(); };
  return row + fmt::format(
                   ",{:.3f},{:.4f},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", bench.microseconds, rate.value, rate.unit,
                   csvText(other ? other->name : ""), other ? fmt::format("{:.3f}", other->microseconds) : "",
                   other ? fmt::format("{:.4f}", bench.ratio(*other)) : "", csvText(report.variant),
                   known(bench.flops / bench.microseconds * 1e-3), known(bench.bytes / bench.microseconds * 1e-3),
                   known(shares.compute), known(shares.memory), known(bench.millijoules.value_or(0)),
                   bench.launchesPerGraph > 0 ? "yes" : "no", bench.isCold ? "cold" : "warm",
                   csvText(bench.card ? slowdownText(bench.card->slowdowns) : ""));
}

std::string formatJson(const RunReport &report, const std::string &command, const std::vector<std::string> &labels) {
  OrderedJson json;
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
  if (!report.key.empty())
    json["key"] = report.key;
  if (!command.empty())
    json["command"] = command;
  for (const std::string &label : labels)
    json["labels"][label.substr(0, label.find('='))] =
        label.find('=') == std::string::npos ? "" : label.substr(label.find('=') + 1);
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

} // namespace tile::runner
