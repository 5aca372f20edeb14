// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Frontend/Sema/Sema.h"

namespace tile::frontend {

/// `&`, `|`, `^`, `<<` and `>>` of integers, with the promotion of all arithmetic: a literal takes the block's type.
SymValue emitBits(Sema &sema, BinaryOp op, SymValue left, SymValue right, SourceRange range);

} // namespace tile::frontend
