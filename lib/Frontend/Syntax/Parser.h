// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text -> Module. Recursive descent over the token stream; see language grammar in README.md.
//
// A function that parses something returns null after it has reported why it could not; the statement parser then
// continues after the line, so that several errors are found in one run.

#pragma once

#include "Frontend/Syntax/Ast.h"

namespace tile::frontend {

/// Parses a whole file. Always returns a module; the engine tells whether it is complete. With 'defersErrors' what is
/// wrong inside of a function is only reported when that is used.
Module parse(const SourceFile &file, DiagnosticEngine &diagnostics, bool defersErrors = false);

/// Adds what a sidecar (ParseSidecar.cpp) says of the kernels of a parsed file.
void applySidecar(Module &module, const SourceFile &sidecar, DiagnosticEngine &diagnostics);

/// Parses a string as one expression (a -D value, a signature); 'description' names it in messages.
const Expr *parseExpression(const SourceFile &text, Module &module, DiagnosticEngine &diagnostics);

} // namespace tile::frontend
