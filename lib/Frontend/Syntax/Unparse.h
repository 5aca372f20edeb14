// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the syntax tree: as source text (for messages and the manifest), and like CPython's ast.dump.

#pragma once

#include "Frontend/Syntax/Ast.h"

namespace tile::frontend {

/// Prints an expression with only the parentheses that precedence requires.
std::string unparse(const Expr &expr);

/// Prints the parsed part of the module in the format of Python's ast.dump(tree, indent=2).
std::string dumpAst(const Module &module);

} // namespace tile::frontend
