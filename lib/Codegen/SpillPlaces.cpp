// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spills are accesses to local memory; kernels access local memory in no other way.
#include "Codegen/SpillPlaces.h"
#include "Codegen/MachineCode.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::codegen {

static bool isLocal(const Instruction &instruction) {
  constexpr unsigned load = 0x983, store = 0x387;
  return instruction.opcode() == load || instruction.opcode() == store;
}

bool spillsHardlyInLoops(llvm::StringRef cubin, unsigned few) {
  constexpr int64_t hundred = 100;
  bool spills = false, spillsInLoop = false;
  bool isUnderstood = forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    std::vector<int64_t> localsBefore{0}; // number of accesses to local memory before each instruction
    for (const Instruction &instruction : code)
      localsBefore.push_back(localsBefore.back() + isLocal(instruction));
    spills |= localsBefore.back() != 0;
    std::vector<CodeLoop> loops = findLoops(code);
    // the branch to itself that follows the end of the code is not a loop
    llvm::erase_if(loops, [](CodeLoop loop) { return loop.first == loop.last; });
    if (loops.empty() && !code.empty())
      loops.push_back({0, code.size() - 1});
    spillsInLoop |= llvm::any_of(loops, [&](CodeLoop loop) {
      int64_t locals = localsBefore[loop.last] - localsBefore[loop.first];
      return locals > int64_t(few) || locals * hundred > int64_t(loop.last - loop.first);
    });
  });
  return isUnderstood && spills && !spillsInLoop;
}

} // namespace tile::codegen
