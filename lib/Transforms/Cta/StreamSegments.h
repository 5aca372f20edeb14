// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of which CTAs share the last wave, as a loop over whole programs and parts of programs.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Replaces `programs`, whose work has a `tail`; `emitPlace` makes the block arguments of the program of a number, and
/// `count` is how many there are. The kernel gets one more argument, scratch memory.
void lowerToSegments(ProgramsOp programs, mlir::Value count, mlir::RewriterBase &rewriter,
                     llvm::function_ref<void(mlir::Value number)> emitPlace);

} // namespace tile
