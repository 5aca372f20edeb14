// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses text to a Module by recursive descent over the token stream; README.md describes the language.
//
// A parse function that fails returns null after reporting the error. The statement parser then continues after the
// line, so that one run finds several errors.

#pragma once

#include "Frontend/Syntax/Ast.h"

namespace tile::frontend {

/// Parses a whole file. Always returns a module; if the engine has errors, the module is incomplete. With
/// 'defersErrors', errors inside a function are only reported when the function is used.
Module parse(const SourceFile &file, DiagnosticEngine &diagnostics, bool defersErrors = false);

/// Applies a sidecar (ParseSidecar.cpp) to the kernels of a parsed file.
void applySidecar(Module &module, const SourceFile &sidecar, DiagnosticEngine &diagnostics);

/// Parses a string as one expression (a -D value, a signature); 'description' names it in messages.
const Expr *parseExpression(const SourceFile &text, Module &module, DiagnosticEngine &diagnostics);

} // namespace tile::frontend
