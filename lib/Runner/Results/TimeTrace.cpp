// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts clocks to microseconds at the rate of the data sheet. CTAs are aligned by the global timer, which each one
// reads once.
#include "Runner/Results/TimeTrace.h"

#include "Target/Rates.h"
#include "Target/TimeRecords.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tile::runner {
namespace {

using OrderedJson = nlohmann::ordered_json;
using target::TimeMark;
using target::TimeRecord;

std::string nameOf(TimeRecord record) {
  constexpr const char *names[] = {
      "", "warp", "wait for a barrier", "wait for MMAs", "wait for copies", "wait for other warps", "copy", "MMAs"};
  const auto mark = size_t(record.mark);
  const std::string name = mark < std::size(names) ? names[mark] : "?";
  return record.line ? fmt::format("{} at line {}", name, record.line) : name;
}

class Writer {
public:
  Writer(const runtime::Manifest &manifest, const HostBuffer &times) : manifest(manifest) {
    words.resize(times.dataBytes() / sizeof(int64_t));
    std::memcpy(words.data(), times.data(), words.size() * sizeof(int64_t));
    const target::GpuTarget *gpu = target::findTarget(manifest.target);
    clocksPerMicrosecond = target::ratesOf(gpu ? *gpu : *target::findTarget("sm_90a")).clockGHz * 1e3;
  }

  std::string write() {
    const int64_t warps = manifest.launch.threadsPerCta / target::threadsPerWarp,
                  perCta = 2 * target::timesPerCta(warps);
    const int64_t ctas = int64_t(words.size()) / perCta;
    int64_t firstTimer = INT64_MAX;
    for (int64_t cta = 0; cta < ctas; ++cta)
      if (words[cta * perCta + 2])
        firstTimer = std::min(firstTimer, words[cta * perCta]);
    for (int64_t cta = 0; cta < ctas; ++cta) {
      const int64_t *area = &words[cta * perCta];
      if (!area[2]) // no such CTA in the grid
        continue;
      name("process_name", cta, 0, fmt::format("{}, CTA {}", manifest.kernel, cta));
      begin = double(area[0] - firstTimer) / 1e3;
      clock = area[1];
      for (int64_t warp = 0; warp < warps; ++warp)
        writeWarp(cta, warp, area + 2 + 2 * warp * target::timesPerWarp);
    }
    OrderedJson json = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
    if (isCut)
      json["otherData"]["note"] =
          fmt::format("only the first {} records of each warp are included", target::timesPerWarp - 1);
    return json.dump() + "\n";
  }

private:
  void name(const char *what, int64_t cta, int64_t warp, const std::string &text) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", cta}, {"tid", warp}, {"args", {{"name", text}}}});
  }

  double at(int64_t time) const { return begin + double(time - clock) / clocksPerMicrosecond; }

  void span(int64_t cta, int64_t warp, TimeRecord record, int64_t from, int64_t to) {
    events.push_back({{"name", nameOf(record)},
                      {"cat", record.mark == TimeMark::Warp ? "warp" : "wait"},
                      {"ph", "X"},
                      {"pid", cta},
                      {"tid", warp},
                      {"ts", at(from)},
                      {"dur", double(to - from) / clocksPerMicrosecond}});
  }

  void writeWarp(int64_t cta, int64_t warp, const int64_t *records) {
    if (records[0])
      name("thread_name", cta, warp, fmt::format("warp {}", warp));
    std::vector<std::pair<TimeRecord, int64_t>> open;
    int64_t last = 0;
    constexpr int64_t ordinary = target::timesPerWarp - 1;
    for (int64_t i = 0; i < ordinary && records[2 * i]; ++i) {
      const TimeRecord record = TimeRecord::decode(records[2 * i]);
      last = records[2 * i + 1];
      isCut |= i + 1 == ordinary;
      if (record.mark == TimeMark::Copy || record.mark == TimeMark::Products)
        events.push_back({{"name", nameOf(record)},
                          {"cat", record.mark == TimeMark::Copy ? "copy" : "product"},
                          {"ph", "i"},
                          {"s", "t"},
                          {"pid", cta},
                          {"tid", warp},
                          {"ts", at(last)}});
      else if (!record.isEnd)
        open.push_back({record, last});
      else if (!open.empty() && open.back().first.mark == record.mark) {
        span(cta, warp, open.back().first, open.back().second, last);
        open.pop_back();
      }
    }
    last = std::max(last, records[2 * ordinary + 1]); // a thread that works alone for its warp; the others end earlier
    for (const auto &[record, from] : open)
      span(cta, warp, record, from, last);
  }

  const runtime::Manifest &manifest;
  std::vector<int64_t> words;
  double clocksPerMicrosecond, begin = 0;
  int64_t clock = 0; ///< clock of the CTA when it read the timer
  bool isCut = false;
  OrderedJson events = OrderedJson::array();
};

} // namespace

std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times) {
  return Writer(manifest, times).write();
}

} // namespace tile::runner
