// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts tokens to logical lines. Comments are not tokens; they are found between tokens.
//
// A comment before the end of a block belongs to the innermost block that has the indentation of the comment.
#include "Format/SourceLines.h"

#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>
#include <utility>

namespace tile::format {

using namespace frontend;

namespace {

/// The comments and line ends between two tokens.
struct Gap {
  std::vector<Element> comments;
  unsigned lineEnds = 0; // after the last comment
};

class Reader {
public:
  Reader(std::string_view text, const TokenStream &stream) : text(text), tokens(stream.tokens) {}

  std::vector<LogicalLine> run() {
    for (size_t i = 0; i < tokens.size();) {
      readStart(i);
      if (tokens[i].kind == Tok::End)
        break;
      readLine(i);
    }
    return std::move(lines);
  }

private:
  Gap gapTo(uint32_t end) {
    Gap gap;
    while (position < end) {
      if (text[position] == '\n' || text[position] == '\r') {
        position += text.substr(position).starts_with("\r\n") ? 2 : 1;
        ++gap.lineEnds;
        lineStart = position;
      } else if (text[position] == '#') {
        size_t stop = std::min(text.find_first_of("\r\n", position), text.size());
        std::string_view comment = text.substr(position, stop - position);
        comment = comment.substr(0, comment.find_last_not_of(" \t\f") + 1);
        gap.comments.push_back(
            {.isComment = true, .text = comment, .lineEnds = gap.lineEnds, .column = position - lineStart});
        gap.lineEnds = 0;
        position = stop;
      } else {
        ++position;
      }
    }
    return gap;
  }

  /// Returns the column after the text, counted as in the lexer.
  uint32_t columnOf(uint32_t begin, uint32_t end) const {
    uint32_t column = 0;
    for (uint32_t at = begin; at < end; ++at)
      column = text[at] == '\t' ? (column / 8 + 1) * 8 : text[at] == '\f' ? 0 : column + 1;
    return column;
  }

  /// Reads everything before the first token of a line: comments, and the beginnings and ends of blocks.
  void readStart(size_t &i) {
    Gap gap = gapTo(tokens[i].range.begin);
    std::vector<uint32_t> before = columns;
    bool opens = false;
    for (; tokens[i].kind == Tok::Indent || tokens[i].kind == Tok::Dedent; ++i) {
      opens = tokens[i].kind == Tok::Indent;
      if (opens)
        columns.push_back(columnOf(lineStart, tokens[i].range.begin));
      else
        columns.pop_back();
    }
    for (Element &comment : gap.comments) {
      LogicalLine line;
      line.kind = LogicalLine::Kind::Comment;
      line.blankLines = std::exchange(comment.lineEnds, 0);
      line.blankLines -= !lines.empty() && lines.back().kind == LogicalLine::Kind::Comment && line.blankLines > 0;
      size_t depth = opens ? columns.size() : before.size();
      while (!opens && depth > columns.size() && before[depth - 1] > comment.column)
        --depth;
      line.depth = depth - 1;
      line.elements.push_back(comment);
      lines.push_back(std::move(line));
    }
    blankLines = gap.lineEnds - (!gap.comments.empty() && gap.lineEnds > 0);
  }

  void readLine(size_t &i) {
    LogicalLine line;
    line.depth = columns.size() - 1;
    line.blankLines = blankLines;
    line.kind = kindOf(i);
    int nesting = 0;
    for (; tokens[i].kind != Tok::End; ++i) {
      const Token &token = tokens[i];
      Gap gap = gapTo(token.range.begin);
      for (Element &comment : gap.comments) {
        if (nesting == 0) // follows a backslash
          comment.lineEnds = 0;
        line.elements.push_back(comment);
      }
      nesting += nestingOf(token.kind);
      position = token.range.end;
      if (token.kind == Tok::Newline) {
        lineStart = position;
        ++i;
        break;
      }
      std::string_view spelling = text.substr(token.range.begin, token.range.end - token.range.begin);
      line.elements.push_back(
          {.kind = token.kind, .text = spelling, .lineEnds = line.elements.empty() ? 0 : gap.lineEnds});
      if (size_t end = spelling.find_last_of("\r\n"); end != std::string_view::npos)
        lineStart = token.range.begin + end + 1;
    }
    lines.push_back(std::move(line));
  }

  LogicalLine::Kind kindOf(size_t i) const {
    Tok first = tokens[i].kind == Tok::KwAsync ? tokens[i + 1].kind : tokens[i].kind;
    if (first == Tok::At)
      return LogicalLine::Kind::Decorator;
    return first == Tok::KwDef || first == Tok::KwClass ? LogicalLine::Kind::Definition : LogicalLine::Kind::Other;
  }

  std::string_view text;
  const std::vector<Token> &tokens;
  uint32_t position = 0, lineStart = 0;
  unsigned blankLines = 0;
  std::vector<uint32_t> columns{0}; // indentation of the open blocks
  std::vector<LogicalLine> lines;
};

} // namespace

std::vector<LogicalLine> readLines(std::string_view text, const TokenStream &stream) {
  return Reader(text, stream).run();
}

bool isHarmless(const Token &token) {
  return token.error == Diag::bytes_literal || token.error == Diag::invalid_number;
}

} // namespace tile::format
