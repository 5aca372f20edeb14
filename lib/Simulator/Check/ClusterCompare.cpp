// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/ClusterCompare.h"

#include <algorithm>
#include <tuple>

namespace tile::sim {

namespace {

constexpr unsigned pageBytes = 1u << Shadow::pageShift;

/// Sweeps over several lists of runs simultaneously: calls `function` for each stretch within which no run begins or
/// ends.
template <typename Runs, size_t count, typename Function>
void sweep(const Runs *const (&lists)[count], Function &&function) {
  constexpr unsigned none = pageBytes + 1;
  size_t next[count] = {};
  for (unsigned at = 0;;) {
    const typename Runs::value_type *here[count] = {};
    unsigned end = none;
    for (size_t list = 0; list < count; ++list) {
      const Runs &runs = *lists[list];
      while (next[list] < runs.size() && runs[next[list]].end <= at)
        ++next[list];
      if (next[list] == runs.size())
        continue;
      const auto &run = runs[next[list]];
      if (run.begin <= at)
        here[list] = &run;
      end = std::min<unsigned>(end, run.begin <= at ? run.end : run.begin);
    }
    if (end == none)
      return;
    function(at, end, here); // the position may lie between runs of this list
    at = end;
  }
}

} // namespace

void ClusterCompare::add(Runs &runs, unsigned begin, unsigned end, const Toucher &toucher) {
  if (!runs.empty()) {
    Run &last = runs.back();
    if (last.end == begin && last.toucher.cluster == toucher.cluster && last.toucher.warp == toucher.warp &&
        last.toucher.line == toucher.line) {
      last.end = end;
      return;
    }
  }
  runs.push_back({uint16_t(begin), uint16_t(end), toucher});
}

/// Collects the accesses of the cluster to a page, by kind. If several accesses touch the same byte, the smallest warp
/// and line are kept.
void ClusterCompare::collect(Shadow &shadow, Shadow::Page &page, uint32_t cluster, Runs (&runs)[3]) {
  struct Found {
    ByteMask mask;
    Past past;
    AccessKind kind;
  };
  std::vector<Found> found;
  for (unsigned index = 0; index < Shadow::pageCells; ++index) {
    found.clear();
    shadow.forRecords(page.cells[index], ByteMask(~0), nullptr, [&](ByteMask &mask, Manner &manner, Past &past) {
      found.push_back({mask, past, manner.accessKind()});
      return true;
    });
    std::sort(found.begin(), found.end(), [](const Found &a, const Found &b) {
      return std::tuple(a.past.warp, a.past.line(), a.mask) < std::tuple(b.past.warp, b.past.line(), b.mask);
    });
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write, AccessKind::Atomic}) {
      const Found *owners[cellBytes] = {};
      for (const Found &candidate : found)
        for (unsigned byte = 0; byte < cellBytes && candidate.kind == kind; ++byte)
          if ((candidate.mask >> byte & 1) && !owners[byte])
            owners[byte] = &candidate;
      for (unsigned byte = 0; byte < cellBytes;) {
        unsigned begin = byte;
        const Found *owner = owners[byte];
        while (byte < cellBytes && owners[byte] == owner)
          ++byte;
        if (!owner)
          continue;
        unsigned lane = owner->past.lanes().isEveryLane() ? 0 : owner->past.lanes().lane(begin);
        add(runs[unsigned(kind)], index * cellBytes + begin, index * cellBytes + byte,
            {cluster, owner->past.warp, owner->past.line(), uint8_t(lane), kind});
      }
    }
  }
}

void ClusterCompare::join(Runs (&smallest)[2], const Runs &added) {
  if (added.empty())
    return;
  Runs result[2];
  const Runs *const lists[] = {&smallest[0], &smallest[1], &added};
  sweep(lists, [&](unsigned begin, unsigned end, const Run *const(&here)[3]) {
    const Run *best[2] = {};
    for (const Run *run : here) {
      if (!run)
        continue;
      if (!best[0] || run->toucher.cluster < best[0]->toucher.cluster) {
        best[1] = best[0];
        best[0] = run;
      } else if (!best[1] || run->toucher.cluster < best[1]->toucher.cluster) {
        best[1] = run;
      }
    }
    for (unsigned i = 0; i < 2; ++i)
      if (best[i])
        add(result[i], begin, end, best[i]->toucher);
  });
  for (unsigned i = 0; i < 2; ++i)
    smallest[i] = std::move(result[i]);
}

void ClusterCompare::joinValues(Summary &summary, const Shadow::Values &added) {
  if (!summary.written)
    summary.written = std::make_unique<Shadow::Values>();
  for (unsigned byte = 0; byte < pageBytes; ++byte)
    if (added.known[byte])
      summary.written->note(byte, added.varied[byte] ? std::nullopt : std::optional(added.value[byte]));
}

bool ClusterCompare::allWroteTheSame(const Summary &summary, unsigned begin, unsigned end) {
  for (unsigned byte = begin; byte < end; ++byte)
    if (!summary.written || summary.written->varied[byte])
      return false;
  return true;
}

void ClusterCompare::merge(uint32_t cluster, Shadow &shadow) {
  for (const auto &[number, page] : shadow.touchedPages()) {
    Runs runs[3];
    collect(shadow, *page, cluster, runs);
    std::lock_guard lock(mutex);
    Summary &summary = pages[number];
    for (unsigned kind = 0; kind < 3; ++kind)
      join(summary.smallest[kind], runs[kind]);
    if (page->values)
      joinValues(summary, *page->values);
  }
}

std::vector<ClusterCompare::Conflict> ClusterCompare::conflicts(uint64_t page, const Summary &summary) {
  std::vector<Conflict> result;
  constexpr unsigned read = unsigned(AccessKind::Read), write = unsigned(AccessKind::Write),
                     atomic = unsigned(AccessKind::Atomic);
  const auto &by = summary.smallest;
  if (by[write][0].empty() && by[atomic][0].empty())
    return result;
  const Runs *const lists[] = {&by[read][0],  &by[read][1],   &by[write][0],
                               &by[write][1], &by[atomic][0], &by[atomic][1]};
  sweep(lists, [&](unsigned begin, unsigned end, const Run *const(&here)[6]) {
    const Run *best[2] = {};
    for (unsigned i = 0; i < 6; ++i)
      for (unsigned j = i + 1; j < 6; ++j) {
        if (!here[i] || !here[j] || here[i]->toucher.cluster == here[j]->toucher.cluster)
          continue;
        if ((i < 2 && j < 2) || (i >= 4 && j >= 4)) // two reads do not conflict, nor do two atomics
          continue;
        if (i == 2 && j == 3 && allWroteTheSame(summary, begin, end))
          continue;
        const Run *pair[2] = {here[i], here[j]};
        if (pair[1]->toucher.cluster < pair[0]->toucher.cluster)
          std::swap(pair[0], pair[1]);
        auto order = [](const Run *const(&pair)[2]) {
          return std::pair(pair[0]->toucher.cluster, pair[1]->toucher.cluster);
        };
        if (!best[0] || order(pair) < order(best)) {
          best[0] = pair[0];
          best[1] = pair[1];
        }
      }
    if (!best[0])
      return;
    uint64_t address = page * pageBytes + begin;
    result.push_back({address, end - begin, best[0]->toucher, best[1]->toucher});
  });
  return result;
}

} // namespace tile::sim
