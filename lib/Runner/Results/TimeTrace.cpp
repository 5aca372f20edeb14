// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts clock cycles to microseconds at the clock rate of the data sheet. CTAs are aligned by the global timer,
// which each CTA reads once. The timers of several GPUs are used without adjustment.
#include "Runner/Results/TimeTrace.h"

#include "Target/Card/CardTarget.h"
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
      "",     "warp", "wait for a barrier", "wait for MMAs", "wait for copies", "wait for other warps",
      "copy", "MMAs", "wait for a flag"};
  const auto mark = size_t(record.mark);
  const std::string name = mark < std::size(names) ? names[mark] : "?";
  return record.line ? fmt::format("{} at line {}", name, record.line) : name;
}

/// A time interval in microseconds.
struct Interval {
  double from, to;
};
using Intervals = std::vector<Interval>;

/// Merges overlapping intervals.
Intervals unite(Intervals all) {
  std::sort(all.begin(), all.end(), [](const Interval &a, const Interval &b) { return a.from < b.from; });
  Intervals united;
  for (const Interval &next : all)
    if (united.empty() || next.from > united.back().to)
      united.push_back(next);
    else
      united.back().to = std::max(united.back().to, next.to);
  return united;
}

/// Appends the parts of `whole` that are not in `without`, whose intervals are sorted and lie in `whole`.
void appendRemainder(const Interval &whole, const Intervals &without, Intervals &remainder) {
  double from = whole.from;
  for (const Interval &gap : without) {
    if (gap.from > from)
      remainder.push_back({from, gap.from});
    from = std::max(from, gap.to);
  }
  if (whole.to > from)
    remainder.push_back({from, whole.to});
}

std::vector<int64_t> wordsOf(const HostBuffer &times) {
  std::vector<int64_t> words(times.dataBytes() / sizeof(int64_t));
  std::memcpy(words.data(), times.data(), words.size() * sizeof(int64_t));
  return words;
}

class Writer {
public:
  explicit Writer(const runtime::Manifest &manifest) : manifest(manifest) {
    const target::GpuTarget *gpu = target::findTarget(manifest.target, manifest.card);
    clocksPerMicrosecond = target::ratesOf(gpu ? *gpu : *target::findTarget("sm_90a")).clockGHz * 1e3;
  }

  /// Returns the timeline of one device.
  std::string write(const HostBuffer &times) {
    const std::vector<int64_t> words = wordsOf(times);
    firstTimer = firstTimerIn(words);
    writeCtas(words, 0, "");
    return finish();
  }

  std::string write(std::span<const RankTimes> ranks) {
    std::vector<std::vector<int64_t>> words;
    for (const RankTimes &rank : ranks) {
      words.push_back(wordsOf(*rank.times));
      firstTimer = std::min(firstTimer, firstTimerIn(words.back()));
    }
    for (size_t i = 0; i < ranks.size(); ++i) {
      const int rank = ranks[i].rank;
      const int64_t process = rank * (1 + target::timedCtas);
      computes.clear();
      waits.clear();
      writeCtas(words[i], process + 1, fmt::format("rank {}, ", rank));
      name("process_name", process, 0, fmt::format("{}, rank {}", manifest.kernel, rank));
      writeTrack(process, 0, "computes", unite(computes));
      writeTrack(process, 1, "waits for other ranks", unite(waits));
    }
    return finish();
  }

private:
  int64_t numWarps() const { return manifest.launch.threadsPerCta / target::threadsPerWarp; }
  int64_t wordsPerCta() const { return 2 * target::timesPerCta(numWarps()); }

  int64_t firstTimerIn(const std::vector<int64_t> &words) const {
    int64_t first = INT64_MAX;
    for (int64_t at = 0; at < int64_t(words.size()); at += wordsPerCta())
      if (words[at + 2])
        first = std::min(first, words[at]);
    return first;
  }

  /// Writes the events of all CTAs. `firstProcess` is the process number of the first CTA.
  void writeCtas(const std::vector<int64_t> &words, int64_t firstProcess, const std::string &owner) {
    const int64_t ctas = int64_t(words.size()) / wordsPerCta();
    for (int64_t cta = 0; cta < ctas; ++cta) {
      const int64_t *area = &words[cta * wordsPerCta()];
      if (!area[2]) // the grid has no such CTA
        continue;
      const int64_t process = firstProcess + cta;
      name("process_name", process, 0, fmt::format("{}, {}CTA {}", manifest.kernel, owner, cta));
      begin = double(area[0] - firstTimer) / 1e3;
      clock = area[1];
      for (int64_t warp = 0; warp < numWarps(); ++warp)
        writeWarp(process, warp, area + 2 + 2 * warp * target::timesPerWarp);
    }
  }

  void writeTrack(int64_t process, int64_t track, const std::string &text, const Intervals &intervals) {
    name("thread_name", process, track, text);
    for (const Interval &interval : intervals)
      events.push_back({{"name", text},
                        {"cat", "rank"},
                        {"ph", "X"},
                        {"pid", process},
                        {"tid", track},
                        {"ts", interval.from},
                        {"dur", interval.to - interval.from}});
  }

  std::string finish() {
    OrderedJson json = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
    if (isCut)
      json["otherData"]["note"] =
          fmt::format("only the first {} records of each warp are included", target::timesPerWarp - 1);
    return json.dump() + "\n";
  }

  void name(const char *what, int64_t cta, int64_t warp, const std::string &text) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", cta}, {"tid", warp}, {"args", {{"name", text}}}});
  }

  double at(int64_t time) const { return begin + double(time - clock) / clocksPerMicrosecond; }

  void span(int64_t cta, int64_t warp, TimeRecord record, int64_t from, int64_t to) {
    if (record.mark == TimeMark::FlagWait)
      flagWaits.push_back({at(from), at(to)});
    if (record.mark == TimeMark::Warp) // the last record of its warp
      appendRemainder({at(from), at(to)}, flagWaits, computes);
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
    flagWaits.clear();
    std::vector<std::pair<TimeRecord, int64_t>> open;
    int64_t last = 0;
    constexpr int64_t ordinary = target::timesPerWarp - 1;
    for (int64_t i = 0; i < ordinary && records[2 * i]; ++i) {
      const TimeRecord record = TimeRecord::decode(records[2 * i]);
      last = records[2 * i + 1];
      isCut |= i + 1 == ordinary;
      if (record.mark == TimeMark::Copy || record.mark == TimeMark::Mmas)
        events.push_back({{"name", nameOf(record)},
                          {"cat", record.mark == TimeMark::Copy ? "copy" : "mma"},
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
    for (; !open.empty(); open.pop_back())
      span(cta, warp, open.back().first, open.back().second, last);
    waits.insert(waits.end(), flagWaits.begin(), flagWaits.end());
  }

  const runtime::Manifest &manifest;
  double clocksPerMicrosecond, begin = 0;
  int64_t firstTimer = INT64_MAX;
  int64_t clock = 0; ///< the CTA's clock when it read the timer
  bool isCut = false;
  Intervals flagWaits;       ///< flag waits of the current warp
  Intervals computes, waits; ///< intervals of the current rank
  OrderedJson events = OrderedJson::array();
};

} // namespace

std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times) {
  return Writer(manifest).write(times);
}

std::string timeTrace(const runtime::Manifest &manifest, std::span<const RankTimes> ranks) {
  return Writer(manifest).write(ranks);
}

} // namespace tile::runner
