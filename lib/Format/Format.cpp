// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inserts blank lines, and checks that only whitespace has changed.
#include "Format/Format.h"

#include "Format/Comments.h"

#include <algorithm>

namespace tile::format {

using namespace frontend;

namespace {

/// Computes blank lines. Definitions at module level are separated by two blank lines from everything else, and
/// definitions in blocks by one. Elsewhere the author's blank lines stay: up to two at module level, up to one in
/// blocks, and none before the first line of a block.
class BlankLines {
public:
  explicit BlankLines(const std::vector<LogicalLine> &lines) : lines(lines) {}

  std::vector<unsigned> run() {
    for (size_t i = 0; i < lines.size(); ++i) {
      counts.push_back(i == 0 ? 0 : countBefore(i));
      definitionAt.resize(lines[i].depth + 1);
      // A comment between a definition and the next line gets blank lines on both sides.
      definitionAt[lines[i].depth] = lines[i].kind == LogicalLine::Kind::Definition;
    }
    return std::move(counts);
  }

private:
  using Kind = LogicalLine::Kind;

  static unsigned distance(const LogicalLine &line) { return line.depth == 0 ? 2 : 1; }

  unsigned countBefore(size_t i) {
    const LogicalLine &line = lines[i], &previous = lines[i - 1];
    if (line.depth > previous.depth || previous.kind == Kind::Decorator)
      return 0;
    if (line.depth < definitionAt.size() && definitionAt[line.depth])
      return distance(line);
    unsigned given = std::min(line.blankLines, distance(line));
    if (line.kind != Kind::Decorator && line.kind != Kind::Definition)
      return given;
    if (previous.kind != Kind::Comment || previous.depth != line.depth)
      return distance(line);
    return separateHead(i) ? distance(line) : std::min(given, 1u);
  }

  /// Treats the comments above a definition as part of it. The blank lines that separate the definition go before these
  /// comments: at the first blank line among the comments or, if there is none, before the first comment. Returns true
  /// if the blank lines go after all comments.
  bool separateHead(size_t definition) {
    size_t first = definition;
    while (first > 0 && lines[first - 1].kind == Kind::Comment && lines[first - 1].depth == lines[definition].depth)
      --first;
    const bool isFree =
        first > 0 && lines[first - 1].depth >= lines[first].depth && lines[first - 1].kind != Kind::Decorator;
    size_t gap = first;
    while (isFree && gap < definition && counts[gap] == 0)
      ++gap;
    if (gap == definition && lines[definition].blankLines == 0)
      gap = first;
    if (gap == definition)
      return true;
    if (isFree)
      counts[gap] = distance(lines[definition]);
    for (size_t i = gap + 1; i < definition; ++i)
      counts[i] = std::min(counts[i], 1u);
    return false;
  }

  const std::vector<LogicalLine> &lines;
  std::vector<unsigned> counts;
  std::vector<bool> definitionAt; // by depth: whether the last line at that depth began a definition
};

/// Returns the parts of a program that determine its meaning: the tokens, and each directive before the token that
/// follows it.
std::vector<std::string_view> meaningOf(std::string_view text) {
  TokenStream stream = lexFile(text, 0);
  std::vector<std::string_view> meaning;
  auto directive = stream.directives.begin();
  for (const Token &token : stream.tokens) {
    for (; directive != stream.directives.end() && directive->range.begin < token.range.begin; ++directive) {
      std::string_view line = text.substr(directive->range.begin, directive->range.end - directive->range.begin);
      meaning.push_back(line.substr(0, line.find_last_not_of(" \t\f") + 1));
    }
    bool isMark = token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent;
    meaning.push_back(isMark ? spelling(token.kind)
                             : text.substr(token.range.begin, token.range.end - token.range.begin));
  }
  return meaning;
}

} // namespace

std::optional<std::string> format(const SourceFile &file, DiagnosticEngine &diagnostics) {
  const uint32_t number = diagnostics.addFile(file);
  if (!diagnostics.checkText(number))
    return std::nullopt;
  const TokenStream stream = lexFile(file.text, number);
  for (const Token &token : stream.tokens)
    if (token.kind == Tok::Error && !isHarmless(token))
      diagnostics.report(token.error, token.range, token.arguments);
  if (diagnostics.hasErrors())
    return std::nullopt;
  const std::vector<LogicalLine> lines = readLines(file.text, stream);
  const std::vector<unsigned> blankLines = BlankLines(lines).run();
  std::vector<TextLine> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    out.resize(out.size() + blankLines[i]);
    layOut(lines[i], out);
  }
  std::string text = joinLines(out);
  // If the meaning has changed, return the original text instead.
  return meaningOf(text) == meaningOf(file.text) ? text : file.text;
}

} // namespace tile::format
