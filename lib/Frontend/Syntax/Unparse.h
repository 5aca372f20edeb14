// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing of the syntax tree: as source text (for messages and the manifest) and as CPython's ast.dump would.

#pragma once

#include "Frontend/Syntax/Ast.h"

namespace tile::frontend {

/// The expression as source, with the parentheses that precedence needs and no others.
std::string unparse(const Expr &expr);

/// The kept part of the module in the format of Python's ast.dump(tree, indent=2).
std::string dumpAst(const Module &module);

} // namespace tile::frontend
