// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/IssueCycles.h"
#include "Codegen/MachineCode.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::codegen {

uint64_t issueCycles(llvm::StringRef cubin) {
  constexpr uint64_t iterations = 10; // assumed trip count of a loop
  uint64_t cycles = 0;
  bool isUnderstood = forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    std::vector<uint64_t> times(code.size(), 1);
    for (CodeLoop loop : findLoops(code))
      for (size_t place = loop.first; place <= loop.last; ++place)
        times[place] *= iterations;
    for (auto [instruction, often] : llvm::zip_equal(code, times))
      cycles += instruction.stallCycles() * often;
  });
  return isUnderstood ? cycles : 0;
}

} // namespace tile::codegen
