// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the work of a kernel: one set of counters per instruction, summed by source line and in total.
#pragma once

#include "Simulator/Profile/Observer.h"
#include "Target/GpuTarget.h"

#include <atomic>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tile::sim {

/// The counters, in the order of every output.
enum class Counter : uint8_t {
  Instructions,       ///< instructions of warps
  Lanes,              ///< their active lanes
  GlobalRequests,     ///< loads, stores and atomics of warps
  GlobalSectors,      ///< sectors of 32 bytes
  GlobalSectorsIdeal, ///< sectors that would be needed if the lanes' bytes were consecutive
  GlobalBytes,        ///< bytes requested by lanes
  SharedRequests,
  SharedWavefronts,
  SharedConflicts, ///< wavefronts caused by bank conflicts
  SharedBytes,
  CopiedIn,     ///< bytes of asynchronous copies from global to shared memory
  CopiedOut,    ///< bytes of asynchronous copies to global memory
  MultiplyAdds, ///< multiply-adds of tensor cores
  Waits         ///< times a barrier was found not ready; depends on the schedule
};
constexpr unsigned numCounters = unsigned(Counter::Waits) + 1;
std::string_view counterName(Counter counter); ///< "shared_conflicts"

struct Counts {
  uint64_t values[numCounters] = {};
  uint64_t operator[](Counter counter) const { return values[unsigned(counter)]; }
  uint64_t &operator[](Counter counter) { return values[unsigned(counter)]; }
  Counts &operator+=(const Counts &other);
};

/// The number of CTAs that a multiprocessor holds, and what limits it.
struct Occupancy {
  uint32_t registers = 0; ///< per thread; 0: not known before ptxas
  uint32_t threads = 0;   ///< per CTA
  uint32_t sharedBytes = 0;
  uint32_t ctas = 0; ///< on a multiprocessor
  double warps = 0;  ///< fraction of those it can hold, 0 … 1
  std::string limit; ///< "registers", "shared memory", "threads", "CTAs"
};
/// Returns the occupancy on a multiprocessor of `target`. Each CTA loses 1 KiB of shared memory to the system (CUDA
/// programming guide, "Compute capabilities").
Occupancy computeOccupancy(const target::GpuTarget &target, uint32_t registers, uint32_t threads, uint32_t sharedBytes);

class Profiler final : public Observer {
public:
  explicit Profiler(const Function &function);

  void issue(const Warp &warp, const Instruction &instruction, LaneMask active) override;
  void access(const Warp &warp, const LaneAccess &access) override;
  void copy(const Warp &warp, const Instruction &instruction, uint64_t bytes, bool toShared) override;
  void tensorCore(const Warp &warp, const Instruction &instruction, uint64_t multiplyAdds) override;
  void wait(const Warp &warp, const Instruction &instruction) override;

  Counts total() const;
  /// By its index in the function.
  Counts countsOf(size_t instruction) const;
  /// By (file, line) of the source; {0, 0}: instructions without one.
  std::map<std::pair<uint32_t, uint32_t>, Counts> bySourceLine() const;

private:
  using Row = std::atomic<uint64_t>[numCounters];
  void add(const Instruction &instruction, Counter counter, uint64_t value) {
    size_t index = &instruction - function.instructions.data();
    if (index < function.instructions.size()) // the branch, or the return after the last instruction
      rows[index][unsigned(counter)].fetch_add(value, std::memory_order_relaxed);
  }

  const Function &function;
  std::unique_ptr<Row[]> rows; ///< one per instruction
};

/// {"total": {...}, "occupancy": {...}, "lines": [{"file": ..., "line": ..., ...}]}
nlohmann::json profileToJson(const Profiler &profiler, const Module &module, const Occupancy &occupancy);

/// Returns how a bad value is highlighted; null: like all others.
using Mark = std::string (*)(std::string_view);
/// Prints the source with the counters of each line next to it, the totals and the occupancy. `source`: the text of
/// file 1; may be empty.
std::string profileListing(const Profiler &profiler, const Module &module, const Occupancy &occupancy,
                           const std::string &source, Mark mark = nullptr);

} // namespace tile::sim
