// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/IssueCycles.h"
#include "Codegen/MachineCode.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

namespace tile::codegen {

namespace {

/// Returns how often each instruction is assumed to be executed.
std::vector<uint64_t> countExecutions(llvm::ArrayRef<Instruction> code) {
  constexpr uint64_t iterations = 10; // assumed trip count of a loop
  std::vector<uint64_t> times(code.size(), 1);
  for (CodeLoop loop : findLoops(code))
    for (size_t place = loop.first; place <= loop.last; ++place)
      times[place] *= iterations;
  return times;
}

/// Simulates the time of a warp that is alone on its scheduler and executes the code in the order of its addresses.
class Warp {
public:
  explicit Warp(uint64_t loadLatency) : loadLatency(loadLatency) {}

  /// Returns the number of cycles until the next instruction can be issued.
  uint64_t execute(const Instruction &instruction) {
    uint64_t begin = now;
    for (size_t scoreboard = 0; scoreboard < written.size(); ++scoreboard)
      if (instruction.awaitedScoreboards() >> scoreboard & 1)
        now = std::max(now, written[scoreboard]);
    unsigned scoreboard = instruction.writeScoreboard();
    if (instruction.isGlobalLoad() && scoreboard < written.size())
      written[scoreboard] = std::max(written[scoreboard], now + loadLatency);
    now += instruction.stallCycles();
    return now - begin;
  }

private:
  uint64_t loadLatency, now = 0;
  std::array<uint64_t, 6> written = {}; ///< the time at which each scoreboard is released
};

} // namespace

uint64_t issueCycles(llvm::StringRef cubin) {
  uint64_t cycles = 0;
  bool isUnderstood = forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    for (auto [instruction, often] : llvm::zip_equal(code, countExecutions(code)))
      cycles += instruction.stallCycles() * often;
  });
  return isUnderstood ? cycles : 0;
}

uint64_t loadCycles(llvm::StringRef cubin, uint64_t loadLatency) {
  uint64_t cycles = 0;
  bool isUnderstood = forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    Warp warp(loadLatency);
    for (auto [instruction, often] : llvm::zip_equal(code, countExecutions(code)))
      cycles += warp.execute(instruction) * often;
  });
  return isUnderstood ? cycles : 0;
}

} // namespace tile::codegen
