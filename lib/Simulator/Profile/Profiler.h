// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts what a kernel does: one set of counters an instruction, summed up by source line and in total.
#pragma once

#include "Simulator/Profile/Observer.h"
#include "Target/GpuTarget.h"

#include <atomic>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tile::sim {

/// What is counted; in this order in every output.
enum class Counter : uint8_t {
  Instructions,       ///< of warps
  Lanes,              ///< active lanes of them
  GlobalRequests,     ///< loads, stores and atomics of warps
  GlobalSectors,      ///< of 32 bytes
  GlobalSectorsIdeal, ///< had the lanes' bytes been consecutive
  GlobalBytes,        ///< asked for by lanes
  SharedRequests,
  SharedWavefronts,
  SharedConflicts, ///< wavefronts that bank conflicts cost
  SharedBytes,
  CopiedIn,     ///< bytes of asynchronous copies from global to shared memory
  CopiedOut,    ///< bytes of asynchronous copies to global memory
  MultiplyAdds, ///< of tensor cores
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

/// How many CTAs a multiprocessor holds, and what limits them.
struct Occupancy {
  uint32_t registers = 0; ///< a thread; 0: not known before ptxas
  uint32_t threads = 0;   ///< a CTA
  uint32_t sharedBytes = 0;
  uint32_t ctas = 0; ///< on a multiprocessor
  double warps = 0;  ///< of those it can hold, 0 … 1
  std::string limit; ///< "registers", "shared memory", "threads", "CTAs"
};
/// On a multiprocessor of `target`. Each CTA loses 1 KiB of shared memory to the system (CUDA programming guide,
/// "Compute capabilities").
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
    if (index < function.instructions.size()) // else the return after the last one
      rows[index][unsigned(counter)].fetch_add(value, std::memory_order_relaxed);
  }

  const Function &function;
  std::unique_ptr<Row[]> rows; ///< one an instruction
};

/// {"total": {...}, "occupancy": {...}, "lines": [{"file": ..., "line": ..., ...}]}
nlohmann::json profileToJson(const Profiler &profiler, const Module &module, const Occupancy &occupancy);

/// How a figure that is bad is shown; null: as all others.
using Mark = std::string (*)(std::string_view);
/// The source with the counters of each line beside it, the totals and the occupancy. `source`: the text of file 1; may
/// be empty.
std::string profileListing(const Profiler &profiler, const Module &module, const Occupancy &occupancy,
                           const std::string &source, Mark mark = nullptr);

} // namespace tile::sim
