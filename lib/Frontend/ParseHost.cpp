// Parser: lambdas and dictionaries, which only host code has, and comprehensions.

#include "Frontend/ParserImpl.h"

namespace tile::frontend {

/// "lambda" [names] ":" expr
const Expr *Parser::parseLambda() {
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *lambda = make<LambdaExpr>(advance().range);
  while (at(Tok::Name)) {
    lambda->parameters.push_back(text(advance()));
    if (!accept(Tok::Comma))
      break;
  }
  if (!expect(Tok::Colon, "after the parameters of a lambda") || !(lambda->body = parseExpression()))
    return nullptr;
  lambda->range = rangeFrom(lambda->range);
  return finish(lambda, {lambda->body});
}

/// "{" [key ":" value {"," key ":" value}] "}"
const Expr *Parser::parseDict() {
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *dict = make<DictExpr>(advance().range);
  while (!at(Tok::RightBrace)) {
    const Expr *key = parseExpression();
    if (!key || !expect(Tok::Colon, "after a key"))
      return nullptr;
    const Expr *value = parseExpression();
    if (!value)
      return nullptr;
    dict->keys.push_back(key);
    dict->values.push_back(value);
    if (!accept(Tok::Comma))
      break;
  }
  if (!expect(Tok::RightBrace, "or ',' in the dictionary"))
    return nullptr;
  dict->range = rangeFrom(dict->range);
  std::vector<const Expr *> children = dict->keys;
  children.insert(children.end(), dict->values.begin(), dict->values.end());
  return finishList(dict, children);
}

/// "for" target "in" or_e {"if" or_e}, once or more, behind the element
const Expr *Parser::parseComprehension(const Expr *element) {
  auto *node = make<ComprehensionExpr>(element->fullRange());
  node->element = element;
  while (accept(Tok::KwFor)) {
    ComprehensionExpr::Clause clause;
    bool isTuple = accept(Tok::LeftParen);
    while (at(Tok::Name)) {
      clause.targets.push_back(text(advance()));
      if (!accept(Tok::Comma))
        break;
    }
    if (isTuple && !expect(Tok::RightParen, "to close '('"))
      return nullptr;
    if (clause.targets.empty() || !expect(Tok::KwIn, "in the comprehension") || !(clause.iterable = parseOr()))
      return nullptr;
    while (accept(Tok::KwIf)) {
      clause.conditions.push_back(parseOr());
      if (!clause.conditions.back())
        return nullptr;
    }
    node->clauses.push_back(std::move(clause));
  }
  node->range = rangeFrom(element->fullRange());
  std::vector<const Expr *> children{element};
  for (const ComprehensionExpr::Clause &clause : node->clauses) {
    children.push_back(clause.iterable);
    children.insert(children.end(), clause.conditions.begin(), clause.conditions.end());
  }
  return finishList(node, children);
}

} // namespace tile::frontend
