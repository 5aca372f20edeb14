// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds scopes and uses in expressions: calls, lambdas, comprehensions and f-string fields.
#include "LanguageServer/ScopeReader.h"

namespace tile::lsp {

using namespace frontend;
using Role = NameUse::Role;

static bool canBeCalled(Tok kind) {
  return kind == Tok::Name || kind == Tok::RightParen || kind == Tok::RightBracket || kind == Tok::String;
}

void ScopeReader::readExpression(size_t i, size_t end, size_t scope) {
  for (; i < end; ++i) {
    Tok kind = kindAt(i);
    if (nestingOf(kind) > 0) {
      size_t close = matching(i, end);
      bool isCall = kind == Tok::LeftParen && i > 0 && canBeCalled(kindAt(i - 1));
      bool isNamed = isCall && kindAt(i - 1) == Tok::Name && (i < 2 || kindAt(i - 2) != Tok::Dot);
      if (find(i + 1, close, Tok::KwFor) < close)
        readComprehension(i + 1, close, scope);
      else if (isCall)
        readArguments(i + 1, close, scope, isNamed ? textAt(i - 1) : "");
      else
        readExpression(i + 1, close, scope);
      i = close;
    } else if (kind == Tok::KwLambda) {
      i = readLambda(i, end, scope) - 1;
    } else if (kind == Tok::FString) {
      readFString(rangeAt(i), scope);
    } else if (kind == Tok::Name) {
      readName(i, end, scope);
    }
  }
}

void ScopeReader::readName(size_t i, size_t end, size_t scope) {
  if (i > 0 && kindAt(i - 1) == Tok::Dot) {
    NameUse &use = add(i, scope, Role::Attribute);
    size_t at = i;
    while (at >= 2 && kindAt(at - 1) == Tok::Dot && kindAt(at - 2) == Tok::Name)
      use.of.insert(use.of.begin(), textAt(at -= 2));
    bool isWhole = at == 0 || kindAt(at - 1) != Tok::Dot;
    if (!isWhole)
      use.of.clear();
    return;
  }
  bool isWalrus = i + 1 < end && kindAt(i + 1) == Tok::Walrus;
  if (!isWalrus)
    return void(add(i, scope, Role::Read));
  while (scopeAt(scope).kind == Scope::Kind::Comprehension)
    scope = scopeAt(scope).parent;
  bind(i, scope);
}

void ScopeReader::readArguments(size_t i, size_t end, size_t scope, const std::string &callee) {
  while (i < end) {
    size_t comma = find(i, end, Tok::Comma);
    // Skip commas between a lambda's parameters.
    while (comma < end && endOfLambdaParameters(i, comma, end) > comma)
      comma = find(comma + 1, end, Tok::Comma);
    if (kindAt(i) == Tok::Name && i + 1 < comma && kindAt(i + 1) == Tok::Equal) {
      add(i, scope, Role::Argument).callee = callee;
      i += 2;
    }
    readExpression(i, comma, scope);
    i = comma + 1;
  }
}

/// If the comma separates parameters of a lambda that begins between `i` and the comma, returns the end of the lambda's
/// parameters; otherwise returns `i`.
size_t ScopeReader::endOfLambdaParameters(size_t i, size_t comma, size_t end) const {
  size_t lambda = find(i, comma, Tok::KwLambda);
  if (lambda >= comma)
    return i;
  size_t colon = find(lambda, end, Tok::Colon);
  return colon < end ? colon : i;
}

size_t ScopeReader::readLambda(size_t lambda, size_t end, size_t outer) {
  size_t colon = find(lambda + 1, end, Tok::Colon), i = lambda + 1;
  size_t scope = open(Scope::Kind::Lambda, outer);
  while (i < colon) {
    size_t comma = find(i, colon, Tok::Comma);
    while (i < comma && kindAt(i) != Tok::Name)
      ++i;
    if (i < comma) {
      bind(i, scope);
      readExpression(i + 1, comma, outer);
    }
    i = comma + 1;
  }
  if (colon >= end)
    return end;
  size_t stop = find(colon + 1, end, [](Tok kind) { return kind == Tok::Comma || kind == Tok::KwFor; });
  readExpression(colon + 1, stop, scope);
  return stop;
}

/// Reads the contents of a comprehension's brackets. The first iterable belongs to the enclosing scope.
void ScopeReader::readComprehension(size_t i, size_t end, size_t outer) {
  size_t scope = open(Scope::Kind::Comprehension, outer);
  size_t at = find(i, end, Tok::KwFor);
  readExpression(i, at, scope);
  for (bool isFirst = true; at < end; isFirst = false) {
    size_t in = find(at + 1, end, Tok::KwIn);
    readTargets(at + 1, in, scope);
    size_t next = find(in + 1, end, [](Tok kind) { return kind == Tok::KwFor || kind == Tok::KwIf; });
    // "x if c else y for" is not a filter condition, but is read in the same way.
    readExpression(in + 1, next, isFirst ? outer : scope);
    at = find(next, end, Tok::KwFor);
    readExpression(next, at, scope);
  }
}

/// Reads the expressions in braces.
void ScopeReader::readFString(SourceRange range, size_t scope) {
  for (uint32_t at = range.begin; at < range.end; ++at) {
    if (text[at] != '{')
      continue;
    if (at + 1 < range.end && text[at + 1] == '{') {
      ++at;
      continue;
    }
    uint32_t begin = ++at;
    for (int depth = 0; at < range.end; ++at) {
      bool endsValue = text[at] == ':' || text[at] == '}' || (text[at] == '!' && text[at + 1] != '=');
      if (depth == 0 && endsValue)
        break;
      depth += llvm::StringRef("([{").contains(text[at]) - llvm::StringRef(")]}").contains(text[at]);
    }
    std::vector<Token> field = lexExpression(text, {begin, at, range.file});
    const std::vector<Token> *outside = std::exchange(tokens, &field);
    std::vector<size_t> closingOutside = std::exchange(closing, findClosing(field));
    readExpression(0, field.size() - 1, scope);
    tokens = outside; // restores the tokens outside; braces in the format specification are separate fields
    closing = std::move(closingOutside);
  }
}

} // namespace tile::lsp
