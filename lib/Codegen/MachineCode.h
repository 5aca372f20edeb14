// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of a cubin's kernels, as far as the compiler looks at what ptxas has made. How they are encoded is
// not documented, and has been the same from sm_70 to sm_90; nvdisasm shows it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tile::codegen {

/// 16 bytes. The low 12 bits say what it does, the low 9 of them without where its operands come from.
struct Instruction {
  uint64_t low, high;

  unsigned opcode() const { return low & 0xfff; }
  unsigned operation() const { return low & 0x1ff; }
  unsigned destination() const { return low >> 16 & 0xff; } ///< The first register that is written, where any is.
  unsigned firstSource() const { return low >> 24 & 0xff; }
  /// Cycles until the next instruction may be issued.
  unsigned stallCycles() const { return high >> 41 & 0xf; }
  /// The counter, 0 to 5, that is raised until the destination has been written; 7: none.
  unsigned writeCounter() const { return high >> 46 & 0x7; }
  /// A bit for each counter that has to be zero before this instruction is issued.
  unsigned awaitedCounters() const { return high >> 52 & 0x3f; }
  bool isGlobalLoad() const { return operation() == 0x181; }
  bool isBranch() const { return opcode() == 0x947; }
  /// Instructions from a branch to its target.
  int64_t distance() const;
};

/// Where a branch leads back to, and the branch.
struct CodeLoop {
  size_t first, last;
};
std::vector<CodeLoop> findLoops(llvm::ArrayRef<Instruction> code);

/// The code of each kernel, or of a function that it calls. False if the cubin is none that is understood.
bool forEachCode(llvm::StringRef cubin, llvm::function_ref<void(llvm::ArrayRef<Instruction>)> visit);

} // namespace tile::codegen
