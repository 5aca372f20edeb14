// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that give the same at any time.
#pragma once

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace tile::codegen {

/// Loads of memory that nothing in the kernel writes. Different parameters are different memory, as the language has
/// it. None in a grid that may begin before the previous one has written what it reads, or that may wait for others.
llvm::DenseSet<const llvm::Instruction *> findReadOnlyLoads(llvm::Function &function);

/// Tells ptxas that the load may move across stores (PTX ISA, "ld.global.nc").
void loadNonCoherently(llvm::Instruction &load);

} // namespace tile::codegen
