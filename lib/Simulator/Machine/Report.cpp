// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Machine/Report.h"

#include <algorithm>
#include <tuple>

namespace tile::sim {

std::string_view reportKindName(ReportKind kind) {
  switch (kind) {
  case ReportKind::Race:
    return "race";
  case ReportKind::MissingFence:
    return "missing-fence";
  case ReportKind::EarlyUse:
    return "early-use";
  case ReportKind::AccumulatorUse:
    return "accumulator-use";
  case ReportKind::Uninitialized:
    return "uninitialized";
  case ReportKind::OutOfBounds:
    return "out-of-bounds";
  case ReportKind::Misaligned:
    return "misaligned";
  case ReportKind::BarrierMisuse:
    return "barrier-misuse";
  case ReportKind::Deadlock:
    return "deadlock";
  case ReportKind::Endless:
    return "endless";
  case ReportKind::EarlyExit:
    return "early-exit";
  case ReportKind::Divergence:
    return "divergence";
  case ReportKind::Trap:
    return "trap";
  case ReportKind::InvalidOperand:
    return "invalid-operand";
  case ReportKind::TensorMemory:
    return "tensor-memory";
  }
  return "report";
}

namespace {

auto orderOf(const Actor &actor) {
  return std::tuple(actor.gpu, actor.cta[2], actor.cta[1], actor.cta[0], actor.warp, actor.lane, actor.loc.ptxLine);
}

/// Returns true if `a` is to be shown rather than `b`, which has the same locations: the smaller CTA, warp and lane
/// come first.
bool isBefore(const Report &a, const Report &b) {
  if (orderOf(a.actor) != orderOf(b.actor))
    return orderOf(a.actor) < orderOf(b.actor);
  for (size_t i = 0; i < std::min(a.notes.size(), b.notes.size()); ++i)
    if (orderOf(a.notes[i].first) != orderOf(b.notes[i].first))
      return orderOf(a.notes[i].first) < orderOf(b.notes[i].first);
  return a.message < b.message;
}

/// Returns the key by which reports are merged: the kind and the source lines. Returns an empty key if the report must
/// not be merged. The lines of a race are sorted, so it does not matter which of the accesses came first.
std::vector<uint64_t> sourceKey(const Report &report) {
  if (report.kind == ReportKind::Deadlock || report.kind == ReportKind::Endless)
    return {};
  std::vector<uint64_t> lines;
  auto add = [&](const SourceLoc &loc) {
    lines.push_back(uint64_t(loc.file) << 32 | loc.sourceLine);
    return loc.sourceLine != 0;
  };
  bool isKnown = add(report.actor.loc);
  for (const auto &note : report.notes)
    isKnown = add(note.first.loc) && isKnown;
  if (!isKnown)
    return {};
  if (report.kind == ReportKind::Race)
    std::sort(lines.begin(), lines.end());
  lines.insert(lines.begin(), {uint64_t(report.kind), report.isLatent, report.isFatal});
  return lines;
}

} // namespace

void Reports::add(Report report) {
  // The PTX lines come first in the key, because all() returns the reports in the order of the keys.
  std::vector<uint64_t> key{report.actor.loc.ptxLine, uint64_t(report.kind)};
  for (const auto &note : report.notes)
    key.push_back(note.first.loc.ptxLine);
  std::lock_guard lock(mutex);
  auto [entry, isNew] = found.try_emplace(std::move(key));
  if (isNew) {
    entry->second = std::move(report);
    return;
  }
  Report &known = entry->second;
  uint64_t count = known.count + report.count;
  if (isBefore(report, known))
    known = std::move(report);
  known.count = count;
}

bool Reports::empty() const {
  std::lock_guard lock(mutex);
  return found.empty();
}

std::vector<Report> Reports::all() const {
  std::lock_guard lock(mutex);
  std::vector<Report> reports;
  std::map<std::vector<uint64_t>, size_t> joined; // source key -> index of its report
  for (const auto &[key, report] : found) {
    const std::vector<uint64_t> lines = sourceKey(report);
    auto [entry, isNew] = joined.try_emplace(lines, reports.size());
    if (lines.empty() || isNew) {
      reports.push_back(report);
      continue;
    }
    reports[entry->second].count += report.count;
    ++reports[entry->second].instructions;
  }
  return reports;
}

} // namespace tile::sim
