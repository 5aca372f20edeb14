// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spacing depends on the two tokens and the enclosing bracket: for example, there is no space around "=" of an argument
// or ":" of a slice, nor after a unary operator.
#include "Format/Spacing.h"

#include "Frontend/Syntax/ParserImpl.h"

namespace tile::format {

using namespace frontend;

bool endsOperand(Tok kind) {
  switch (kind) {
  case Tok::Name:
  case Tok::Int:
  case Tok::Float:
  case Tok::String:
  case Tok::FString:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::KwNone:
  case Tok::Ellipsis:
  case Tok::RightParen:
  case Tok::RightBracket:
  case Tok::RightBrace:
  case Tok::Error: // a literal that only Python has
    return true;
  default:
    return false;
  }
}

namespace {

bool canBePrefix(Tok kind) {
  return kind == Tok::Minus || kind == Tok::Plus || kind == Tok::Tilde || kind == Tok::Star ||
         kind == Tok::DoubleStar || kind == Tok::At;
}

class Spacing {
public:
  bool isSpaced(Tok kind) {
    Role role = roleOf(kind);
    bool spaced = decide(kind, role);
    enter(kind);
    beforePrevious = previous;
    previous = kind;
    previousRole = role;
    isFirst = false;
    return spaced;
  }

private:
  enum class Role : uint8_t { Plain, Prefix, Slice, Argument };

  struct Bracket {
    Tok open = Tok::End; // End: outside all brackets
    bool isIndex = false, isParameters = false;
    bool isAnnotated = false; // whether there has been a ':' since the last comma
    unsigned lambdas = 0;     // lambdas whose ":" has not been seen yet
  };

  Role roleOf(Tok kind) const {
    const Bracket &inside = brackets.back();
    if (canBePrefix(kind) && (isFirst || !endsOperand(previous)))
      return Role::Prefix;
    if (kind == Tok::Colon && inside.isIndex && inside.lambdas == 0)
      return Role::Slice;
    bool isArgument = inside.lambdas > 0 || (inside.open == Tok::LeftParen && !inside.isAnnotated);
    return kind == Tok::Equal && isArgument ? Role::Argument : Role::Plain;
  }

  bool decide(Tok kind, Role role) const {
    if (isFirst || nestingOf(previous) > 0 || nestingOf(kind) < 0 || kind == Tok::Comma || kind == Tok::Semicolon)
      return false;
    if (kind == Tok::Dot)
      return previous == Tok::KwFrom || previous == Tok::Int; // "1 .real"
    if (previous == Tok::Dot || (previous == Tok::Ellipsis && isFromImport))
      return kind == Tok::KwImport;
    if (previous == Tok::Comma || previous == Tok::Semicolon)
      return true;
    if (previousRole != Role::Plain || role == Role::Argument || kind == Tok::Colon)
      return false;
    bool opens = kind == Tok::LeftParen || kind == Tok::LeftBracket;
    return !opens || !endsOperand(previous);
  }

  void enter(Tok kind) {
    Bracket &inside = brackets.back();
    if (nestingOf(kind) > 0) {
      Bracket bracket;
      bracket.open = kind;
      bracket.isIndex = kind == Tok::LeftBracket && !isFirst && endsOperand(previous);
      bracket.isParameters = kind == Tok::LeftParen && beforePrevious == Tok::KwDef;
      brackets.push_back(bracket);
    } else if (nestingOf(kind) < 0) {
      if (brackets.size() > 1)
        brackets.pop_back();
    } else if (kind == Tok::KwLambda) {
      ++inside.lambdas;
    } else if (kind == Tok::Colon && inside.lambdas > 0) {
      --inside.lambdas;
    } else if (kind == Tok::Colon) {
      inside.isAnnotated = inside.isParameters;
    } else if (kind == Tok::Comma && inside.lambdas == 0) {
      inside.isAnnotated = false;
    }
    isFromImport = isFirst ? kind == Tok::KwFrom : isFromImport && kind != Tok::KwImport;
  }

  std::vector<Bracket> brackets{Bracket()};
  bool isFirst = true, isFromImport = false;
  Tok previous = Tok::End, beforePrevious = Tok::End;
  Role previousRole = Role::Plain;
};

} // namespace

std::vector<bool> findSpaces(const std::vector<Element> &elements) {
  Spacing spacing;
  std::vector<bool> spaces;
  for (const Element &element : elements)
    spaces.push_back(!element.isComment && spacing.isSpaced(element.kind));
  return spaces;
}

} // namespace tile::format
