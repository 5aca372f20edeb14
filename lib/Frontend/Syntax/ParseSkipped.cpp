// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: finds the names that unparsed statements of the host program may change.
//
//   A = B = compute()          assigns A and B
//   TABLE["x"] = compute()     changes TABLE
//   TABLE.update(compute())    changes TABLE
//   if compute():              assigns and changes the names in its block
//     SIZE = 4
//
// Afterwards these names have no known value: using one is an error, because the earlier value would be wrong. Function
// calls are assumed to change nothing, since functions of a host program usually compute, print or launch.

#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>

namespace tile::frontend {

bool isAssignment(Tok kind) {
  switch (kind) {
  case Tok::Equal:
  case Tok::PlusEqual:
  case Tok::MinusEqual:
  case Tok::StarEqual:
  case Tok::SlashEqual:
  case Tok::DoubleSlashEqual:
  case Tok::PercentEqual:
  case Tok::AmpersandEqual:
  case Tok::PipeEqual:
  case Tok::CaretEqual:
  case Tok::LeftShiftEqual:
  case Tok::RightShiftEqual:
  case Tok::DoubleStarEqual:
  case Tok::AtEqual:
    return true;
  default:
    return false;
  }
}

int nestingOf(Tok kind) {
  if (kind == Tok::LeftParen || kind == Tok::LeftBracket || kind == Tok::LeftBrace)
    return 1;
  return kind == Tok::RightParen || kind == Tok::RightBracket || kind == Tok::RightBrace ? -1 : 0;
}

bool endsLine(Tok kind) {
  return kind == Tok::Newline || kind == Tok::Indent || kind == Tok::Dedent || kind == Tok::Semicolon ||
         kind == Tok::End;
}

namespace {

/// Collects the targets in the tokens of one statement.
class Targets {
public:
  Targets(const std::vector<Token> &tokens, SkippedStmt &out, std::string_view source)
      : tokens(tokens), out(out), source(source) {}

  void read(size_t begin, size_t end) {
    Tok first = tokens[begin].kind;
    if (first == Tok::KwDel) {
      readTargets(begin + 1, end);
    } else if (first == Tok::KwFor) {
      readTargets(begin + 1, find(begin, end, [](Tok kind) { return kind == Tok::KwIn; }));
    } else if (first == Tok::KwWith) {
      for (size_t i = begin + 1; i + 1 < end; ++i)
        if (tokens[i].kind == Tok::KwAs && tokens[i + 1].kind == Tok::Name)
          out.assigned.push_back(text(i + 1));
    } else {
      readAssignment(begin, end);
      readCall(begin, end);
    }
  }

private:
  std::string text(size_t index) const {
    SourceRange range = tokens[index].range;
    return std::string(source.substr(range.begin, range.end - range.begin));
  }

  template <typename Predicate> size_t find(size_t begin, size_t end, Predicate isEnd) const {
    int depth = 0;
    for (size_t i = begin; i < end; ++i) {
      depth += nestingOf(tokens[i].kind);
      if (depth == 0 && isEnd(tokens[i].kind))
        return i;
    }
    return end;
  }

  void readAssignment(size_t begin, size_t end) {
    for (size_t equal; (equal = find(begin, end, isAssignment)) < end; begin = equal + 1)
      readTargets(begin, find(begin, equal, [](Tok kind) { return kind == Tok::Colon; })); // excludes the annotation
  }

  /// Reads names, elements and attributes, also in tuples and lists.
  void readTargets(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (tokens[i].kind != Tok::Name)
        continue;
      bool isPart = false;
      size_t next = i + 1;
      for (; next < end && (tokens[next].kind == Tok::Dot || tokens[next].kind == Tok::LeftBracket); isPart = true)
        next = tokens[next].kind == Tok::Dot ? next + 2
                                             : find(next, end, [](Tok kind) { return kind == Tok::RightBracket; }) + 1;
      (isPart ? out.changed : out.assigned).push_back(text(i));
      i = next - 1;
    }
  }

  /// Reads NAME.method(...).
  void readCall(size_t begin, size_t end) {
    bool isCall = end - begin > 4 && tokens[begin].kind == Tok::Name && tokens[begin + 1].kind == Tok::Dot &&
                  tokens[begin + 2].kind == Tok::Name && tokens[begin + 3].kind == Tok::LeftParen;
    if (isCall && isChangingMethod(text(begin + 2)))
      out.changed.push_back(text(begin));
  }

  const std::vector<Token> &tokens;
  SkippedStmt &out;
  std::string_view source;
};

} // namespace

/// Records the changes of the tokens [begin, end), which are whole statements.
void Parser::noteChanges(size_t begin, size_t end, Block &out) {
  auto *skipped = make<SkippedStmt>(stream.tokens[begin].range);
  Targets targets(stream.tokens, *skipped, source);
  size_t depth = 0;
  std::optional<size_t> definition; // depth of the enclosing definition, whose names are local
  for (size_t i = begin; i < end;) {
    Tok first = stream.tokens[i].kind;
    if (endsLine(first)) {
      depth += first == Tok::Indent;
      depth -= first == Tok::Dedent && depth > 0;
      if (first == Tok::Dedent && definition == depth)
        definition.reset();
      ++i;
      continue;
    }
    size_t lineEnd = i;
    while (lineEnd < end && !endsLine(stream.tokens[lineEnd].kind))
      ++lineEnd;
    bool isDefinition = first == Tok::KwDef || first == Tok::KwClass;
    if (isDefinition && !definition) {
      if (stream.tokens[i + 1].kind == Tok::Name)
        skipped->assigned.push_back(text(stream.tokens[i + 1]));
      bool hasBlock = lineEnd + 1 < end && stream.tokens[lineEnd + 1].kind == Tok::Indent;
      if (hasBlock)
        definition = depth;
    } else if (!definition) {
      targets.read(i, lineEnd);
    }
    i = lineEnd;
  }
  if (!skipped->assigned.empty() || !skipped->changed.empty())
    out.push_back(skipped);
}

} // namespace tile::frontend
