// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagnostics of the front end: every message is an entry of Diagnostics.def, reported at a range, with notes and
// fix-its. Diagnostics are collected, so that the user sees more than the first error.
//
//   diagnostics.report(Diag::chained_comparison, range).fixIt(range, "a < b and b < c");
//
// prints
//   k.tile:12:8: error: comparisons do not chain; join them with 'and' [chained-comparison]
//       if a < b < c:
//          ^~~~~~~~~
//          a < b and b < c

#pragma once

#include "Frontend/Syntax/Source.h"
#include "Frontend/Syntax/Warnings.h"

#include <memory>
#include <optional>

namespace tile::frontend {

enum class Severity { Error, Warning, Note };

enum class Diag {
#define TILE_DIAGNOSTIC(id, severity, message) id,
#include "Frontend/Syntax/Diagnostics.def"
};

/// Returns the name printed in brackets after the message: the id with '-' instead of '_'.
std::string diagnosticName(Diag id);

struct FixIt {
  SourceRange range;
  std::string replacement;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string name;       // empty for notes
  bool isWarning = false; // true even if -Werror makes it an error
  SourceRange range;
  std::string message;
  std::vector<FixIt> fixIts;
  std::vector<Diagnostic> notes;
  bool isAboutOptions = false; // concerns the caller's request rather than the file
};

/// Collects diagnostics and the files that they point into.
class DiagnosticEngine {
public:
  /// Adds notes and fix-its to the diagnostic just reported. Does nothing if the report was suppressed.
  class Builder {
  public:
    Builder(DiagnosticEngine *engine, size_t index) : engine(engine), index(index) {}
    Builder &note(SourceRange range, std::string message);
    Builder &fixIt(SourceRange range, std::string replacement);
    /// Adds a fix-it to the last note.
    Builder &fixItOfNote(SourceRange range, std::string replacement);
    /// Adds an argument such as "other=0" to a call.
    Builder &fixItArgument(SourceRange call, const std::string &argument);
    explicit operator bool() const { return engine != nullptr; }

  private:
    DiagnosticEngine *engine;
    size_t index;
  };

  /// Registers a file and returns its index for SourceRange::file.
  uint32_t addFile(const SourceFile &file);
  /// Checks that the front end can read the file: it must not be too large, and must be UTF-8. Reports violations.
  bool checkText(uint32_t file);
  uint32_t numFiles() const { return static_cast<uint32_t>(files.size()); }
  const SourceFile &file(uint32_t index) const { return files[index]->source; }
  LineColumn locate(SourceRange range) const { return files[range.file]->lines.locate(range.begin); }
  LineColumn locateEnd(SourceRange range) const { return files[range.file]->lines.locate(range.end); }
  /// Returns the range of the character at a line and column of a file, as MLIR locations give them.
  SourceRange characterAt(uint32_t file, LineColumn place) const;
  std::string_view text(SourceRange range) const;

  /// Reports a message whose "{0}", "{1}" ... are replaced by the arguments. Drops a repeated error at the same
  /// location with the same text (a helper expanded twice).
  Builder report(Diag id, SourceRange range, const std::vector<std::string> &arguments = {});

  /// Selects the warnings that are reported from now on. Initially, these are the warnings that are enabled by default.
  void setWarnings(WarningOptions options) { warnings = std::move(options); }
  /// Returns true if a warning is enabled, so that the analysis for a disabled warning can be skipped.
  bool isEnabled(Diag id) const { return warnings.isEnabled(id); }
  /// Removes the diagnostics after the first 'count', so that they can be reported later or dropped.
  std::vector<Diagnostic> takeSince(size_t count);
  void report(const std::vector<Diagnostic> &taken);

  bool hasErrors() const { return errorCount != 0; }
  /// Returns true if there are errors, and all are about options.
  bool hasOnlyOptionErrors() const;
  size_t numErrors() const { return errorCount; }
  const std::vector<Diagnostic> &all() const { return diagnostics; }

  /// Renders all diagnostics for a terminal, in source order within a file.
  std::string render() const;
  /// Returns the diagnostics in the same order, for other output formats.
  std::vector<const Diagnostic *> sorted() const;

private:
  struct File {
    explicit File(const SourceFile &file) : source(file), lines(source.text) {}
    SourceFile source;
    LineTable lines;
  };

  void renderOne(const Diagnostic &diagnostic, std::string &out) const;

  std::vector<std::unique_ptr<File>> files;
  std::vector<Diagnostic> diagnostics;
  WarningOptions warnings;
  size_t errorCount = 0;
  size_t droppedErrors = 0; // included in errorCount, but not kept
};

/// Returns the candidate closest to 'name' by edit distance, if it is a likely typo.
std::optional<std::string> didYouMean(std::string_view name, const std::vector<std::string> &candidates);

} // namespace tile::frontend
