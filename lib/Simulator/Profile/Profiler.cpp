// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Profile/Profiler.h"

#include "Target/Plan/Residency.h"

#include "Simulator/Profile/Transactions.h"

#include <algorithm>
#include <bit>

namespace tile::sim {

std::string_view counterName(Counter counter) {
  static constexpr std::string_view names[] = {
      "instructions",         "lanes",        "global_requests", "global_sectors",
      "global_sectors_ideal", "global_bytes", "shared_requests", "shared_wavefronts",
      "shared_conflicts",     "shared_bytes", "copied_in_bytes", "copied_out_bytes",
      "multiply_adds",        "waits"};
  static_assert(std::size(names) == numCounters);
  return names[unsigned(counter)];
}

Counts &Counts::operator+=(const Counts &other) {
  for (unsigned i = 0; i < numCounters; ++i)
    values[i] += other.values[i];
  return *this;
}

Occupancy computeOccupancy(const target::GpuTarget &target, uint32_t registers, uint32_t threads,
                           uint32_t sharedBytes) {
  const target::Residency held =
      target::planResidency(target, {.threads = threads, .registers = registers, .sharedBytes = sharedBytes});
  const int64_t ctas = held.ctas();
  const double warps = std::max((threads + warpSize - 1) / warpSize, 1u);
  return {registers,
          threads,
          sharedBytes,
          uint32_t(ctas),
          double(ctas) * warps / target.maxWarpsPerSm,
          target::resourceName(held.bottleneck()).data()};
}

Profiler::Profiler(const Function &function) : function(function), rows(new Row[function.instructions.size()]) {
  for (size_t i = 0; i < function.instructions.size(); ++i)
    for (std::atomic<uint64_t> &value : rows[i])
      value = 0;
}

void Profiler::issue(const Warp &, const Instruction &instruction, LaneMask active) {
  add(instruction, Counter::Instructions, 1);
  add(instruction, Counter::Lanes, std::popcount(active));
}

void Profiler::access(const Warp &, const LaneAccess &access) {
  uint64_t global[warpSize], shared[warpSize];
  size_t globals = 0, shareds = 0;
  for (LaneMask rest = access.lanes; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    if (access.space[lane] == Space::Global)
      global[globals++] = access.address[lane];
    else if (access.space[lane] == Space::Shared) // banks are of one CTA: keep others apart
      shared[shareds++] = uint64_t(access.ctaRank[lane]) << 32 | access.address[lane];
  }
  const Instruction &instruction = *access.instruction;
  if (globals) {
    Sectors sectors = countSectors({global, globals}, access.bytes);
    add(instruction, Counter::GlobalRequests, 1);
    add(instruction, Counter::GlobalSectors, sectors.actual);
    add(instruction, Counter::GlobalSectorsIdeal, sectors.ideal);
    add(instruction, Counter::GlobalBytes, globals * access.bytes);
  }
  if (shareds) {
    Wavefronts wavefronts = countWavefronts({shared, shareds}, access.bytes);
    add(instruction, Counter::SharedRequests, 1);
    add(instruction, Counter::SharedWavefronts, wavefronts.actual);
    add(instruction, Counter::SharedConflicts, wavefronts.actual - wavefronts.ideal);
    add(instruction, Counter::SharedBytes, shareds * access.bytes);
  }
}

void Profiler::copy(const Warp &, const Instruction &instruction, uint64_t bytes, bool toShared) {
  add(instruction, toShared ? Counter::CopiedIn : Counter::CopiedOut, bytes);
}

void Profiler::tensorCore(const Warp &, const Instruction &instruction, uint64_t multiplyAdds) {
  add(instruction, Counter::MultiplyAdds, multiplyAdds);
}

void Profiler::wait(const Warp &, const Instruction &instruction) {
  add(instruction, Counter::Waits, 1);
}

Counts Profiler::countsOf(size_t instruction) const {
  Counts counts;
  for (unsigned i = 0; i < numCounters; ++i)
    counts.values[i] = rows[instruction][i].load(std::memory_order_relaxed);
  return counts;
}

Counts Profiler::total() const {
  Counts sum;
  for (size_t i = 0; i < function.instructions.size(); ++i)
    sum += countsOf(i);
  return sum;
}

std::map<std::pair<uint32_t, uint32_t>, Counts> Profiler::bySourceLine() const {
  std::map<std::pair<uint32_t, uint32_t>, Counts> lines;
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const Place &place = function.instructions[i].place;
    bool known = place.file && place.sourceLine; // line 0: made by the compiler
    lines[known ? std::pair(place.file, place.sourceLine) : std::pair(0u, 0u)] += countsOf(i);
  }
  return lines;
}

} // namespace tile::sim
