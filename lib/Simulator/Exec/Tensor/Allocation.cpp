// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.alloc, dealloc, relinquish_alloc_permit. PTX ISA 9.7.16.7.1.
//
// With cta_group::2, one warp of each CTA of the pair allocates the same columns. The two warps wait for each other.
#include "Simulator/Exec/Tensor/Tensor.h"

#include <bit>

namespace tile::sim::tensor {

namespace {

constexpr uint32_t minColumns = 32;

/// Reports an access to whole columns to the checker.
void noteColumns(Warp &warp, const SourceLoc &loc, unsigned column, unsigned columns, bool isAllocation) {
  if (Checker *checker = checkerOf(warp))
    checker->tensorAccess(warp, {.loc = loc,
                                 .isCollective = true,
                                 .isAllocation = isAllocation,
                                 .kind = AccessKind::Write,
                                 .range = rangeOf(warp.cta, 0, tensorLanes, column, columns),
                                 .finished = {}});
}

bool checkCount(Warp &warp, const Instruction &instruction, uint32_t columns) {
  if (std::has_single_bit(columns) && columns >= minColumns && columns <= tensorColumns)
    return true;
  return refuse(warp, ReportKind::InvalidOperand, instruction, -1,
                "{} of {} columns; a power of two from {} to {} is needed", instruction.text(), columns, minColumns,
                tensorColumns);
}

class Alloc final : public Operation {
public:
  Alloc(unsigned group, Space space, AddressSource destination, Source<uint32_t> count)
      : group(group), space(space), destination(destination), count(count) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    const uint32_t columns = count.one(warp, firstLane(active));
    if (fragment.progress == 0 && !begin(warp, columns))
      return Step::Fault;
    fragment.progress = 1;
    std::optional<unsigned> column =
        group == 1 ? warp.cta.tensor.allocate(columns, warp.index, instruction->loc) : allocateWithPeer(warp, columns);
    if (!column)
      return Step::Wait;
    noteColumns(warp, instruction->loc, *column, columns, true);
    warp.cta.cluster.noteProgress();
    return writeAddress(warp, active, *column);
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    if (fragment.progress == 0)
      return {};
    const uint32_t columns = count.one(warp, 0);
    if (group == 2 && !warp.cta.cluster.cta(warp.cta.rank ^ 1)->tensor.requested)
      return "waits for the tcgen05.alloc of the other CTA of the pair";
    std::string text = fmt::format("waits for {} columns of tensor memory; already allocated:", columns);
    for (const TensorMemory::Allocation &one : warp.cta.tensor.allocations())
      text += fmt::format(" {} (line {})", one.columns, one.loc.ptxLine);
    return text;
  }

private:
  bool begin(Warp &warp, uint32_t columns) const {
    TensorMemory &memory = warp.cta.tensor;
    if (!checkCount(warp, *instruction, columns))
      return false;
    if (!memory.mayAllocate)
      return refuse(warp, ReportKind::TensorMemory, *instruction, -1,
                    "{} after the CTA has executed tcgen05.relinquish_alloc_permit", instruction->text());
    if (group == 1)
      return true;
    Cta *peer = findPeer(warp, *instruction, -1);
    if (!peer)
      return false;
    Checker *checker = checkerOf(warp);
    if (checker && !checker->hasMet(warp, *peer)) // allowed; CUTLASS's tutorials do this
      warn(warp, ReportKind::TensorMemory, *instruction, -1,
           "{} before the CTAs of the pair have synchronized: the other CTA may not have begun; a cluster barrier must "
           "come "
           "first",
           instruction->text());
    if (peer->tensor.requested && peer->tensor.requested != columns)
      return refuse(warp, ReportKind::InvalidOperand, *instruction, -1,
                    "{} of {} columns, but the other CTA of the pair requests {}", instruction->text(), columns,
                    peer->tensor.requested);
    memory.requested = columns;
    memory.requestedBy = warp.index;
    warp.cta.cluster.noteProgress();
    return true;
  }

  /// Returns the first of the columns that a pair of CTAs allocates, or nullopt if the warp must wait. The warp that
  /// arrives second allocates for both CTAs; if there are not enough free columns, the warp that first finds some does.
  std::optional<unsigned> allocateWithPeer(Warp &warp, uint32_t columns) const {
    TensorMemory &own = warp.cta.tensor, &other = warp.cta.cluster.cta(warp.cta.rank ^ 1)->tensor;
    if (!own.granted && other.requested) {
      own.granted = own.allocate(columns, warp.index, instruction->loc, &other);
      if (!own.granted)
        return std::nullopt;
      other.granted = own.granted;
      other.requested = own.requested = 0;
      other.take(*own.granted, columns, other.requestedBy, instruction->loc);
      warp.cta.cluster.noteProgress();
    }
    return std::exchange(own.granted, std::nullopt);
  }

  Step writeAddress(Warp &warp, LaneMask active, uint32_t column) const {
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    uint32_t values[warpSize];
    destination.read(warp, active, addresses);
    std::fill(values, values + warpSize, column);
    LaneAccess access;
    access.instruction = instruction;
    access.kind = AccessKind::Write;
    access.bytes = sizeof(uint32_t);
    access.values = reinterpret_cast<const std::byte *>(values);
    if (!resolveLanes(warp, space, active, addresses, access, host))
      return Step::Fault;
    forLanes(active, [&](unsigned lane) { std::memcpy(host[lane], &column, sizeof(column)); });
    return Step::Next;
  }

  unsigned group;
  Space space;
  AddressSource destination;
  Source<uint32_t> count;
};

class Dealloc final : public Operation {
public:
  Dealloc(unsigned group, Source<uint32_t> address, Source<uint32_t> count)
      : group(group), address(address), count(count) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    const unsigned lane = firstLane(active);
    const TensorAddress at = TensorAddress::of(address.one(warp, lane));
    const uint32_t columns = count.one(warp, lane);
    if (!checkCount(warp, *instruction, columns) || (group == 2 && !findPeer(warp, *instruction, -1)))
      return Step::Fault;
    const TensorMemory::Allocation *found = at.lane == 0 ? warp.cta.tensor.find(at.column) : nullptr;
    if (!found || found->columns != columns) {
      refuse(warp, ReportKind::TensorMemory, *instruction, -1, "{} of {} columns at lane {}, column {}, {}",
             instruction->text(), columns, at.lane, at.column,
             found ? fmt::format("where {} were allocated", found->columns) : "where no allocation begins");
      return Step::Fault;
    }
    if (found->warp != warp.index) {
      refuse(warp, ReportKind::TensorMemory, *instruction, -1,
             "{} by warp {}; the columns were allocated by warp {} at line {}, which must free them",
             instruction->text(), warp.index, found->warp, found->loc.ptxLine);
      return Step::Fault;
    }
    noteColumns(warp, instruction->loc, at.column, columns, false);
    warp.cta.tensor.free(at.column);
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  unsigned group;
  Source<uint32_t> address, count;
};

class Relinquish final : public Operation {
public:
  Relinquish() { aligned = true; }
  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    warp.cta.tensor.mayAllocate = false;
    return Step::Next;
  }
};

/// Takes .cta_group.sync.aligned. Returns the number of the CTA group, or 0 on failure.
unsigned takeGroupOfWarp(Decoding &d) {
  unsigned group = takeCtaGroup(d);
  return group && d.take("sync") && d.take("aligned") ? group : 0;
}

} // namespace

Result<OperationPtr> decodeAlloc(Decoding &d) {
  unsigned group = takeGroupOfWarp(d);
  const Space space = d.takeOne({"shared::cta", "shared"}) >= 0 ? Space::Shared : Space::Generic;
  if (!group || !d.take("b32") || !d.finished(2))
    return d.failed ? d.error(d.failure) : d.unsupported();
  return decoded(d, make<Alloc>(group, space, d.address(d.operand(0)), d.source<uint32_t>(1)));
}

Result<OperationPtr> decodeDealloc(Decoding &d) {
  unsigned group = takeGroupOfWarp(d);
  if (!group || !d.take("b32") || !d.finished(2))
    return d.failed ? d.error(d.failure) : d.unsupported();
  return decoded(d, make<Dealloc>(group, d.source<uint32_t>(0), d.source<uint32_t>(1)));
}

Result<OperationPtr> decodeRelinquish(Decoding &d) {
  if (!takeGroupOfWarp(d) || !d.finished(0))
    return d.failed ? d.error(d.failure) : d.unsupported();
  return make<Relinquish>();
}

} // namespace tile::sim::tensor
