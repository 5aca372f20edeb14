// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads from memory that is constant while the kernel runs.
#pragma once

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace tile::codegen {

/// Returns the loads from memory that nothing in the kernel writes. Memory of different parameters does not alias, by
/// the rules of the language. Returns an empty set for a grid that may start before the previous grid has written its
/// inputs, or that may wait for other grids.
llvm::DenseSet<const llvm::Instruction *> findReadOnlyLoads(llvm::Function &function);

/// Tells ptxas that the load may move across stores (PTX ISA, "ld.global.nc").
void loadNonCoherently(llvm::Instruction &load);

} // namespace tile::codegen
