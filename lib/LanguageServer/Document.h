// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open file: its text, positions in the units of the protocol, and the compiler's results for the file.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Frontend/Syntax/Diagnostics.h"
#include "LanguageServer/Scopes.h"
#include "LanguageServer/Values.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <set>

namespace tile::lsp {

class Document {
public:
  Document(std::string path, std::string text, std::optional<int64_t> version)
      : version(version), source{std::move(path), std::move(text)}, lines(source.text) {}
  Document(const Document &) = delete; // `lines` refers to `source`

  /// Converts a position to an offset. Lines and UTF-16 units count from 0; positions after the end of a line or of the
  /// file are clamped to it.
  uint32_t offset(uint32_t line, uint32_t character) const;
  llvm::json::Object position(uint32_t offset) const;
  llvm::json::Object range(frontend::SourceRange range) const;
  llvm::StringRef text() const { return source.text; }
  llvm::StringRef text(frontend::SourceRange range) const { return text().slice(range.begin, range.end); }
  const frontend::SourceFile &file() const { return source; }

  /// Returns the dotted word before the offset, or around it: "tl.load".
  llvm::StringRef wordBefore(uint32_t offset) const;
  llvm::StringRef wordAround(uint32_t offset) const;
  /// Returns the names in the file, without Python's keywords.
  std::set<std::string> names() const;
  const ScopeTree &scopes() const;

  /// Returns one edit that replaces all lines from the first to the last line that differ, or no edit if the texts are
  /// equal.
  llvm::json::Array replaceBy(llvm::StringRef newText) const;

  /// Returns diagnostics in the format of the protocol. Stores their fix-its and the values for the functions below.
  llvm::json::Array diagnose(const driver::CompilerOptions &options);
  /// Returns the fix-its that the last diagnose() found on these lines.
  llvm::json::Array fixes(llvm::StringRef uri, int64_t firstLine, int64_t lastLine) const;
  /// Returns the values that the last diagnose() collected.
  const ValueTable &values() const { return found.values; }
  struct Kernel {
    std::string name; // as accepted by --kernel
    frontend::SourceRange nameRange;
  };
  /// Returns the functions that can be launched.
  std::vector<Kernel> kernels() const;

  /// Compiles the kernels that have launch directives, up to the last pass with remarks. Ten kernels take about a
  /// second.
  void compile(const driver::CompilerOptions &given);
  /// Returns the remarks of compile() for the line that contains the offset: "dot uses wgmma ...".
  std::vector<std::string> remarks(uint32_t offset) const;

  const std::optional<int64_t> version;

private:
  struct Fix {
    frontend::SourceRange range; // range of the diagnostic
    std::string title;
    llvm::json::Array edits;
  };
  struct Findings {
    std::vector<Fix> fixes;
    ValueTable values;
  };

  llvm::json::Object report(const frontend::Diagnostic &diagnostic, const frontend::DiagnosticEngine &engine) const;
  void addFix(const frontend::Diagnostic &diagnostic);

  frontend::SourceFile source;
  frontend::LineTable lines;
  mutable std::optional<ScopeTree> scopeTree;
  Findings found;
  std::map<uint32_t, std::vector<std::string>> remarksOfLines;
};

} // namespace tile::lsp
