// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Async/MapAccess.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr uint32_t mapAlignment = 64; ///< CUDA driver API: alignment of a CUtensorMap

uint64_t hashOf(const std::byte *bytes) { // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t i = 0; i < tensorMapBytes; ++i)
    hash = (hash ^ uint64_t(bytes[i])) * 0x100000001b3;
  return hash;
}

} // namespace

std::byte *resolveTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, Space space, uint64_t address,
                            AccessKind kind, std::initializer_list<Space> possible) {
  if (address % mapAlignment) {
    warp.fault(ReportKind::Misaligned, instruction.loc, lane,
               fmt::format("a tensor map at {:#x}, which is not a multiple of {}", address, mapAlignment));
    return nullptr;
  }
  LaneAccess access;
  access.instruction = &instruction;
  access.kind = kind;
  access.bytes = tensorMapBytes;
  uint64_t addresses[warpSize] = {};
  addresses[lane] = address;
  std::byte *host[warpSize] = {};
  if (!resolveLanes(warp, space, 1u << lane, addresses, access, host))
    return nullptr;
  if (std::find(possible.begin(), possible.end(), access.space[lane]) != possible.end())
    return host[lane];
  warp.fault(ReportKind::InvalidOperand, instruction.loc, lane,
             fmt::format("a tensor map at {:#x}, in {} memory; {} cannot read one there", address,
                         spaceName(access.space[lane]), instruction.text()));
  return nullptr;
}

bool loadTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address, TensorMap &map) {
  const std::byte *bytes = resolveTensorMap(warp, instruction, lane, Space::Generic, address, AccessKind::Read,
                                            {Space::Param, Space::Const, Space::Global});
  if (!bytes)
    return false;
  runtime::Result<TensorMap> decoded = decodeTensorMap(bytes);
  if (!decoded) {
    warp.fault(ReportKind::InvalidOperand, instruction.loc, lane,
               fmt::format("the tensor map at {:#x}: {}", address, decoded.error().message));
    return false;
  }
  map = *decoded;
  if (!map.madeByKernel || address < globalBase)
    return true;
  auto acquired = warp.cta.acquiredMaps.find(address);
  const bool isAcquired = acquired != warp.cta.acquiredMaps.end() && acquired->second.hash == hashOf(bytes);
  if (isAcquired && acquired->second.isReleased)
    return true;
  if (isAcquired)
    warp.fault(ReportKind::MissingFence, instruction.loc, lane,
               fmt::format("the tensor map at {:#x} was made by the kernel, but between its last change and its "
                           "fence.proxy.tensormap::generic.acquire, no fence.proxy.tensormap::generic.release "
                           "has been executed",
                           address));
  else
    warp.fault(
        ReportKind::MissingFence, instruction.loc, lane,
        fmt::format("the tensor map at {:#x} was made by the kernel, and {} fence.proxy.tensormap::generic.acquire "
                    "has been executed for it",
                    address, acquired == warp.cta.acquiredMaps.end() ? "no" : "since its last change no"));
  return false;
}

bool acquireTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address) {
  const std::byte *bytes =
      resolveTensorMap(warp, instruction, lane, Space::Generic, address, AccessKind::Read, {Space::Global});
  if (bytes)
    warp.cta.acquiredMaps[address] = {hashOf(bytes), !warp.cta.cluster.machine.unreleasedMaps.contains(address)};
  return bytes != nullptr;
}

void noteMapChange(Warp &warp, uint64_t address) {
  std::vector<uint64_t> &changed = warp.cta.changedMaps;
  if (std::find(changed.begin(), changed.end(), address) == changed.end())
    changed.push_back(address);
  warp.cta.cluster.machine.unreleasedMaps.add(address);
}

void noteStoredMaps(Warp &warp, const LaneAccess &access) {
  const GlobalMemory &memory = warp.cta.cluster.machine.memory;
  forLanes(access.lanes, [&](unsigned lane) {
    if (access.space[lane] != Space::Global)
      return;
    const uint64_t last = access.address[lane] / mapAlignment * mapAlignment;
    for (uint64_t start : {last, last - mapAlignment}) // the field may be in either half of a map
      if (const Allocation *allocation = memory.find(start, tensorMapBytes);
          allocation && isTensorMap(allocation->host + (start - allocation->address)))
        noteMapChange(warp, start);
  });
}

void releaseTensorMaps(Warp &warp) {
  if (warp.cta.changedMaps.empty())
    return;
  warp.cta.cluster.machine.unreleasedMaps.release(warp.cta.changedMaps);
  warp.cta.changedMaps.clear();
}

} // namespace tile::sim
