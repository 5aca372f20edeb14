// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Frontend/Emit/Emitter.h"

namespace tile::frontend {

/// Emits `&`, `|`, `^`, `<<` and `>>` of integers, with the usual promotion: a literal takes the block's type.
SymValue emitBits(Emitter &sema, BinaryOp op, SymValue left, SymValue right, SourceRange range);

} // namespace tile::frontend
