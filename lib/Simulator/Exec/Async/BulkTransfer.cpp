// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/BulkTransfer.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr uint32_t lineBytes = 128; ///< a swizzle moves bytes only within such a line

/// Returns how many of the remaining rows to move next: some or all of them.
uint64_t partOf(uint64_t left, Random &random) {
  return random.below(3) == 0 ? left : 1 + random.below(left);
}

class Transfer : public AsyncOperation {
public:
  Transfer(const TransferPlan &plan, const SharedBox &box)
      : rows(plan.rows), base(plan.base), baseOffset(plan.baseOffset), box(box), reducer(plan.reducer), warp(plan.warp),
        lane(plan.lane), text(plan.instruction.text()), issuer(plan.warp.actor(plan.instruction.loc, plan.lane)) {
    if (plan.map) {
      map = *plan.map;
      hasMap = true;
    }
  }

  std::string describe() const override { return fmt::format("{} is in flight", text); }

protected:
  /// Returns the host address of shared address 0, or null after a report if the CTA has exited.
  std::byte *sharedBase0() {
    if (box.cta->hasExited() && !reportedExit) {
      reportedExit = true;
      Report report;
      report.kind = ReportKind::EarlyExit;
      report.actor = issuer;
      report.message = fmt::format("{} uses shared memory of CTA ({},{},{}) after its end", text, box.cta->id[0],
                                   box.cta->id[1], box.cta->id[2]);
      report.isFatal = true;
      warp.cta.cluster.machine.reports.add(std::move(report));
    }
    return box.cta->shared(sharedBase, 0) - sharedBase;
  }

  std::byte *host(const BoxRows::Row &row) const { return base + (row.offset - baseOffset); }

  BoxRows rows;
  std::byte *base;
  int64_t baseOffset;
  SharedBox box;
  Reducer reducer;
  Warp &warp;
  unsigned lane;
  std::string text;
  Actor issuer;
  TensorMap map;
  bool hasMap = false, reportedExit = false;
  uint64_t next = 0; ///< the next row to move
};

class IntoShared final : public Transfer {
public:
  IntoShared(const TransferPlan &plan, const SharedBox &box, const BarrierRef &barrier)
      : Transfer(plan, box), barrierCta(*barrier.cta), barrier(barrier.address), buffer(plan.rows.rowBytes()),
        old(plan.reducer ? buffer.size() : 0) {}

  bool advance(Random &random) override {
    uint64_t end = next + partOf(rows.count() - next, random);
    uint32_t bytes = (end - next) * rows.rowBytes();
    std::byte *shared = sharedBase0();
    for (; next < end; ++next)
      copyRow(shared);
    finishCopy(barrierCta, barrier, bytes, issuer);
    return next == rows.count();
  }

private:
  void copyRow(std::byte *shared) {
    BoxRows::Row row = rows.row(next);
    if (hasMap && row.bytes < buffer.size())
      fillOutside(map, buffer.data(), buffer.size());
    if (row.bytes)
      std::memcpy(buffer.data() + row.skip, host(row), row.bytes);
    if (hasMap)
      convertLoaded(map.type, buffer.data() + row.skip, row.bytes);
    uint32_t address = box.address + next * rows.pitch();
    const std::byte *from = buffer.data();
    if (reducer) {
      readSwizzled(shared, address, box.swizzle, old.data(), old.size());
      reducer(old.data(), buffer.data(), buffer.size());
      from = old.data();
    }
    writeSwizzled(shared, address, box.swizzle, from, buffer.size());
  }

  Cta &barrierCta;
  uint32_t barrier; ///< address in the barrier's CTA
  std::vector<std::byte> buffer, old;
};

class OutOfShared final : public Transfer {
public:
  OutOfShared(const TransferPlan &plan, const SharedBox &box)
      : Transfer(plan, box), group(plan.warp.bulkGroups(plan.lane).read.start()), buffer(plan.rows.totalBytes()) {
    plan.warp.bulkGroups(plan.lane).done.start();
  }

  bool advance(Random &random) override {
    uint64_t end = next + partOf(rows.count() - next, random);
    if (!wasRead)
      read(end);
    else
      write(end);
    if (next < rows.count())
      return false;
    warp.cta.cluster.noteGlobalChange();
    Warp::BulkGroups &groups = warp.bulkGroups(lane);
    (wasRead ? groups.done : groups.read).finish(group);
    next = 0;
    return std::exchange(wasRead, true);
  }

private:
  void read(uint64_t end) {
    std::byte *shared = sharedBase0();
    for (; next < end; ++next) {
      std::byte *to = buffer.data() + next * rows.rowBytes();
      readSwizzled(shared, box.address + next * rows.pitch(), box.swizzle, to, rows.rowBytes());
    }
  }

  void write(uint64_t end) {
    for (; next < end; ++next) {
      BoxRows::Row row = rows.row(next);
      const std::byte *from = buffer.data() + next * rows.rowBytes() + row.skip;
      if (row.bytes == 0)
        continue;
      if (reducer)
        reducer(host(row), from, row.bytes);
      else
        std::memcpy(host(row), from, row.bytes);
    }
  }

  uint64_t group;
  std::vector<std::byte> buffer;
  bool wasRead = false;
};

/// Reports the rows in global memory to the checker. Adjacent rows are reported as one range.
void noteRows(const TransferPlan &plan, AccessKind kind, Epoch finished) {
  Checker *checker = plan.warp.cta.cluster.machine.checker;
  if (!checker)
    return;
  int64_t first = 0, end = 0;
  auto flush = [&] {
    Range range = plan.baseRange;
    range.address += first;
    range.bytes = end - first;
    if (range.bytes)
      checker->asyncAccess(plan.warp, plan.lane, plan.instruction.loc, kind, range, true, finished);
  };
  for (uint64_t index = 0; index < plan.rows.count(); ++index) {
    BoxRows::Row row = plan.rows.row(index);
    if (row.bytes == 0)
      continue;
    if (row.offset != end) {
      flush();
      first = row.offset;
    }
    end = row.offset + row.bytes;
  }
  flush();
}

/// Reports the bytes in shared memory to the checker: all of them or, if the rows are shorter than the span of their
/// swizzle, the chunks to which the swizzle moves the rows.
void noteBox(const TransferPlan &plan, const SharedBox &box, AccessKind kind, Epoch finished) {
  constexpr uint32_t chunkBytes = 16;
  Checker *checker = plan.warp.cta.cluster.machine.checker;
  if (!checker)
    return;
  auto note = [&](uint32_t address, uint32_t bytes) {
    checker->asyncAccess(plan.warp, plan.lane, plan.instruction.loc, kind,
                         {Space::Shared, box.cta->rank, address - sharedBase, bytes}, true, finished);
  };
  const BoxRows &rows = plan.rows;
  if (rows.pitch() == rows.rowBytes())
    return note(box.address, rows.totalBytes());
  for (uint32_t row = 0; row < rows.count(); ++row)
    for (uint32_t chunk = 0; chunk < rows.rowBytes(); chunk += chunkBytes)
      note(swizzled(box.address + row * rows.pitch() + chunk, box.swizzle), chunkBytes);
}

} // namespace

bool resolveRows(TransferPlan &plan, uint64_t address) {
  int64_t first = 0, end = 0;
  plan.baseRange = {Space::Global, 0, address, 0};
  if (!plan.rows.bounds(first, end))
    return true;
  Range whole;
  std::byte *host = resolveGlobal(plan.warp, plan.instruction.loc, plan.lane, address + first, end - first, 1, whole);
  if (!host)
    return false;
  plan.base = host;
  plan.baseOffset = first;
  return true;
}

void observeCopy(const TransferPlan &plan, bool toShared) {
  Observer *observer = plan.warp.cta.cluster.machine.observer;
  if (!observer)
    return;
  observer->copy(plan.warp, plan.instruction, plan.rows.totalBytes(), toShared);
  for (uint64_t index = 0; index < plan.rows.count() && plan.baseRange.space == Space::Global; ++index)
    if (const BoxRows::Row row = plan.rows.row(index); row.bytes)
      observer->copyBytes(plan.warp, plan.instruction, plan.baseRange.address + row.offset, row.bytes, toShared);
}

bool resolveBox(const TransferPlan &plan, uint64_t address, uint32_t alignment, SharedBox &box) {
  uint32_t bytes = plan.rows.sharedBytes();
  if (box.swizzle != MapSwizzle::None)
    bytes = (bytes + lineBytes - 1) / lineBytes * lineBytes;
  Range range;
  if (!resolveShared(plan.warp, plan.instruction.loc, plan.lane, address, bytes, alignment, range))
    return false;
  box.cta = plan.warp.cta.cluster.cta(range.ctaRank);
  box.address = sharedBase + range.address;
  return true;
}

void startIntoShared(const TransferPlan &plan, const SharedBox &box, const BarrierRef &barrier) {
  Warp &warp = plan.warp;
  Epoch finished = announceCopy(barrier, warp, plan.instruction.loc, plan.lane, plan.rows.totalBytes());
  noteRows(plan, AccessKind::Read, finished);
  noteBox(plan, box, plan.reducer ? AccessKind::Atomic : AccessKind::Write, finished);
  warp.cta.cluster.start(std::make_unique<IntoShared>(plan, box, barrier));
}

void startOutOfShared(const TransferPlan &plan, const SharedBox &box) {
  Warp &warp = plan.warp;
  uint32_t group = warp.bulkGroups(plan.lane).read.committedGroups() + 1;
  if (warp.cta.cluster.machine.checker) {
    noteBox(plan, box, AccessKind::Read, {warp.component(Warp::Waitable::BulkReads), group});
    noteRows(plan, plan.reducer ? AccessKind::Atomic : AccessKind::Write,
             {warp.component(Warp::Waitable::Bulk), group});
  }
  warp.cta.cluster.start(std::make_unique<OutOfShared>(plan, box));
}

} // namespace tile::sim
