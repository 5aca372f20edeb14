// An open file: its text, places in it as the protocol counts them, and what the front end says about it.
#pragma once

#include "Frontend/Diagnostics.h"

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
  const frontend::SourceFile &file() const { return source; }

  /// What stands in front of the offset, or around it: "tl.load".
  llvm::StringRef wordBefore(uint32_t offset) const;
  llvm::StringRef wordAround(uint32_t offset) const;
  /// Names of the file, none of Python's keywords.
  std::set<std::string> names() const;

  /// Of the protocol's form. Remembers fix-its.
  llvm::json::Array diagnose();
  /// What the last diagnose() found how to mend, as far as it stands on one of these lines.
  llvm::json::Array fixes(llvm::StringRef uri, int64_t firstLine, int64_t lastLine) const;

  const std::optional<int64_t> version;

private:
  struct Fix {
    frontend::SourceRange range; // of the diagnostic
    std::string title;
    llvm::json::Array edits;
  };

  void addFix(const frontend::Diagnostic &diagnostic);

  frontend::SourceFile source;
  frontend::LineTable lines;
  std::vector<Fix> found;
};

} // namespace tile::lsp
