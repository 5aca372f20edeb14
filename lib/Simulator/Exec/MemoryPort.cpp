// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/MemoryPort.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr uint32_t widestAlignment = 32; ///< in bytes; PTX ISA 6.4.1: an access is aligned to its size

struct Where {
  Space space = Space::Generic; ///< stays Generic if a generic address lies in no space
  uint64_t address = 0;
  uint32_t rank = 0;
  std::byte *host = nullptr;
};

/// Replaces a generic `space` and `address` by the space that contains the address and the address within it.
void classify(const Machine &machine, Space &space, uint64_t &address) {
  if (space != Space::Generic)
    return;
  if (address >= globalBase)
    space = Space::Global;
  else if (address >= paramWindow && address < paramWindow + windowSize)
    space = Space::Param;
  else if (address >= localWindow)
    space = Space::Local;
  else if (address >= sharedWindow)
    space = Space::Shared;
  else
    space = Space::Global;
  if (space != Space::Global)
    address &= windowSize - 1;
  if (space == Space::Param && address >= machine.program.parameterBytes)
    space = Space::Const;
}

/// Returns the CTA that owns a shared address and sets `address` to the address within that CTA. Returns null if there
/// is no such CTA.
Cta *sharedOwner(Warp &warp, uint64_t &address) {
  uint64_t rank = address >> sharedRankShift;
  address &= sharedOffsetMask;
  return warp.cta.cluster.cta(rank);
}

Where locate(Warp &warp, Space space, uint64_t address, unsigned lane, uint64_t bytes) {
  Machine &machine = warp.cta.cluster.machine;
  classify(machine, space, address);
  Where where{space, address, warp.cta.rank, nullptr};
  switch (space) {
  case Space::Global:
    if (const Allocation *allocation = machine.memory.find(address, bytes))
      where.host = allocation->host + (address - allocation->address);
    break;
  case Space::Shared:
    if (Cta *owner = sharedOwner(warp, where.address)) {
      where.rank = owner->rank;
      where.host = owner->shared(where.address, bytes);
      where.address -= sharedBase;
    }
    break;
  case Space::Local:
    if (isWithin(address, bytes, machine.program.localBytes))
      where.host = warp.local(lane) + address;
    break;
  case Space::Param:
    if (const std::vector<std::byte> &parameters = machine.config.parametersOf(warp.cta.cluster.gpu);
        isWithin(address, bytes, parameters.size()))
      // Safe, because mayAccess rejects writes to parameters.
      where.host = const_cast<std::byte *>(parameters.data()) + address;
    break;
  case Space::Const: // constants follow the parameters
    if (address >= machine.program.parameterBytes && isWithin(address, bytes, machine.program.constants.size()))
      where.host = const_cast<std::byte *>(machine.program.constants.data()) + address;
    break;
  case Space::Generic:
  case Space::Tensor:
    break;
  }
  return where;
}

std::string describeAddress(Warp &warp, Space space, uint64_t address) {
  Machine &machine = warp.cta.cluster.machine;
  classify(machine, space, address);
  if (space == Space::Global)
    return machine.memory.describe(address);
  if (space != Space::Shared)
    return fmt::format("{} address {:#x}", spaceName(space), address);
  Cta *owner = sharedOwner(warp, address);
  if (!owner)
    return fmt::format("shared memory of a CTA that the cluster does not have (address {:#x})", address);
  return fmt::format("shared+{}, of {} bytes of shared memory", int64_t(address) - sharedBase, owner->sharedSize());
}

std::string_view accessName(AccessKind kind) {
  return kind == AccessKind::Read ? "read" : kind == AccessKind::Write ? "write" : "atomic access";
}

bool reportOutOfBounds(Warp &warp, const SourceLoc &loc, unsigned lane, std::string_view what, uint64_t bytes,
                       Space space, uint64_t address) {
  warp.fault(ReportKind::OutOfBounds, loc, lane,
             fmt::format("{} of {} bytes at {}", what, bytes, describeAddress(warp, space, address)));
  return false;
}

bool reportMisaligned(Warp &warp, const SourceLoc &loc, unsigned lane, std::string_view what, uint64_t bytes,
                      uint32_t alignment, Space space, uint64_t address) {
  warp.fault(ReportKind::Misaligned, loc, lane,
             fmt::format("{} of {} bytes at {}: address {:#x} is not a multiple of {}", what, bytes,
                         describeAddress(warp, space, address), address, alignment));
  return false;
}

/// Returns true if the access is allowed in this space. Parameters and constants cannot be written (PTX ISA, "st").
/// Atomics access shared and global memory ("atom"), and vector atomics only global memory.
bool mayAccess(const LaneAccess &access, Space space) {
  if (access.kind == AccessKind::Read)
    return true;
  if (access.kind == AccessKind::Write)
    return space != Space::Param && space != Space::Const;
  return space == Space::Global || (space == Space::Shared && !access.isVector);
}

bool reportSpace(Warp &warp, const LaneAccess &access, unsigned lane, Space space, uint64_t address) {
  warp.fault(ReportKind::InvalidOperand, access.instruction->loc, lane,
             fmt::format("{} of {} bytes at {}, where it is not allowed", accessName(access.kind), access.bytes,
                         describeAddress(warp, space, address)));
  return false;
}

bool reportExited(Warp &warp, const SourceLoc &loc, unsigned lane, std::string_view what, const Cta &owner) {
  warp.fault(ReportKind::EarlyExit, loc, lane,
             fmt::format("{} of shared memory of CTA ({},{},{}), which has ended: a cluster barrier must keep it alive",
                         what, owner.id[0], owner.id[1], owner.id[2]));
  return false;
}

} // namespace

bool resolveLanes(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
                  std::byte *(&host)[warpSize]) {
  Machine &machine = warp.cta.cluster.machine;
  const SourceLoc &loc = access.instruction->loc;
  uint32_t alignment = access.isPart ? 1 : std::min<uint32_t>(access.bytes & (~access.bytes + 1), widestAlignment);
  access.lanes = lanes;
  bool isSharedOrGlobal = false;
  for (LaneMask remaining = lanes; remaining; remaining &= remaining - 1) {
    unsigned lane = firstLane(remaining);
    uint64_t address = addresses[lane];
    if (address % alignment)
      return reportMisaligned(warp, loc, lane, accessName(access.kind), access.bytes, alignment, space, address);
    Where where = locate(warp, space, address, lane, access.bytes);
    if (!where.host)
      return reportOutOfBounds(warp, loc, lane, accessName(access.kind), access.bytes, space, address);
    if (!mayAccess(access, where.space))
      return reportSpace(warp, access, lane, space, address);
    if (where.rank != warp.cta.rank && warp.cta.cluster.cta(where.rank)->hasExited())
      return reportExited(warp, loc, lane, accessName(access.kind), *warp.cta.cluster.cta(where.rank));
    access.space[lane] = where.space;
    access.address[lane] = where.address;
    access.ctaRank[lane] = where.rank;
    host[lane] = where.host;
    isSharedOrGlobal |= where.space == Space::Global || where.space == Space::Shared;
  }
  if (!lanes || !isSharedOrGlobal)
    return true;
  if (machine.observer && !access.isPart)
    machine.observer->access(warp, access);
  if (machine.checker)
    machine.checker->access(warp, access);
  return true;
}

bool checkAlignment(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize],
                    const LaneAccess &access) {
  const uint32_t alignment = std::min<uint32_t>(access.bytes & (~access.bytes + 1), widestAlignment);
  for (LaneMask remaining = lanes; remaining; remaining &= remaining - 1)
    if (unsigned lane = firstLane(remaining); addresses[lane] % alignment)
      return reportMisaligned(warp, access.instruction->loc, lane, accessName(access.kind), access.bytes, alignment,
                              space, addresses[lane]);
  return true;
}

Cta *resolveSharedCta(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t &address) {
  if (isSharedGeneric(sharedAddress))
    sharedAddress &= windowSize - 1;
  uint64_t within = sharedAddress;
  Cta *owner = sharedAddress < windowSize ? sharedOwner(warp, within) : nullptr;
  if (!owner) {
    reportOutOfBounds(warp, loc, lane, "access", 0, Space::Shared, sharedAddress);
    return nullptr;
  }
  if (owner != &warp.cta && owner->hasExited()) {
    reportExited(warp, loc, lane, "access", *owner);
    return nullptr;
  }
  address = within;
  return owner;
}

std::byte *resolveShared(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t bytes,
                         uint32_t alignment, Range &range) {
  uint32_t address = 0;
  Cta *owner = resolveSharedCta(warp, loc, lane, sharedAddress, address);
  if (!owner)
    return nullptr;
  if (address % alignment) {
    reportMisaligned(warp, loc, lane, "access", bytes, alignment, Space::Shared, sharedAddress);
    return nullptr;
  }
  std::byte *host = owner->shared(address, bytes);
  if (!host) {
    reportOutOfBounds(warp, loc, lane, "access", bytes, Space::Shared, sharedAddress);
    return nullptr;
  }
  range = {Space::Shared, owner->rank, address - sharedBase, bytes};
  return host;
}

std::byte *peekMemory(Warp &warp, Space space, unsigned lane, uint64_t address, uint64_t bytes) {
  return locate(warp, space, address, lane, bytes).host;
}

std::byte *resolveGlobal(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, uint64_t bytes,
                         uint32_t alignment, Range &range) {
  if (address % alignment) {
    reportMisaligned(warp, loc, lane, "access", bytes, alignment, Space::Global, address);
    return nullptr;
  }
  const Allocation *allocation = warp.cta.cluster.machine.memory.find(address, bytes);
  if (!allocation) {
    reportOutOfBounds(warp, loc, lane, "access", bytes, Space::Global, address);
    return nullptr;
  }
  range = {Space::Global, 0, address, uint32_t(bytes)};
  return allocation->host + (address - allocation->address);
}

} // namespace tile::sim
