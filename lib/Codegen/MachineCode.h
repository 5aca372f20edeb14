// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes the fields of a cubin's machine code that the compiler inspects. The encoding is undocumented, but has been
// the same from sm_70 to sm_90; nvdisasm shows it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tile::codegen {

/// A 16-byte instruction. The low 12 bits are the opcode. The low 9 bits of the opcode are the operation; the other
/// bits encode the kinds of its operands.
struct Instruction {
  uint64_t low, high;

  unsigned opcode() const { return low & 0xfff; }
  unsigned operation() const { return low & 0x1ff; }
  unsigned destination() const { return low >> 16 & 0xff; } ///< The first register written, if any.
  unsigned firstSource() const { return low >> 24 & 0xff; }
  /// Returns the number of cycles until the next instruction may issue.
  unsigned stallCycles() const { return high >> 41 & 0xf; }
  /// Returns the scoreboard, 0 to 5, that is held until the destination has been written; 7 means none.
  unsigned writeScoreboard() const { return high >> 46 & 0x7; }
  /// Returns a mask of the scoreboards that this instruction waits for.
  unsigned awaitedScoreboards() const { return high >> 52 & 0x3f; }
  bool isGlobalLoad() const { return operation() == 0x181; }
  bool isBranch() const { return opcode() == 0x947; }
  /// Returns the number of instructions from a branch to its target.
  int64_t distance() const;
};

/// A loop, from the target of a backward branch to the branch itself.
struct CodeLoop {
  size_t first, last;
};
std::vector<CodeLoop> findLoops(llvm::ArrayRef<Instruction> code);

/// Visits the code of each kernel and of each function that it calls. Returns false if the cubin cannot be decoded.
bool forEachCode(llvm::StringRef cubin, llvm::function_ref<void(llvm::ArrayRef<Instruction>)> visit);

} // namespace tile::codegen
