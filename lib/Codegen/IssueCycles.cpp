// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/IssueCycles.h"
#include "Codegen/MachineCode.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

namespace tile::codegen {

namespace {

/// How often each instruction is executed.
std::vector<uint64_t> countExecutions(llvm::ArrayRef<Instruction> code) {
  constexpr uint64_t iterations = 10; // of a loop whose length nobody knows
  std::vector<uint64_t> times(code.size(), 1);
  for (CodeLoop loop : findLoops(code))
    for (size_t place = loop.first; place <= loop.last; ++place)
      times[place] *= iterations;
  return times;
}

/// A warp that executes the code once, in the order in which it stands.
class Warp {
public:
  /// Returns the cycles until the next instruction may be issued.
  uint64_t execute(const Instruction &instruction) {
    uint64_t begin = now;
    for (size_t counter = 0; counter < written.size(); ++counter)
      if (instruction.awaitedCounters() >> counter & 1)
        now = std::max(now, written[counter]);
    unsigned counter = instruction.writeCounter();
    if (instruction.isGlobalLoad() && counter < written.size())
      written[counter] = std::max(written[counter], now + latency);
    now += instruction.stallCycles();
    return now - begin;
  }

private:
  static constexpr uint64_t latency = 600; // of a load that hits L2, or a little more, on an H200
  uint64_t now = 0;
  std::array<uint64_t, 6> written = {}; ///< When each counter is zero again.
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

uint64_t loadCycles(llvm::StringRef cubin) {
  uint64_t cycles = 0;
  bool isUnderstood = forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    Warp warp;
    for (auto [instruction, often] : llvm::zip_equal(code, countExecutions(code)))
      cycles += warp.execute(instruction) * often;
  });
  return isUnderstood ? cycles : 0;
}

} // namespace tile::codegen
