// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, ldu and st. PTX ISA 9.7.9.8 to 9.7.9.12.
#include "Simulator/Exec/Async/MapAccess.h"
#include "Simulator/Exec/MemoryPort.h"
#include "Simulator/Exec/MemorySuffixes.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace tile::sim {

namespace {

constexpr unsigned maxBytes = 32; ///< maximum for one lane: v8.b32, v4.b64

LaneAccess describeAccess(const Instruction *instruction, AccessKind kind, const MemorySuffixes &suffixes,
                          unsigned bytes) {
  LaneAccess access;
  access.instruction = instruction;
  access.kind = kind;
  access.order = suffixes.order;
  access.scope = suffixes.scope;
  access.bytes = bytes;
  access.isNonCoherent = suffixes.isNonCoherent;
  return access;
}

/// Handles lanes whose words extend past the end of a global-memory buffer. They read the bytes in the buffer, and
/// arbitrary values for the bytes beyond it. Returns the remaining lanes.
LaneMask takeEdges(Warp &warp, LaneMask active, const uint64_t (&addresses)[warpSize], const LaneAccess &access,
                   std::byte *bytes, std::byte *(&host)[warpSize]) {
  constexpr std::byte unknown{0xa5};
  const GlobalMemory &memory = warp.cta.cluster.machine.memory;
  LaneMask inside = active;
  forLanes(active, [&](unsigned lane) {
    std::byte *word = bytes + lane * access.bytes;
    bool isPart = false, isWhole = true;
    for (unsigned index = 0; index < access.bytes; ++index) {
      const Allocation *allocation = memory.find(addresses[lane] + index, 1);
      word[index] = allocation ? allocation->host[addresses[lane] + index - allocation->address] : unknown;
      isPart |= allocation != nullptr;
      isWhole &= allocation != nullptr;
    }
    if (!isPart || isWhole)
      return;
    host[lane] = word;
    inside &= ~(LaneMask(1) << lane);
  });
  return inside;
}

/// Reads only the bytes of each word that `used` selects. A compiler may load further bytes without using them; such
/// bytes may lie outside a buffer or be written by another thread. `host` then points to words in `bytes`.
bool readUsed(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
              uint32_t used, std::byte *bytes, std::byte *(&host)[warpSize]) {
  constexpr std::byte unknown{0xa5};
  if (!checkAlignment(warp, space, lanes, addresses, access))
    return false;
  forLanes(lanes, [&](unsigned lane) {
    host[lane] = bytes + lane * access.bytes;
    std::fill_n(host[lane], access.bytes, unknown);
  });
  bool isObserved = false;
  for (unsigned begin = 0, end = 0; begin < access.bytes; begin = end) {
    if (!(used >> begin & 1)) {
      end = begin + 1;
      continue;
    }
    for (end = begin; end < access.bytes && (used >> end & 1);)
      ++end;
    LaneAccess part = access;
    part.isPart = true;
    part.bytes = end - begin;
    uint64_t partAddresses[warpSize] = {};
    std::byte *from[warpSize];
    forLanes(lanes, [&](unsigned lane) { partAddresses[lane] = addresses[lane] + begin; });
    if (!resolveLanes(warp, space, lanes, partAddresses, part, from))
      return false;
    std::copy_n(part.space, warpSize, access.space);
    forLanes(lanes, [&](unsigned lane) { std::memcpy(host[lane] + begin, from[lane], part.bytes); });
    Observer *observer = warp.cta.cluster.machine.observer;
    if (observer && !std::exchange(isObserved, true)) { // counts the whole word, which the hardware reads
      part.bytes = access.bytes;
      forLanes(lanes, [&](unsigned lane) { part.address[lane] -= begin; });
      observer->access(warp, part);
    }
  }
  return true;
}

template <typename T> class Load final : public Operation {
public:
  Load(const MemorySuffixes &suffixes, AddressSource address, std::vector<Dest<T>> dests, uint32_t usedBytes)
      : suffixes(suffixes), address(address), dests(std::move(dests)), usedBytes(usedBytes) {}

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    address.read(warp, active, addresses);
    LaneAccess access = describeAccess(instruction, AccessKind::Read, suffixes, sizeof(T) * dests.size());
    std::byte words[warpSize * maxBytes];
    const bool isGlobal = suffixes.space == Space::Global || suffixes.space == Space::Generic;
    LaneMask inside = suffixes.covers && isGlobal ? takeEdges(warp, active, addresses, access, words, host) : active;
    const uint32_t all = uint32_t((uint64_t(1) << access.bytes) - 1);
    if ((usedBytes & all) != all ? !readUsed(warp, suffixes.space, inside, addresses, access, usedBytes, words, host)
                                 : !resolveLanes(warp, suffixes.space, inside, addresses, access, host))
      return Step::Fault;
    Step step = Step::Next;
    if (suffixes.order != MemoryOrder::Weak && inside) {
      const unsigned lane = firstLane(inside);
      step = warp.notePoll(fragment, lane, access.space[lane] == Space::Global);
    }
    T values[warpSize];
    for (size_t i = 0; i < dests.size(); ++i) {
      forLanes(active, [&](unsigned lane) { std::memcpy(&values[lane], host[lane] + i * sizeof(T), sizeof(T)); });
      dests[i].write(warp, active, values);
    }
    return step;
  }

private:
  MemorySuffixes suffixes;
  AddressSource address;
  std::vector<Dest<T>> dests;
  uint32_t usedBytes; ///< bit i tells whether byte i of the word is used
};

template <typename T> class Store final : public Operation {
public:
  Store(const MemorySuffixes &suffixes, AddressSource address, std::vector<Source<T>> sources)
      : suffixes(suffixes), address(address), sources(std::move(sources)) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    address.read(warp, active, addresses);
    LaneAccess access = describeAccess(instruction, AccessKind::Write, suffixes, sizeof(T) * sources.size());
    std::byte written[warpSize * maxBytes];
    if (warp.cta.cluster.machine.checker) {
      for (size_t i = 0; i < sources.size(); ++i)
        forLanes(active, [&](unsigned lane) {
          T value = sources[i].one(warp, lane);
          std::memcpy(written + lane * access.bytes + i * sizeof(T), &value, sizeof(T));
        });
      access.values = written;
    }
    if (!resolveLanes(warp, suffixes.space, active, addresses, access, host))
      return Step::Fault;
    T scratch[warpSize];
    for (size_t i = 0; i < sources.size(); ++i) {
      const T *values = sources[i].read(warp, scratch);
      forLanes(active, [&](unsigned lane) { std::memcpy(host[lane] + i * sizeof(T), &values[lane], sizeof(T)); });
    }
    if (warp.cta.cluster.machine.program.makesMaps)
      noteStoredMaps(warp, access);
    if (active && access.space[firstLane(active)] == Space::Global)
      warp.cta.cluster.noteGlobalChange();
    else
      warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  MemorySuffixes suffixes;
  AddressSource address;
  std::vector<Source<T>> sources;
};

/// st.bulk: writes zeros to shared memory. PTX ISA 9.7.9.13.
class BulkStore final : public Operation {
public:
  BulkStore(Space space, AddressSource address, Source<uint64_t> size) : space(space), address(address), size(size) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint64_t addresses[warpSize];
    address.read(warp, active, addresses);
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
      if (const unsigned lane = firstLane(remaining); size.one(warp, lane) % wordBytes != 0)
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
                          fmt::format("st.bulk of {} bytes, not a multiple of {}", size.one(warp, lane), wordBytes));
    for (uint64_t offset = 0; active; offset += wordBytes) {
      for (LaneMask remaining = active; remaining; remaining &= remaining - 1)
        if (const unsigned lane = firstLane(remaining); offset >= size.one(warp, lane))
          active &= ~(LaneMask(1) << lane);
      if (!writeWords(warp, active, addresses))
        return Step::Fault;
    }
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  static constexpr uint64_t wordBytes = 8;

  /// Writes one word for each lane and advances the addresses to the next words.
  bool writeWords(Warp &warp, LaneMask active, uint64_t (&addresses)[warpSize]) const {
    static constexpr uint64_t zeros[warpSize] = {};
    std::byte *host[warpSize];
    LaneAccess access;
    access.instruction = instruction;
    access.kind = AccessKind::Write;
    access.bytes = wordBytes;
    access.values = reinterpret_cast<const std::byte *>(zeros);
    if (active && !resolveLanes(warp, space, active, addresses, access, host))
      return false;
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      const unsigned lane = firstLane(remaining);
      if (access.space[lane] != Space::Shared) {
        warp.fault(ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
                   "st.bulk can write only to shared memory");
        return false;
      }
      std::memset(host[lane], 0, wordBytes);
      addresses[lane] += wordBytes;
    }
    return true;
  }

  Space space;
  AddressSource address;
  Source<uint64_t> size;
};

/// Decodes .bulk{.weak}{.shared::cta} [a], size, 0.
Result<OperationPtr> decodeBulkStore(Decoding &d) {
  d.take("weak");
  const Space space = d.take("shared::cta") ? Space::Shared : Space::Generic;
  if (!d.finished(3) || d.operand(2).kind != Operand::Kind::Immediate || d.operand(2).bits != 0)
    return d.unsupported();
  return make<BulkStore>(space, d.address(d.operand(0)), d.source<uint64_t>(1));
}

template <typename T> OperationPtr makeLoad(Decoding &d, const MemorySuffixes &suffixes) {
  std::vector<Dest<T>> dests;
  for (const Operand &element : elementsOf(d.operand(0)))
    dests.push_back(d.dest<T>(element));
  return make<Load<T>>(suffixes, d.address(d.operand(1)), std::move(dests), d.instruction.usedBytes);
}

template <typename T> OperationPtr makeStore(Decoding &d, const MemorySuffixes &suffixes) {
  std::vector<Source<T>> sources;
  for (const Operand &element : elementsOf(d.operand(1)))
    sources.push_back(d.source<T>(element));
  return make<Store<T>>(suffixes, d.address(d.operand(0)), std::move(sources));
}

/// Changes the space of call parameters to local memory, where Program.cpp places them.
void placeCallParameters(Decoding &d, const Operand &address, MemorySuffixes &suffixes) {
  if (suffixes.space != Space::Param || address.elements.empty())
    return;
  const Operand &base = address.elements.front();
  if (base.kind == Operand::Kind::Symbol && !d.program.isEntryParameter(base.index))
    suffixes.space = Space::Local;
}

/// Takes the suffixes up to the type. Returns nullopt if one of them is unknown.
std::optional<Type> takeAll(Decoding &d, MemorySuffixes &suffixes, unsigned &vector) {
  takeOrderAndSpace(d, suffixes);
  takeCacheHints(d, suffixes);
  takeOrderAndSpace(d, suffixes); // CUDA's __stwt is `st.wt.global`
  vector = takeVector(d);
  std::optional<Type> type = d.takeType();
  if (!type || vector * bitWidth(*type) > 8 * maxBytes)
    return std::nullopt;
  return d.finished(suffixes.hasPolicy ? 3 : 2) ? type : std::nullopt;
}

Result<OperationPtr> decodeLoad(Decoding &d) {
  MemorySuffixes suffixes;
  unsigned vector = 1;
  std::optional<Type> type = takeAll(d, suffixes, vector);
  if (!type || elementsOf(d.operand(0)).size() != vector)
    return d.unsupported();
  placeCallParameters(d, d.operand(1), suffixes);
  switch (*type) {
  case Type::S8:
    return makeLoad<int8_t>(d, suffixes);
  case Type::S16:
    return makeLoad<int16_t>(d, suffixes);
  case Type::S32:
    return makeLoad<int32_t>(d, suffixes);
  default:
    break;
  }
  switch (bitWidth(*type)) {
  case 8:
    return makeLoad<uint8_t>(d, suffixes);
  case 16:
    return makeLoad<uint16_t>(d, suffixes);
  case 32:
    return makeLoad<uint32_t>(d, suffixes);
  case 64:
    return makeLoad<uint64_t>(d, suffixes);
  case 128:
    return makeLoad<unsigned __int128>(d, suffixes);
  default:
    return d.unsupported();
  }
}

Result<OperationPtr> decodeStore(Decoding &d) {
  if (d.take("async"))
    return decodeAsyncStore(d);
  if (d.take("bulk"))
    return decodeBulkStore(d);
  MemorySuffixes suffixes;
  unsigned vector = 1;
  std::optional<Type> type = takeAll(d, suffixes, vector);
  if (!type || elementsOf(d.operand(1)).size() != vector)
    return d.unsupported();
  placeCallParameters(d, d.operand(0), suffixes);
  if (suffixes.space == Space::Param || suffixes.space == Space::Const)
    return d.error("parameters and constants cannot be written");
  bool isDouble = *type == Type::F64, isFloat = *type == Type::F32;
  switch (bitWidth(*type)) {
  case 8:
    return makeStore<uint8_t>(d, suffixes);
  case 16:
    return makeStore<uint16_t>(d, suffixes);
  case 32: // a float constant may be a decimal, so it is read according to the source's type
    return isFloat ? makeStore<float>(d, suffixes) : makeStore<uint32_t>(d, suffixes);
  case 64:
    return isDouble ? makeStore<double>(d, suffixes) : makeStore<uint64_t>(d, suffixes);
  case 128:
    return makeStore<unsigned __int128>(d, suffixes);
  default:
    return d.unsupported();
  }
}

} // namespace

std::span<const DecoderEntry> memoryDecoders() {
  static constexpr DecoderEntry table[] = {{"ld", decodeLoad}, {"ldu", decodeLoad}, {"st", decodeStore}};
  return table;
}

} // namespace tile::sim
