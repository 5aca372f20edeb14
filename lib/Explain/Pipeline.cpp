// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the modelled timeline into the document, and as a trace for Chrome and Perfetto.
#include "Explain/Pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tile::explain {

static const char *nameOf(SpanKind kind) {
  switch (kind) {
  case SpanKind::Work:
    return "work";
  case SpanKind::Wait:
    return "wait";
  case SpanKind::Copy:
    return "copy";
  case SpanKind::Mma:
    return "product";
  }
  return "";
}

/// Returns [[start, end, kind, line], …] in clock cycles.
static Json laneJson(const Lane &lane) {
  constexpr size_t maxSpans = 4000;
  Json spans = Json::array();
  for (size_t i = 0; i < lane.spans.size() && i < maxSpans; ++i) {
    const Span &span = lane.spans[i];
    spans.push_back({std::llround(span.start), std::llround(span.end), nameOf(span.kind), span.line});
  }
  return {{"name", lane.name}, {"spans", std::move(spans)}};
}

/// Returns the parts of the critical path, longest first: [{"kind", "line", "clocks"}].
static Json criticalJson(const Lane &path) {
  std::map<std::pair<SpanKind, unsigned>, double> parts;
  for (const Span &span : path.spans)
    parts[{span.kind, span.line}] += span.end - span.start;
  std::vector<std::pair<std::pair<SpanKind, unsigned>, double>> sorted(parts.begin(), parts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  Json json = Json::array();
  for (const auto &[what, clocks] : sorted)
    json.push_back({{"kind", nameOf(what.first)}, {"line", what.second}, {"clocks", std::llround(clocks)}});
  return json;
}

/// Returns the clock cycles for which each warp or engine works, waits, or is idle over the whole timeline.
static Json usesJson(const Timeline &timeline) {
  Json json = Json::array();
  const auto add = [&](const Lane &lane) {
    double work = 0, wait = 0;
    for (const Span &span : lane.spans)
      (span.kind == SpanKind::Wait ? wait : work) += span.end - span.start;
    json.push_back({{"name", lane.name},
                    {"work", std::llround(work)},
                    {"wait", std::llround(wait)},
                    {"idle", std::llround(std::max(timeline.clocks - work - wait, 0.0))}});
  };
  for (const Lane &lane : timeline.roles)
    add(lane);
  for (const Lane *lane : {&timeline.tensor, &timeline.special, &timeline.copies})
    if (!lane->spans.empty())
      add(*lane);
  return json;
}

static std::vector<const Lane *> lanesOf(const Timeline &timeline) {
  std::vector<const Lane *> lanes;
  for (const Lane &lane : timeline.roles)
    lanes.push_back(&lane);
  for (const Lane *lane : {&timeline.tensor, &timeline.special, &timeline.copies})
    if (!lane->spans.empty())
      lanes.push_back(lane);
  for (const Lane &lane : timeline.slots)
    lanes.push_back(&lane);
  lanes.push_back(&timeline.critical);
  return lanes;
}

Json describePipeline(const Evidence &evidence) {
  if (!evidence.run)
    return nullptr;
  const Timeline &timeline = evidence.timeline;
  Json lanes = Json::array();
  for (const Lane *lane : lanesOf(timeline))
    lanes.push_back(laneJson(*lane));
  const double between = timeline.lastMma - timeline.firstMma;
  return {{"modelled", true},
          {"clock_ghz", target::ratesOf(evidence.gpu).clockGHz},
          {"clocks", std::llround(timeline.clocks)},
          {"roles", timeline.roles.size()},
          {"slots", timeline.slots.size()},
          {"product_clocks", std::llround(timeline.mmaClocks)},
          {"product_share", between > 0 ? timeline.mmaClocks / between : 0.0},
          {"wait_share", between > 0 ? timeline.awaitedCopies / between : 0.0},
          {"waiting_line", timeline.waitingLine},
          {"cut", timeline.isCut},
          {"forced", timeline.isForced},
          {"critical", criticalJson(timeline.critical)},
          {"uses", usesJson(timeline)},
          {"lanes", std::move(lanes)}};
}

std::string makeTrace(const Evidence &evidence) {
  const double clocksPerMicrosecond = target::ratesOf(evidence.gpu).clockGHz * 1e3;
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", 0},
                    {"args", {{"name", evidence.manifest.kernel + ", first thread block (modelled)"}}}});
  int thread = 0;
  for (const Lane *lane : lanesOf(evidence.timeline)) {
    events.push_back(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", thread}, {"args", {{"name", lane->name}}}});
    for (const Span &span : lane->spans) {
      const std::string label(span.kind == SpanKind::Mma ? "MMA" : nameOf(span.kind));
      events.push_back({{"name", span.line ? label + " at line " + std::to_string(span.line) : label},
                        {"cat", nameOf(span.kind)},
                        {"ph", "X"},
                        {"pid", 0},
                        {"tid", thread},
                        {"ts", span.start / clocksPerMicrosecond},
                        {"dur", (span.end - span.start) / clocksPerMicrosecond}});
    }
    ++thread;
  }
  return Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump() + "\n";
}

} // namespace tile::explain
