// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects and renders diagnostics; computes edit distances for "did you mean".

#include "Frontend/Syntax/Diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>

namespace tile::frontend {

namespace {

struct Entry {
  const char *id;
  Severity severity;
  const char *message;
  bool isAboutOptions = false;
};

constexpr Entry entries[] = {
#define TILE_DIAGNOSTIC(id, severity, message) {#id, Severity::severity, message},
#define TILE_OPTION_DIAGNOSTIC(id, message) {#id, Severity::Error, message, /*isAboutOptions=*/true},
#include "Frontend/Syntax/Diagnostics.def"
};

// More errors are noise: the first errors usually name the causes.
constexpr size_t maxDiagnostics = 100;

std::string substitute(std::string_view pattern, const std::vector<std::string> &arguments) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool isPlaceholder = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}';
    size_t index = isPlaceholder ? static_cast<size_t>(pattern[i + 1] - '0') : arguments.size();
    if (!isPlaceholder || index >= arguments.size()) {
      out += pattern[i];
      continue;
    }
    out += arguments[index];
    i += 2;
  }
  return out;
}

/// "1 elements" -> "1 element".
std::string withSingulars(std::string text) {
  for (std::string_view plural :
       {"elements", "dimensions", "expressions", "arguments", "entries", "strides", "integers", "parameters", "scalars",
        "names", "kernels", "threads", "bytes", "bits"}) {
    const std::string counted = "1 " + std::string(plural);
    for (size_t at = text.find(counted); at != std::string::npos; at = text.find(counted, at + 1)) {
      const bool isWhole = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
      const size_t end = at + counted.size();
      if (!isWhole || (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))))
        continue;
      const bool isY = plural.ends_with("ies");
      text.replace(end - (isY ? 3 : 1), isY ? 3 : 1, isY ? "y" : "");
    }
  }
  return text;
}

bool isContinuationByte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Formats a source line for a terminal: tabs as 8 columns, control bytes as '?', and in a line that is not UTF-8 all
/// non-ASCII bytes as '?'. 'columns[i]' is the column of byte i.
std::string printableLine(std::string_view line, std::vector<size_t> &columns) {
  const bool isUtf8 = !findInvalidUtf8(line);
  std::string out;
  size_t column = 0;
  for (char c : line) {
    columns.push_back(column);
    if (c == '\t') {
      size_t width = 8 - column % 8;
      out.append(width, ' ');
      column += width;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    out += byte < 0x20 || byte == 0x7F || (byte > 0x7F && !isUtf8) ? '?' : c;
    column += isUtf8 && isContinuationByte(c) ? 0 : 1;
  }
  columns.push_back(column);
  return out;
}

/// Counts the insertions, deletions, replacements and transpositions that turn 'a' into 'b'.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, row[j - 1] + 1, previous[j] + 1});
      bool isSwap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (isSwap)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = previous;
    previous = row;
  }
  return previous.back();
}

const char *severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "";
}

} // namespace

std::string diagnosticName(Diag id) {
  std::string name = entries[static_cast<size_t>(id)].id;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::note(SourceRange range, std::string message) {
  if (engine)
    engine->diagnostics[index].notes.push_back({Severity::Note, "", false, range, std::move(message), {}, {}});
  return *this;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::fixIt(SourceRange range, std::string replacement) {
  if (engine)
    engine->diagnostics[index].fixIts.push_back({range, std::move(replacement)});
  return *this;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::fixItArgument(SourceRange call, const std::string &argument) {
  if (!engine)
    return *this;
  // The last argument may end in a comma, and a comment may follow.
  std::string_view text = engine->text(call);
  char last = 0, quote = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '#')
      i = std::min(text.find('\n', i), text.size() - 1);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && (c != '#' || quote))
      last = c;
  }
  bool needsComma = last != ',' && last != '(';
  return fixIt({call.end - 1, call.end - 1, call.file}, (needsComma ? ", " : "") + argument);
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::fixItOfNote(SourceRange range, std::string replacement) {
  if (engine)
    engine->diagnostics[index].notes.back().fixIts.push_back({range, std::move(replacement)});
  return *this;
}

uint32_t DiagnosticEngine::addFile(const SourceFile &file) {
  files.push_back(std::make_unique<File>(file));
  return static_cast<uint32_t>(files.size() - 1);
}

bool DiagnosticEngine::checkText(uint32_t file) {
  const std::string &text = files[file]->source.text;
  if (text.size() > maxSourceBytes) {
    report(Diag::file_too_large, {0, 0, file}, {std::to_string(text.size() >> 20)});
    return false;
  }
  const std::optional<size_t> bad = findInvalidUtf8(text);
  if (!bad)
    return true;
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02x", static_cast<uint8_t>(text[*bad]));
  const auto place = static_cast<uint32_t>(*bad);
  report(Diag::not_utf8, {place, place + 1, file}, {byte});
  return false;
}

std::string_view DiagnosticEngine::text(SourceRange range) const {
  std::string_view all = files[range.file]->source.text;
  if (range.begin >= all.size() || range.end <= range.begin)
    return {};
  return all.substr(range.begin, range.end - range.begin);
}

DiagnosticEngine::Builder DiagnosticEngine::report(Diag id, SourceRange range,
                                                   const std::vector<std::string> &arguments) {
  const Entry &entry = entries[static_cast<size_t>(id)];
  std::string message = withSingulars(substitute(entry.message, arguments));
  bool isWarning = entry.severity == Severity::Warning;
  if (isWarning && !warnings.isEnabled(id))
    return {nullptr, 0};
  Severity severity = isWarning && warnings.isError(id) ? Severity::Error : entry.severity;
  if (severity == Severity::Error)
    ++errorCount;
  // Warnings never prevent an error from being shown.
  bool isDropped = severity == Severity::Error ? errorCount > maxDiagnostics : diagnostics.size() >= maxDiagnostics;
  for (const Diagnostic &old : diagnostics)
    isDropped |= old.range.file == range.file && old.range.begin == range.begin && old.message == message;
  if (isDropped) {
    droppedErrors += severity == Severity::Error;
    return {nullptr, 0};
  }
  diagnostics.push_back(
      {severity, diagnosticName(id), isWarning, range, std::move(message), {}, {}, entry.isAboutOptions});
  return {this, diagnostics.size() - 1};
}

void DiagnosticEngine::renderOne(const Diagnostic &diagnostic, std::string &out) const {
  if (diagnostic.range.file >= files.size()) {
    out += std::string(severityName(diagnostic.severity)) + ": " + diagnostic.message + '\n';
    return;
  }
  const File &file = *files[diagnostic.range.file];
  LineColumn place = file.lines.locate(diagnostic.range.begin);
  out += file.source.name + ':' + std::to_string(place.line) + ':' + std::to_string(place.column) + ": " +
         severityName(diagnostic.severity) + ": " + diagnostic.message;
  if (diagnostic.isWarning)
    out += std::string(diagnostic.severity == Severity::Error ? " [-Werror,-W" : " [-W") + diagnostic.name + ']';
  else if (!diagnostic.name.empty())
    out += " [" + diagnostic.name + ']';
  out += '\n';

  std::string_view line = file.lines.line(place.line);
  // A very long line (generated code) would hide the message.
  constexpr size_t maxLineLength = 400;
  if (line.empty() || line.size() > maxLineLength)
    return;
  std::vector<size_t> columns;
  out += "  " + printableLine(line, columns) + '\n';
  size_t beginByte = std::min<size_t>(place.column - 1, line.size());
  uint32_t length = diagnostic.range.end > diagnostic.range.begin ? diagnostic.range.end - diagnostic.range.begin : 1;
  size_t endByte = std::min<size_t>(beginByte + length, line.size());
  size_t begin = columns[beginByte];
  size_t end = std::max(columns[endByte], begin + 1);
  out += "  " + std::string(begin, ' ') + '^' + std::string(end - begin - 1, '~') + '\n';
  for (const FixIt &fix : diagnostic.fixIts) {
    LineColumn fixPlace = file.lines.locate(fix.range.begin);
    if (!fix.replacement.empty() && fixPlace.line == place.line && fixPlace.column - 1 < columns.size())
      out += "  " + std::string(columns[fixPlace.column - 1], ' ') + fix.replacement + '\n';
  }
}

std::vector<Diagnostic> DiagnosticEngine::takeSince(size_t count) {
  std::vector<Diagnostic> taken(diagnostics.begin() + static_cast<ptrdiff_t>(count), diagnostics.end());
  diagnostics.resize(count);
  for (const Diagnostic &diagnostic : taken)
    errorCount -= diagnostic.severity == Severity::Error;
  // If the originals are taken, their dropped repetitions are taken, too.
  if (!taken.empty())
    errorCount -= std::exchange(droppedErrors, 0);
  return taken;
}

void DiagnosticEngine::report(const std::vector<Diagnostic> &taken) {
  for (const Diagnostic &diagnostic : taken) {
    diagnostics.push_back(diagnostic);
    errorCount += diagnostic.severity == Severity::Error;
  }
}

bool DiagnosticEngine::hasOnlyOptionErrors() const {
  return hasErrors() && std::all_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic &diagnostic) {
           return diagnostic.severity != Severity::Error || diagnostic.isAboutOptions;
         });
}

SourceRange DiagnosticEngine::characterAt(uint32_t file, LineColumn place) const {
  uint32_t begin = files[file]->lines.lineStart(place.line) + place.column - 1;
  return {begin, begin + 1, file};
}

std::vector<const Diagnostic *> DiagnosticEngine::sorted() const {
  std::vector<size_t> order(diagnostics.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const SourceRange &left = diagnostics[a].range, &right = diagnostics[b].range;
    return std::tie(left.file, left.begin, a) < std::tie(right.file, right.begin, b);
  });
  std::vector<const Diagnostic *> out;
  for (size_t index : order)
    out.push_back(&diagnostics[index]);
  return out;
}

std::string DiagnosticEngine::render() const {
  std::string out;
  for (const Diagnostic *diagnostic : sorted()) {
    renderOne(*diagnostic, out);
    for (const Diagnostic &note : diagnostic->notes)
      renderOne(note, out);
  }
  return out;
}

std::optional<std::string> didYouMean(std::string_view name, const std::vector<std::string> &candidates) {
  std::optional<std::string> best;
  // Two wrong letters in six count as a typo. A one-letter name would resemble every other one-letter name.
  size_t bestDistance = std::min(std::max<size_t>(1, name.size() / 3) + 1, name.size());
  for (const std::string &candidate : candidates) {
    size_t lengthGap = candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (candidate == name || candidate.empty() || lengthGap >= bestDistance)
      continue;
    size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace tile::frontend
