// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the work of a kernel: one set of counters for each instruction, which is summed by source line and in total.
#pragma once

#include "Simulator/Profile/Observer.h"
#include "Target/GpuTarget.h"

#include <atomic>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tile::sim {

/// The counters, in the order in which they are printed.
enum class Counter : uint8_t {
  Instructions,       ///< instructions executed by warps
  Lanes,              ///< active lanes of these instructions
  GlobalRequests,     ///< loads, stores and atomics executed by warps
  GlobalSectors,      ///< sectors of 32 bytes
  GlobalSectorsIdeal, ///< sectors that would suffice if the lanes' bytes were consecutive
  GlobalBytes,        ///< bytes requested by the lanes
  SharedRequests,
  SharedWavefronts,
  SharedConflicts, ///< wavefronts caused by bank conflicts
  SharedBytes,
  CopiedIn,     ///< bytes of asynchronous copies from global to shared memory
  CopiedOut,    ///< bytes of asynchronous copies to global memory
  MultiplyAdds, ///< multiply-adds of tensor cores
  Waits         ///< times that a barrier was found not ready; depends on the schedule
};
constexpr unsigned numCounters = unsigned(Counter::Waits) + 1;
std::string_view counterName(Counter counter); ///< Returns the name in the JSON: "shared_conflicts".

struct Counts {
  uint64_t values[numCounters] = {};
  uint64_t operator[](Counter counter) const { return values[unsigned(counter)]; }
  uint64_t &operator[](Counter counter) { return values[unsigned(counter)]; }
  Counts &operator+=(const Counts &other);
};

/// The number of CTAs that fit on a multiprocessor, and what limits it.
struct Occupancy {
  uint32_t registers = 0; ///< per thread; 0: unknown before ptxas has run
  uint32_t threads = 0;   ///< per CTA
  uint32_t sharedBytes = 0;
  uint32_t ctas = 0; ///< number of CTAs that fit on a multiprocessor
  double warps = 0;  ///< their warps, as a fraction of those that a multiprocessor can hold
  std::string limit; ///< "registers", "shared memory", "threads", "CTAs"
};
/// Returns the occupancy of a multiprocessor of `target`. The system uses 1 KiB of the shared memory of each CTA (CUDA
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
  /// Returns the counts of the instruction with this index in the function.
  Counts countsOf(size_t instruction) const;
  /// Returns the counts by (file, line) of the source; {0, 0} is for instructions without a source line.
  std::map<std::pair<uint32_t, uint32_t>, Counts> bySourceLine() const;

private:
  using Row = std::atomic<uint64_t>[numCounters];
  void add(const Instruction &instruction, Counter counter, uint64_t value) {
    size_t index = &instruction - function.instructions.data();
    if (index < function.instructions.size()) // false for the return that Program adds after the last instruction
      rows[index][unsigned(counter)].fetch_add(value, std::memory_order_relaxed);
  }

  const Function &function;
  std::unique_ptr<Row[]> rows; ///< one per instruction
};

/// {"total": {...}, "occupancy": {...}, "lines": [{"file": ..., "line": ..., ...}]}
nlohmann::json profileToJson(const Profiler &profiler, const Module &module, const Occupancy &occupancy);

/// Returns its argument highlighted as a bad value; null: bad values are printed like all others.
using Mark = std::string (*)(std::string_view);
/// Returns the source with the counters of each line next to it, followed by the totals and the occupancy. `source` is
/// the text of file 1 and may be empty.
std::string profileListing(const Profiler &profiler, const Module &module, const Occupancy &occupancy,
                           const std::string &source, Mark mark = nullptr);

} // namespace tile::sim
