// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open file: its text, places in it as the protocol counts them, and what the compiler says about it.
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
  Document(const Document &) = delete; // `lines` looks into `source`

  /// Lines and UTF-16 units from 0; what lies behind the end of a line or of the file is its end.
  uint32_t offset(uint32_t line, uint32_t character) const;
  llvm::json::Object position(uint32_t offset) const;
  llvm::json::Object range(frontend::SourceRange range) const;
  llvm::StringRef text() const { return source.text; }
  llvm::StringRef text(frontend::SourceRange range) const { return text().slice(range.begin, range.end); }
  const frontend::SourceFile &file() const { return source; }

  /// What stands in front of the offset, or around it: "tl.load".
  llvm::StringRef wordBefore(uint32_t offset) const;
  llvm::StringRef wordAround(uint32_t offset) const;
  /// Names of the file, none of Python's keywords.
  std::set<std::string> names() const;
  const ScopeTree &scopes() const;

  /// One edit of the lines that differ, or none.
  llvm::json::Array replaceBy(llvm::StringRef newText) const;

  /// Of the protocol's form. Remembers fix-its and values.
  llvm::json::Array diagnose(const driver::CompilerOptions &options);
  /// What the last diagnose() found how to mend, as far as it stands on one of these lines.
  llvm::json::Array fixes(llvm::StringRef uri, int64_t firstLine, int64_t lastLine) const;
  /// What the last diagnose() found.
  const ValueTable &values() const { return found.values; }
  struct Kernel {
    std::string name; // as --kernel wants it
    frontend::SourceRange nameRange;
  };
  /// The functions that can be launched.
  std::vector<Kernel> kernels() const;

  /// Compiles the kernels that say how to launch them, as far as passes make remarks. Takes a second for ten of them.
  void compile(const driver::CompilerOptions &given);
  /// What compile() learned about the line of the offset: "multiplied by wgmma ...".
  std::vector<std::string> remarks(uint32_t offset) const;

  const std::optional<int64_t> version;

private:
  struct Fix {
    frontend::SourceRange range; // of the diagnostic
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
