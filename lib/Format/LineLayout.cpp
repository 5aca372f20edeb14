// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breaks and indents a logical line.
//
// Line breaks inside brackets stay where the author has put them. Only a line that is too long is broken further: after
// the last comma that fits, or before the last operator, inside the outermost possible brackets. The next line is
// aligned with the text after the bracket. If the bracket is the last character of its line, the next line is indented
// one step more than that line:
//
//   f(a,            f(
//     b)                a,
//                   )
#include "Format/LineLayout.h"

#include "Format/Spacing.h"
#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>

namespace tile::format {

using namespace frontend;

unsigned widthOf(std::string_view text) {
  size_t lineEnd = text.find_last_of("\r\n");
  if (lineEnd != std::string_view::npos)
    text.remove_prefix(lineEnd + 1);
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

namespace {

class Layout {
public:
  Layout(const LogicalLine &line, std::vector<TextLine> &out)
      : elements(line.elements), spaces(findSpaces(elements)), indent(line.depth * indentWidth), out(out) {
    findBreaks();
  }

  void run() {
    startLine(indent);
    for (size_t begin = 0; begin < elements.size();) {
      size_t end = placeSegment(begin, endOfLine(begin));
      if (end < elements.size())
        breakBefore(elements[end]);
      begin = end;
    }
  }

private:
  /// A position where a line can break: after a comma, or before an operator.
  struct Break {
    size_t depth = 0; // 0: no break
    size_t bracket = 0;
    bool isOperator = false;

    bool isBetterThan(const Break &other) const {
      return depth != other.depth ? depth < other.depth : isOperator <= other.isOperator;
    }
  };

  struct Bracket {
    unsigned column;     // column of the lines inside the bracket
    unsigned lineIndent; // indentation of the line with the bracket
    bool endsLine;
  };

  /// Finds the breaks in calls, tuples and lists, but not in indices.
  void findBreaks() {
    std::vector<size_t> open; // enclosing brackets
    breaks.resize(elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      int nesting = elements[i].isComment ? 0 : nestingOf(elements[i].kind);
      if (nesting < 0 && !open.empty())
        open.pop_back();
      bool isOperator = i > 0 && joinsOperands(i);
      bool canStart =
          isOperator || (i > 0 && nesting >= 0 && !elements[i].isComment && elements[i - 1].kind == Tok::Comma);
      if (canStart && !open.empty() && !isIndex(open.back()))
        breaks[i] = {open.size(), open.back(), isOperator};
      if (nesting > 0)
        open.push_back(i);
    }
  }

  /// Returns true for binary operators with low precedence.
  bool joinsOperands(size_t i) const {
    Tok kind = elements[i].kind;
    return kind == Tok::KwAnd || kind == Tok::KwOr || kind == Tok::Pipe ||
           ((kind == Tok::Plus || kind == Tok::Minus) && endsOperand(elements[i - 1].kind));
  }

  bool isIndex(size_t bracket) const {
    return elements[bracket].kind == Tok::LeftBracket && bracket > 0 && endsOperand(elements[bracket - 1].kind);
  }

  /// Places elements that are on one line in the source. If that line has to be broken, the following lines of the same
  /// list are merged into it, because keeping the author's line ends would leave short lines. Returns the index after
  /// the last element.
  size_t placeSegment(size_t begin, size_t end) {
    while (std::optional<size_t> next = findBreak(begin, end)) {
      place(begin, *next);
      begin = *next;
      breakBefore(elements[begin]);
      while (!brackets.back().endsLine && end < elements.size() && breaks[end].depth > 0 &&
             breaks[end].bracket == breaks[begin].bracket)
        end = endOfLine(end);
    }
    place(begin, end);
    return end;
  }

  size_t endOfLine(size_t begin) const {
    size_t end = begin + 1;
    while (end < elements.size() && elements[end].lineEnds == 0)
      ++end;
    return end;
  }

  /// Returns the element that must start a new line, or nullopt if everything fits or there is no position for a break.
  std::optional<size_t> findBreak(size_t begin, size_t end) const {
    unsigned column = widthOf(out.back().code);
    std::optional<size_t> best;
    for (size_t i = begin; i < end && !elements[i].isComment; ++i) {
      if (i > begin && breaks[i].depth > 0 && (!best || breaks[i].isBetterThan(breaks[*best])))
        best = i;
      bool spansLines = elements[i].text.find('\n') != std::string_view::npos;
      column = (spansLines ? 0 : column + (i > begin && spaces[i])) + widthOf(elements[i].text);
      if (column > maxColumns)
        return best;
    }
    return std::nullopt;
  }

  void place(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Element &element = elements[i];
      if (element.isComment && !isLineEmpty) {
        out.back().comment = element.text;
        out.back().column = element.column;
        continue;
      }
      if (spaces[i] && !isLineEmpty)
        out.back().code += ' ';
      out.back().code += element.text;
      isLineEmpty = false;
      int nesting = element.isComment ? 0 : nestingOf(element.kind);
      if (nesting > 0) {
        bool endsLine = i + 1 < elements.size() && (elements[i + 1].lineEnds > 0 || elements[i + 1].isComment);
        brackets.push_back({widthOf(out.back().code), lineIndent, endsLine});
      } else if (nesting < 0 && !brackets.empty()) {
        brackets.pop_back();
      }
    }
  }

  void breakBefore(const Element &next) {
    bool closes = !next.isComment && nestingOf(next.kind) < 0;
    // Outside brackets, a backslash continues the line.
    if (brackets.empty() && !next.isComment)
      out.back().code += " \\";
    bool opened = !out.back().code.empty() && !brackets.empty() && brackets.back().endsLine &&
                  widthOf(out.back().code) == brackets.back().column;
    if (next.lineEnds > 1 && !closes && !opened && !brackets.empty())
      startLine(0);
    if (brackets.empty())
      return startLine(indent + indentWidth);
    const Bracket &inside = brackets.back();
    startLine(!inside.endsLine ? inside.column : closes ? inside.lineIndent : inside.lineIndent + indentWidth);
  }

  void startLine(unsigned column) {
    out.emplace_back().code = std::string(column, ' ');
    lineIndent = column;
    isLineEmpty = true;
  }

  const std::vector<Element> &elements;
  std::vector<bool> spaces;
  std::vector<Break> breaks; // position before each element
  unsigned indent, lineIndent = 0;
  bool isLineEmpty = true;
  std::vector<Bracket> brackets;
  std::vector<TextLine> &out;
};

} // namespace

void layOut(const LogicalLine &line, std::vector<TextLine> &out) {
  Layout(line, out).run();
}

} // namespace tile::format
