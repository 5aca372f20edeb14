// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats the data as JSON and as a table; Page/charts.js selects what the charts show.
#include "Lab/Results/Plot.h"

#include "Lab/Results/Assets.h"
#include "Lab/Results/Page.h"
#include "Lab/Results/TextProcess.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tile::runner {

using OrderedJson = nlohmann::ordered_json;
using runtime::makeError;
using runtime::Result;

namespace {

/// Returns the distinct values of a text member over all measurements, in order.
std::vector<std::string> distinct(const std::vector<Measurement> &all, std::string Measurement::*text) {
  std::vector<std::string> found;
  for (const Measurement &measured : all)
    if (!(measured.*text).empty() && std::find(found.begin(), found.end(), measured.*text) == found.end())
      found.push_back(measured.*text);
  return found;
}

OrderedJson baselineJson(const MeasuredBaseline &other) {
  OrderedJson json = {{"name", other.name}, {"time_us", other.microseconds}};
  if (other.millijoules)
    json["energy_mj"] = *other.millijoules;
  if (other.isRecorded)
    json["recorded"] = true;
  return json;
}

OrderedJson recordJson(const Measurement &measured) {
  OrderedJson json = {{"kernel", measured.kernel},
                      {"line", measured.line()},
                      {"case", measured.caseText()},
                      {"arguments", OrderedJson::object()},
                      {"time_us", measured.microseconds},
                      {"flops", measured.flops},
                      {"bytes", measured.bytes},
                      {"graph", measured.isGraph},
                      {"l2", measured.l2},
                      {"baselines", OrderedJson::array()}};
  for (const auto &[name, value] : measured.arguments)
    json["arguments"][name] = value;
  for (const MeasuredBaseline &other : measured.baselines)
    json["baselines"].push_back(baselineJson(other));
  if (measured.millijoules)
    json["energy_mj"] = *measured.millijoules;
  if (!measured.throttledBy.empty())
    json["throttled"] = measured.throttledBy;
  if (measured.memoryCeiling > 0)
    json["ceilings"] = {{"memory_gb_per_s", measured.memoryCeiling}};
  if (measured.flopsCeiling > 0) {
    json["ceilings"]["gflop_per_s"] = measured.flopsCeiling;
    json["ceilings"]["gflop_per_s_by"] = measured.flopsCeilingBy;
  }
  return json;
}

std::string dataJson(const PlotRequest &request) {
  OrderedJson json = {{"records", OrderedJson::array()}};
  for (const Measurement &measured : request.measurements)
    json["records"].push_back(recordJson(measured));
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string titleOf(const PlotRequest &request) {
  if (!request.title.empty())
    return request.title;
  std::string device = request.measurements.front().device;
  if (const size_t space = device.find(' '); device.starts_with("cuda:") && space != std::string::npos)
    device.erase(0, space + 1);
  return fmt::format("{} on {}", fmt::join(distinct(request.measurements, &Measurement::kernel), ", "), device);
}

std::string headerHtml(const PlotRequest &request) {
  std::string html =
      fmt::format("<p>{} measurements on {}", request.measurements.size(),
                  escapeHtml(fmt::format("{}", fmt::join(distinct(request.measurements, &Measurement::device), ", "))));
  if (const std::vector<std::string> commits = distinct(request.measurements, &Measurement::commit); !commits.empty())
    html += escapeHtml(fmt::format(", commit {}", fmt::join(commits, ", ")));
  html += ". Only figures of one run can be compared: clocks move with temperature and power.</p>";
  const auto throttled = std::count_if(request.measurements.begin(), request.measurements.end(),
                                       [](const Measurement &measured) { return !measured.throttledBy.empty(); });
  if (throttled > 0)
    html += fmt::format(
        "<p>In {} of them, marked *, the clock was throttled: {}.</p>", throttled,
        escapeHtml(fmt::format("{}", fmt::join(distinct(request.measurements, &Measurement::throttledBy), "; "))));
  return html;
}

std::string footerHtml(const PlotRequest &request) {
  std::string html = "<p>Made by tile-run plot";
  for (const std::string &command : distinct(request.measurements, &Measurement::command))
    html += fmt::format("<br><code>{}</code>", escapeHtml(command));
  return html + "</p>";
}

std::string tableHtml(const std::vector<Measurement> &all) {
  const bool hasEnergy = std::any_of(all.begin(), all.end(), [](const Measurement &one) { return one.millijoules; });
  const bool hasCeilings =
      std::any_of(all.begin(), all.end(), [](const Measurement &one) { return one.memoryCeiling > 0; });
  std::string html =
      "<table>\n<thead><tr><th>case</th><th class=\"text\">kernel</th><th>&micro;s</th><th>rate</th><th></th>";
  html += hasCeilings ? "<th>% of copy</th><th>% of GEMM</th>" : "";
  html += hasEnergy ? "<th>mJ</th>" : "";
  html += "<th class=\"text\">baseline</th><th>&micro;s</th><th>ratio</th></tr></thead>\n<tbody>\n";
  const auto percent = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string(); };
  for (const Measurement &measured : all) {
    const size_t rows = std::max<size_t>(measured.baselines.size(), 1);
    for (size_t i = 0; i < rows; ++i) {
      html += measured.throttledBy.empty() || i > 0 ? "<tr>" : "<tr class=\"throttled\">";
      if (i == 0) {
        html +=
            fmt::format("<td>{}</td><td class=\"text\">{}</td><td>{:.2f}</td><td>{:.3f}</td><td class=\"text\">{}</td>",
                        escapeHtml(measured.caseText()), escapeHtml(measured.line()), measured.microseconds,
                        measured.rate(), measured.unit());
        html += hasCeilings ? fmt::format("<td>{}</td><td>{}</td>", percent(measured.memoryPercent),
                                          percent(measured.flopsPercent))
                            : "";
        html += hasEnergy ? fmt::format("<td>{}</td>",
                                        measured.millijoules ? fmt::format("{:.4g}", *measured.millijoules) : "")
                          : "";
      } else {
        html += fmt::format("<td colspan=\"{}\"></td>", 5 + 2 * hasCeilings + hasEnergy);
      }
      if (i < measured.baselines.size())
        html += fmt::format("<td class=\"text\">{}</td><td>{:.2f}</td><td>{:.3f}</td>",
                            escapeHtml(measured.baselines[i].name), measured.baselines[i].microseconds,
                            measured.baselines[i].ratio);
      else
        html += "<td></td><td></td><td></td>";
      html += "</tr>\n";
    }
  }
  return html + "</tbody>\n</table>";
}

} // namespace

std::string makePage(const PlotRequest &request) {
  const std::string title = titleOf(request), heading = escapeHtml(title), header = headerHtml(request),
                    table = tableHtml(request.measurements), footer = footerHtml(request);
  const FramePart texts[] = {{"TITLE", heading}, {"HEADER", header}, {"TABLE", table}, {"FOOTER", footer}};
  return makePage(
      {title, assets::chartsStyle, fillFrame(assets::chartsBody, texts), dataJson(request), assets::charts});
}

Result<std::string> makeSvg(const PlotRequest &request, const std::string &chart, int width) {
  const std::string script =
      fmt::format("{}\n{}\nconst chosen = makeCharts({}, {}).find(chart => chart.kind === '{}');\n"
                  "process.stdout.write(chosen ? renderSvg(chosen, {}) : '');\n",
                  assets::echarts, assets::charts, dataJson(request), width, chart, width);
  Result<std::string> svg = runWithInput({"node", "-"}, script);
  if (!svg)
    return makeError(
        TILE_ERROR_UNSUPPORTED,
        "an SVG is drawn by node ({}); the page of -o FILE.html needs no tools and can save its charts as SVG",
        svg.error().message);
  if (svg->empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the measurements make no chart '{}'{}", chart,
                     chart == "size"       ? "; it needs several sizes"
                     : chart == "roofline" ? "; it needs GEMMs"
                                           : "; it needs baselines");
  return svg;
}

} // namespace tile::runner
