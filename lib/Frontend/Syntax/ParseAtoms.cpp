// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: atoms, that is names, literals, parentheses and lists, and the expressions inside f-strings.

#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>

namespace tile::frontend {

const Expr *ExpressionParser::parseAtom() {
  const Token &token = peek();
  switch (token.kind) {
  case Tok::Name: {
    if (bindings)
      if (auto bound = bindings->find(text(peek())); bound != bindings->end()) {
        advance();
        return bound->second;
      }
    auto *name = make<NameExpr>(advance().range);
    name->id = text(name->range);
    return name;
  }
  case Tok::Int:
  case Tok::Float:
    return parseNumber();
  case Tok::String:
  case Tok::FString:
    return parseStrings();
  case Tok::KwTrue:
  case Tok::KwFalse: {
    auto *node = make<BoolExpr>(advance().range);
    node->value = token.kind == Tok::KwTrue;
    return node;
  }
  case Tok::KwNone:
    return make<NoneExpr>(advance().range);
  case Tok::Ellipsis:
    return make<EllipsisExpr>(advance().range);
  case Tok::LeftParen:
    return parseParenthesized();
  case Tok::LeftBracket:
    return parseList();
  case Tok::LeftBrace:
    if (hostSyntax > 0)
      return parseDict();
    error(Diag::no_dict, token.range);
    return nullptr;
  case Tok::KwLambda:
    error(Diag::no_lambda, token.range);
    return nullptr;
  case Tok::KwAwait:
  case Tok::KwYield:
    error(Diag::no_async, token.range, {text(token)});
    return nullptr;
  case Tok::Star:
    error(Diag::starred_expression, token.range);
    return nullptr;
  default:
    unexpected("an expression");
    return nullptr;
  }
}

/// "(" [exprs] ")": parentheses, or a tuple.
const Expr *ExpressionParser::parseParenthesized() {
  SourceRange begin = advance().range;
  if (accept(Tok::RightParen))
    return make<TupleExpr>(rangeFrom(begin));
  const Expr *value = parseExpressions();
  if (!value || rejectComprehension() || !expect(Tok::RightParen, "to close '('"))
    return nullptr;
  // The arena owns mutable nodes; only the parser modifies them.
  auto *node = const_cast<Expr *>(value);
  bool isBareTuple = value->kind == ExprKind::Tuple && !value->parenthesized;
  if (isBareTuple)
    node->range = rangeFrom(begin);
  node->parenthesized = true;
  node->outer = rangeFrom(begin);
  return value;
}

const Expr *ExpressionParser::parseList() {
  auto *list = make<ListExpr>(advance().range);
  while (!at(Tok::RightBracket)) {
    const Expr *element = at(Tok::Star) && hostSyntax > 0 ? parseStarred() : parseExpression();
    if (element && list->elements.empty() && at(Tok::KwFor)) {
      element = parseComprehension(element);
      return element && expect(Tok::RightBracket, "to close '['") ? element : nullptr;
    }
    if (!element || rejectComprehension())
      return nullptr;
    list->elements.push_back(element);
    if (!accept(Tok::Comma))
      break;
  }
  if (!expect(Tok::RightBracket, "or ',' in the list"))
    return nullptr;
  list->range = rangeFrom(list->range);
  return finishList(list, list->elements);
}

const Expr *ExpressionParser::parseNumber() {
  const Token &token = advance();
  if (token.kind == Tok::Float) {
    auto *node = make<FloatExpr>(token.range);
    node->value = decodeFloat(text(token.range));
    return node;
  }
  std::optional<Int128> value = decodeInteger(text(token.range));
  if (!value) {
    // Either a digit is invalid, or there are too many.
    bool isTooLarge = token.range.end - token.range.begin > 30;
    error(isTooLarge ? Diag::integer_too_large : Diag::invalid_number, token.range, {isTooLarge ? "127" : text(token)});
    return nullptr;
  }
  auto *node = make<IntExpr>(token.range);
  node->value = *value;
  return node;
}

/// Parses adjacent string literals, which are concatenated, including f-strings.
const Expr *ExpressionParser::parseStrings() {
  SourceRange begin = peek().range;
  std::vector<FStringPart> parts;
  bool isFormat = false;
  auto addText = [&](const std::string &piece) {
    if (!parts.empty() && !parts.back().value)
      parts.back().text += piece;
    else if (!piece.empty())
      parts.push_back({piece, nullptr, 0, {}, false});
  };
  while (at(Tok::String) || at(Tok::FString)) {
    const Token &token = advance();
    if (token.kind == Tok::FString) {
      isFormat = true;
      std::vector<FStringPart> pieces;
      if (!parseFString(token, pieces))
        return nullptr;
      for (FStringPart &piece : pieces) {
        if (piece.value)
          parts.push_back(std::move(piece));
        else
          addText(piece.text);
      }
      continue;
    }
    StringPieces pieces = splitString(text(token.range));
    std::string_view body = text(token.range).substr(pieces.bodyBegin, pieces.bodyEnd - pieces.bodyBegin);
    std::optional<std::string> value = decodeString(body, pieces.isRaw);
    if (!value) {
      error(Diag::invalid_escape, token.range);
      return nullptr;
    }
    addText(*value);
  }
  if (isFormat) {
    auto *node = make<FStringExpr>(rangeFrom(begin));
    std::vector<const Expr *> children;
    for (const FStringPart &part : parts)
      children.push_back(part.value);
    node->parts = std::move(parts);
    return finishList(node, children);
  }
  auto *node = make<StringExpr>(rangeFrom(begin));
  if (!parts.empty())
    node->value = std::move(parts.front().text);
  return node;
}

/// Splits the body of an f-string into text and "{expr!r:format}" fields.
bool ExpressionParser::parseFString(const Token &token, std::vector<FStringPart> &parts) {
  StringPieces pieces = splitString(text(token.range));
  std::string_view body = text(token.range).substr(pieces.bodyBegin, pieces.bodyEnd - pieces.bodyBegin);
  size_t offset = token.range.begin + pieces.bodyBegin;
  std::string literal;
  auto flush = [&] {
    std::optional<std::string> value = decodeString(literal, pieces.isRaw);
    if (!value) {
      error(Diag::invalid_escape, token.range);
      return false;
    }
    if (!value->empty())
      parts.push_back({*value, nullptr, 0, {}, false});
    literal.clear();
    return true;
  };
  for (size_t position = 0; position < body.size();) {
    char c = body[position];
    bool isDoubled = position + 1 < body.size() && body[position + 1] == c;
    if ((c == '{' || c == '}') && isDoubled) {
      literal += c;
      position += 2;
    } else if (c == '}') {
      error(Diag::invalid_fstring, token.range, {"a single '}' is not allowed; write '}}'"});
      return false;
    } else if (c == '{') {
      FStringPart part;
      if (!flush() || !(part.value = parseFStringField(body, offset, ++position, part)))
        return false;
      parts.push_back(std::move(part));
    } else {
      literal += c;
      ++position;
    }
  }
  return flush();
}

/// Parses a field whose expression starts at body[position], and moves past its '}'.
const Expr *ExpressionParser::parseFStringField(std::string_view body, size_t offset, size_t &position,
                                                FStringPart &part) {
  size_t begin = position;
  int depth = 0;
  char quote = 0;
  for (; position < body.size(); ++position) {
    char c = body[position];
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
      --depth;
    } else if (depth == 0) {
      bool isNotEqual = c == '!' && position + 1 < body.size() && body[position + 1] == '=';
      if (isNotEqual)
        ++position;
      else if (c == '}' || c == ':' || c == '!')
        break;
    }
  }
  // f"{x=}" is f"x={x!r}".
  size_t end = position;
  bool showsText = end > begin + 1 && end < body.size() && body[end - 1] == '=' &&
                   std::string_view("=!<>").find(body[end - 2]) == std::string_view::npos;
  if (showsText) {
    part.text = std::string(body.substr(begin, end - begin));
    part.conversion = 'r';
    --end;
  }
  auto place = [&](size_t at) { return static_cast<uint32_t>(offset + at); };
  SourceRange range{place(begin), place(end), module.file};
  range.file = previousRange.file;
  if (position >= body.size()) {
    error(Diag::invalid_fstring, range, {"'{' is never closed"});
    return nullptr;
  }
  Parser inner(source, {lexExpression(source, range), {}}, module, diagnostics);
  inner.quiet = quiet;
  inner.nesting = nesting + 1;
  if (inner.tooDeep())
    return nullptr;
  const Expr *value = inner.parseWholeExpression();
  failedQuietly |= !value;
  if (value && body[position] == '!') {
    part.conversion = position + 1 < body.size() ? body[position + 1] : 0;
    bool isKnown = part.conversion == 'r' || part.conversion == 's' || part.conversion == 'a';
    position += 2;
    if (!isKnown || position >= body.size() || (body[position] != '}' && body[position] != ':')) {
      error(Diag::invalid_fstring, range, {"the conversion after '!' must be r, s or a"});
      return nullptr;
    }
  }
  if (value && body[position] == ':') {
    size_t end = body.find('}', position);
    if (end == std::string_view::npos || body.substr(position, end - position).find('{') != std::string_view::npos) {
      error(Diag::invalid_fstring, range, {"the format after ':' must be plain text"});
      return nullptr;
    }
    part.hasFormat = true;
    part.format = std::string(body.substr(position + 1, end - position - 1));
    position = end;
  }
  ++position;
  return value;
}

} // namespace tile::frontend
