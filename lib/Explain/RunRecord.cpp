// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/RunRecord.h"

#include "Simulator/Profile/Transactions.h"

#include <algorithm>
#include <cstring>

namespace tile::explain {

using sim::Operand;

int64_t BufferView::rows() const {
  int64_t rows = 1;
  for (size_t dim = 0; dim + 1 < shape.size(); ++dim)
    rows *= shape[dim];
  return rows;
}

std::optional<std::pair<int64_t, int64_t>> BufferView::place(int64_t element) const {
  int64_t row = 0, column = 0;
  for (const Dimension &dim : dimensions) {
    const int64_t at = element / dim.stride;
    element %= dim.stride;
    if (at >= dim.size)
      return std::nullopt;
    row += at * dim.rows;
    column += dim.rows ? 0 : at;
  }
  return std::pair(row, column);
}

void BufferView::setShape(std::vector<int64_t> newShape, std::vector<int64_t> newStrides) {
  shape = std::move(newShape);
  strides = std::move(newStrides);
  dimensions.clear();
  int64_t rows = 1; // rows of the matrix that one step along a leading dimension spans
  for (size_t dim = shape.size(); dim-- > 0;) {
    const bool isColumn = dim + 1 == shape.size();
    if (strides[dim] > 0)
      dimensions.push_back({shape[dim], strides[dim], isColumn ? 0 : rows});
    rows *= isColumn ? 1 : shape[dim];
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const Dimension &a, const Dimension &b) { return a.stride > b.stride; });
}

RunRecord::RunRecord(std::vector<BufferView> views) : buffers(std::move(views)), lines(buffers.size()) {
  // A page can show only this many cells per side. Sides of cells are powers of two, so that tiles consist of whole
  // cells.
  constexpr int64_t maxCells = 64;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].isOutput || buffers[i].rows() <= 0 || buffers[i].columns() <= 0)
      continue;
    OutputMap map;
    map.buffer = i;
    while (map.rowsPerCell * maxCells < buffers[i].rows())
      map.rowsPerCell *= 2;
    while (map.columnsPerCell * maxCells < buffers[i].columns())
      map.columnsPerCell *= 2;
    map.rows = (buffers[i].rows() + map.rowsPerCell - 1) / map.rowsPerCell;
    map.columns = (buffers[i].columns() + map.columnsPerCell - 1) / map.columnsPerCell;
    map.cells.resize(map.rows * map.columns);
    maps.push_back(std::move(map));
  }
}

sim::Observer &RunRecord::begin(const sim::Program &running, std::span<const runner::DeviceArgument> arguments,
                                std::span<const uint64_t> values) {
  program = &running;
  kernel = &running.function;
  ptx = &running.module;
  counters.emplace(*kernel);
  globals.assign(kernel->instructions.size(), std::nullopt);
  shareds.assign(kernel->instructions.size(), std::nullopt);
  samples.assign(kernel->instructions.size(), 0);
  ranges.assign(buffers.size(), {0, 0});
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t view = 0; view < buffers.size(); ++view)
      if (arguments[i].buffer && arguments[i].parameter->name == buffers[view].name)
        ranges[view] = {values[i], values[i] + arguments[i].buffer->dataBytes()};
  return *this;
}

uint64_t RunRecord::valueOf(const sim::Warp &warp, const Operand &operand, unsigned lane) const {
  switch (operand.kind) {
  case Operand::Kind::Register: {
    const unsigned bytes = std::max(8u, sim::bitWidth(kernel->registers[operand.index].type)) / 8;
    uint64_t value = 0;
    std::memcpy(&value, warp.lanes<std::byte>(program->registerOffset(operand.index)) + size_t(lane) * bytes,
                std::min<size_t>(bytes, sizeof value));
    return value;
  }
  case Operand::Kind::Immediate:
    return operand.bits;
  case Operand::Kind::Symbol:
    return program->variableAddress(operand.index) + uint64_t(operand.offset);
  case Operand::Kind::Address:
    return valueOf(warp, operand.elements.front(), lane) + uint64_t(operand.offset);
  default:
    return 0;
  }
}

void RunRecord::issue(const sim::Warp &warp, const sim::Instruction &instruction, sim::LaneMask active) {
  counters->issue(warp, instruction, active);
  numCtas = std::max(numCtas, warp.cta.linearId + 1);
  const size_t index = &instruction - kernel->instructions.data();
  if (!active || index >= kernel->instructions.size())
    return;
  if (warp.cta.linearId == 0 && numEvents < maxEvents)
    record(warp, instruction, index, active);
}

/// Detects a retry: a waiting warp repeats the test of a barrier in a short loop until the test succeeds. Only one test
/// of such a loop is recorded.
bool RunRecord::isRetry(unsigned warp, const Event &event, bool isTest) {
  constexpr size_t longestLoop = 16; // instructions between two tests
  std::vector<Event> &stream = streams[warp];
  if (!stream.empty() && stream.back().instruction == event.instruction && stream.back().address == event.address)
    return true;
  const size_t last = lastTests[warp];
  if (!isTest || last == 0 || stream.size() - last > longestLoop || stream[last - 1].instruction != event.instruction ||
      stream[last - 1].address != event.address || stream[last - 1].value != event.value)
    return false;
  numEvents -= stream.size() - last;
  stream.resize(last);
  return true;
}

void RunRecord::record(const sim::Warp &warp, const sim::Instruction &instruction, size_t index, sim::LaneMask active) {
  const unsigned lane = sim::firstLane(active);
  if (streams.size() <= warp.index) {
    streams.resize(warp.index + 1);
    lastTests.resize(warp.index + 1);
  }
  Event event{uint32_t(index), 0, 0, uint32_t(std::popcount(active))};
  const std::vector<Operand> &operands = instruction.operands;
  if (instruction.name == "mbarrier") {
    const auto address = std::find_if(operands.begin(), operands.end(),
                                      [](const Operand &one) { return one.kind == Operand::Kind::Address; });
    if (address != operands.end()) {
      event.address = uint32_t(valueOf(warp, *address, lane));
      if (address + 1 != operands.end())
        event.value = valueOf(warp, address[1], lane);
    }
  } else if (instruction.name == "cp" && instruction.has("bulk") && !operands.empty()) {
    if (operands.back().kind == Operand::Kind::Address) // otherwise the last operand is a cache policy or a mask
      event.address = uint32_t(valueOf(warp, operands.back(), lane));
    for (const Operand &operand : operands)
      if (instruction.has("mbarrier::complete_tx::bytes") && operand.kind == Operand::Kind::Address)
        event.address = uint32_t(valueOf(warp, operand, lane)); // the barrier is the last address
  } else if (instruction.name == "bar" || instruction.name == "barrier") {
    event.address = operands.empty() ? 0 : uint32_t(valueOf(warp, operands[0], lane));
    event.value = operands.size() > 1 ? valueOf(warp, operands[1], lane) : 0;
  }
  const bool isTest = instruction.has("try_wait") || instruction.has("test_wait");
  if (isRetry(warp.index, event, isTest))
    return;
  streams[warp.index].push_back(event);
  if (isTest)
    lastTests[warp.index] = streams[warp.index].size();
  ++numEvents;
}

std::optional<size_t> RunRecord::findBuffer(uint64_t address) const {
  for (size_t i = 0; i < ranges.size(); ++i)
    if (address >= ranges[i].first && address < ranges[i].second)
      return i;
  return std::nullopt;
}

void RunRecord::sample(const sim::LaneAccess &access, sim::Space space, std::vector<std::optional<Request>> &into) {
  const size_t index = access.instruction - kernel->instructions.data();
  std::vector<uint64_t> addresses;
  Request request;
  request.space = space;
  request.kind = access.kind;
  request.bytes = access.bytes;
  request.addresses.assign(sim::warpSize, -1);
  uint64_t base = sim::sharedBase;
  sim::forLanes(access.lanes, [&](unsigned lane) {
    if (access.space[lane] != space)
      return;
    if (addresses.empty() && space == sim::Space::Global)
      if (const std::optional<size_t> buffer = findBuffer(access.address[lane])) {
        request.buffer = buffers[*buffer].name;
        base = ranges[*buffer].first;
      }
    addresses.push_back(access.address[lane]);
    request.addresses[lane] = int64_t(access.address[lane]);
  });
  if (addresses.empty())
    return;
  if (space == sim::Space::Global) {
    if (request.buffer.empty())
      base = *std::min_element(addresses.begin(), addresses.end()) / 128 * 128; // keeps the alignment of L2 lines
    const sim::Sectors sectors = sim::countSectors(addresses, access.bytes);
    request.actual = sectors.actual;
    request.ideal = sectors.ideal;
  } else {
    base = 0; // shared-memory addresses of checker and profiler are offsets
    const sim::Wavefronts wavefronts = sim::countWavefronts(addresses, access.bytes);
    request.actual = wavefronts.actual;
    request.ideal = wavefronts.ideal;
  }
  for (int64_t &address : request.addresses)
    if (address >= 0)
      address -= int64_t(base);
  std::optional<Request> &kept = into[index];
  const auto excess = [](const Request &one) { return int64_t(one.actual) - one.ideal; };
  if (!kept || excess(request) > excess(*kept) || (excess(request) == excess(*kept) && request.actual > kept->actual))
    kept = std::move(request);
}

void RunRecord::access(const sim::Warp &warp, const sim::LaneAccess &access) {
  counters->access(warp, access);
  const size_t index = access.instruction - kernel->instructions.data();
  if (index < samples.size() && samples[index]++ < maxSamples) {
    sample(access, sim::Space::Global, globals);
    sample(access, sim::Space::Shared, shareds);
  }
  sim::forLanes(access.lanes, [&](unsigned lane) {
    if (access.space[lane] != sim::Space::Global)
      return;
    if (access.kind == sim::AccessKind::Read)
      noteRead(warp, access.address[lane], access.bytes);
    else
      noteWrite(warp, access.address[lane], access.bytes);
  });
}

void RunRecord::noteRead(const sim::Warp &warp, uint64_t address, uint64_t bytes) {
  const std::optional<size_t> buffer = findBuffer(address);
  if (!buffer)
    return;
  std::vector<LineSet> &sets = lines[*buffer];
  if (sets.size() <= warp.cta.linearId)
    sets.resize(warp.cta.linearId + 1);
  const uint64_t first = ranges[*buffer].first / l2LineBytes;
  sets[warp.cta.linearId].add(address / l2LineBytes - first, (address + bytes - 1) / l2LineBytes - first);
}

void RunRecord::noteWrite(const sim::Warp &warp, uint64_t address, uint64_t bytes) {
  const std::optional<size_t> buffer = findBuffer(address);
  for (OutputMap &map : maps)
    if (buffer && map.buffer == *buffer) {
      const uint64_t offset = address - ranges[*buffer].first;
      const unsigned element = buffers[*buffer].elementBytes;
      markElements(map, warp.cta.linearId, int64_t(offset / element), int64_t((offset + bytes - 1) / element));
    }
}

/// Marks the cells of elements `first` to `last` of the array. Only the first and the last of the elements within a
/// cell are examined.
void RunRecord::markElements(OutputMap &map, uint64_t cta, int64_t first, int64_t last) {
  const BufferView &view = buffers[map.buffer];
  const int64_t step = view.strides.empty() || view.strides.back() == 1 ? std::max<int64_t>(map.columnsPerCell, 1) : 1;
  if (cellsOfCta.size() <= cta)
    cellsOfCta.resize(cta + 1);
  for (int64_t element = first; element <= last; element = element < last ? std::min(element + step, last) : last + 1) {
    const auto place = view.place(element);
    if (!place)
      continue;
    Cell &cell = map.cells[place->first / map.rowsPerCell * map.columns + place->second / map.columnsPerCell];
    if (cell.cta < 0)
      cell = {int32_t(cta), cellsOfCta[cta]++};
  }
}

void RunRecord::copy(const sim::Warp &warp, const sim::Instruction &instruction, uint64_t bytes, bool toShared) {
  counters->copy(warp, instruction, bytes, toShared);
  if (warp.cta.linearId == 0 && warp.index < streams.size() && !streams[warp.index].empty() &&
      &kernel->instructions[streams[warp.index].back().instruction] == &instruction)
    streams[warp.index].back().value = bytes;
}

void RunRecord::copyBytes(const sim::Warp &warp, const sim::Instruction &, uint64_t address, uint64_t bytes,
                          bool toShared) {
  if (toShared)
    noteRead(warp, address, bytes);
  else
    noteWrite(warp, address, bytes);
}

void RunRecord::tensorCore(const sim::Warp &warp, const sim::Instruction &instruction, uint64_t multiplyAdds) {
  counters->tensorCore(warp, instruction, multiplyAdds);
  if (warp.cta.linearId == 0 && warp.index < streams.size() && !streams[warp.index].empty() &&
      &kernel->instructions[streams[warp.index].back().instruction] == &instruction)
    streams[warp.index].back().value = multiplyAdds;
}

void RunRecord::wait(const sim::Warp &warp, const sim::Instruction &instruction) {
  counters->wait(warp, instruction);
}

} // namespace tile::explain
