// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects diagnostics as data for editors and code review: JSON, and SARIF 2.1.0 (OASIS "Static Analysis Results
// Interchange Format"). Text diagnostics are printed immediately and do not reach the log.
//
//   {"diagnostics": [{"severity": "warning", "name": "tf32-dot", "flag": "-Wtf32-dot", "message": "...",
//     "file": "k.tile", "line": 7, "column": 11, "endLine": 7, "endColumn": 23,
//     "fixIts": [{"line": 7, "column": 22, "endLine": 7, "endColumn": 22, "replacement": "..."}], "notes": [...]}]}
//
// Lines and columns count from 1, columns in bytes; ranges are half-open. All fix-its of one diagnostic must be applied
// together.
#pragma once

#include "Frontend/Syntax/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"

namespace tile::driver {

enum class DiagnosticsFormat { Text, Json, Sarif };

class DiagnosticLog {
public:
  void add(const frontend::DiagnosticEngine &engine);
  void add(mlir::Diagnostic &diagnostic);
  /// Adds an error or warning without a location; `name` is the name of its warning flag, if it has one.
  void add(llvm::StringRef severity, llvm::StringRef message, llvm::StringRef name = {});

  /// Formats a command-line error in the requested format; the text format is "tilec: error: ...".
  static std::string printError(DiagnosticsFormat format, llvm::StringRef message);

  /// Formats the whole log, with a trailing newline.
  std::string print(DiagnosticsFormat format) const;

private:
  struct Span {
    std::string file; // empty: no location
    uint32_t line = 0, column = 0, endLine = 0, endColumn = 0;
  };
  struct Fix {
    Span span;
    std::string replacement;
  };
  struct Entry {
    std::string severity, name, flag, message;
    Span span;
    std::vector<Fix> fixes;
    std::vector<Entry> notes;
  };
  struct Printer;

  static Entry convert(const frontend::DiagnosticEngine &engine, const frontend::Diagnostic &diagnostic);
  static Entry convert(mlir::Diagnostic &diagnostic);

  std::vector<Entry> entries;
};

} // namespace tile::driver
