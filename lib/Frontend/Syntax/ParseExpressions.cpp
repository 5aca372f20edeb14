// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: expressions. One function per precedence level down to comparisons, precedence climbing below.

#include "Frontend/Syntax/ParserImpl.h"

namespace tile::frontend {

namespace {

// Limits the height of the tree, so that recursive visitors (printing, evaluation, code generation) do not overflow the
// stack.
constexpr uint32_t maxDepth = 400;

struct BinaryLevel {
  Tok token;
  BinaryOp op;
  int level;
};

// bor < bxor < band < shift < additive < multiplicative
constexpr int lowestBinaryLevel = 0, unaryLevel = 6;
constexpr BinaryLevel binaryLevels[] = {
    {Tok::Pipe, BinaryOp::BitOr, 0},        {Tok::Caret, BinaryOp::BitXor, 1},
    {Tok::Ampersand, BinaryOp::BitAnd, 2},  {Tok::LeftShift, BinaryOp::LShift, 3},
    {Tok::RightShift, BinaryOp::RShift, 3}, {Tok::Plus, BinaryOp::Add, 4},
    {Tok::Minus, BinaryOp::Sub, 4},         {Tok::Star, BinaryOp::Mult, 5},
    {Tok::Slash, BinaryOp::Div, 5},         {Tok::DoubleSlash, BinaryOp::FloorDiv, 5},
    {Tok::Percent, BinaryOp::Mod, 5},       {Tok::At, BinaryOp::MatMult, 5},
};

const BinaryLevel *binaryLevel(Tok token) {
  for (const BinaryLevel &entry : binaryLevels)
    if (entry.token == token)
      return &entry;
  return nullptr;
}

} // namespace

const Expr *TokenCursor::finish(Expr *expr, std::initializer_list<const Expr *> children) {
  return finishList(expr, std::vector<const Expr *>(children));
}

/// Sets the height of a node; reports a tree that is too high for visitors.
const Expr *TokenCursor::finishList(Expr *expr, const std::vector<const Expr *> &children) {
  for (const Expr *child : children)
    if (child && child->depth >= expr->depth)
      expr->depth = child->depth + 1;
  if (expr->depth <= maxDepth)
    return expr;
  error(Diag::too_deep, expr->range, {"operators in one expression", std::to_string(maxDepth)});
  return nullptr;
}

/// exprs = expr { "," expr } [","]; a comma makes a tuple.
const Expr *ExpressionParser::parseExpressions() {
  SourceRange begin = peek().range;
  auto parseItem = [&]() -> const Expr * {
    if (!at(Tok::Star))
      return parseExpression();
    auto *starred = make<StarredExpr>(advance().range);
    starred->value = parseExpression();
    starred->range = rangeFrom(starred->range);
    return starred->value ? finish(starred, {starred->value}) : nullptr;
  };
  const Expr *first = parseItem();
  if (!first)
    return nullptr;
  if (!at(Tok::Comma))
    return first->kind == ExprKind::Starred && !at(Tok::Equal)
               ? (error(Diag::starred_expression, first->range), nullptr)
               : first;
  auto *tuple = make<TupleExpr>(begin);
  tuple->elements.push_back(first);
  while (accept(Tok::Comma)) {
    bool isLast = at(Tok::Newline) || at(Tok::Equal) || at(Tok::RightParen) || at(Tok::Semicolon) || at(Tok::End) ||
                  at(Tok::RightBracket);
    if (isLast)
      break;
    const Expr *element = parseItem();
    if (!element)
      return nullptr;
    tuple->elements.push_back(element);
  }
  tuple->range = rangeFrom(begin);
  if (!at(Tok::Equal))
    for (const Expr *element : tuple->elements)
      if (element->kind == ExprKind::Starred) {
        error(Diag::starred_expression, element->range);
        return nullptr;
      }
  return finishList(tuple, tuple->elements);
}

/// expr = or_e [ "if" or_e "else" expr ]
const Expr *ExpressionParser::parseExpression() {
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  if (at(Tok::KwLambda) && hostSyntax > 0)
    return parseLambda();
  if (at(Tok::KwLambda)) {
    error(Diag::no_lambda, peek().range);
    return nullptr;
  }
  if (at(Tok::KwYield) || at(Tok::KwAwait)) {
    error(Diag::no_async, peek().range, {text(peek())});
    return nullptr;
  }
  const Expr *value = parseOr();
  if (!value || rejectWalrus())
    return nullptr;
  if (!accept(Tok::KwIf))
    return value;
  auto *conditional = make<ConditionalExpr>(value->fullRange());
  conditional->thenValue = value;
  if (!(conditional->condition = parseOr()) || !expect(Tok::KwElse, "in the conditional expression") ||
      !(conditional->elseValue = parseExpression()))
    return nullptr;
  conditional->range = rangeFrom(value->fullRange());
  return finish(conditional, {conditional->condition, value, conditional->elseValue});
}

bool ExpressionParser::rejectWalrus() {
  if (!at(Tok::Walrus))
    return false;
  error(Diag::no_walrus, peek().range);
  return true;
}

const Expr *ExpressionParser::parseOr() {
  const Expr *first = parseAnd();
  if (!first || !at(Tok::KwOr))
    return first;
  auto *node = make<BoolOpExpr>(first->fullRange());
  node->op = BoolOperator::Or;
  node->values.push_back(first);
  while (accept(Tok::KwOr)) {
    const Expr *next = parseAnd();
    if (!next)
      return nullptr;
    node->values.push_back(next);
  }
  node->range = rangeFrom(first->fullRange());
  return finishList(node, node->values);
}

const Expr *ExpressionParser::parseAnd() {
  const Expr *first = parseNot();
  if (!first || !at(Tok::KwAnd))
    return first;
  auto *node = make<BoolOpExpr>(first->fullRange());
  node->op = BoolOperator::And;
  node->values.push_back(first);
  while (accept(Tok::KwAnd)) {
    const Expr *next = parseNot();
    if (!next)
      return nullptr;
    node->values.push_back(next);
  }
  node->range = rangeFrom(first->fullRange());
  return finishList(node, node->values);
}

const Expr *ExpressionParser::parseNot() {
  if (!at(Tok::KwNot))
    return parseComparison();
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *node = make<UnaryExpr>(advance().range);
  node->op = UnaryOp::Not;
  if (!(node->operand = parseNot()))
    return nullptr;
  node->range = rangeFrom(node->range);
  return finish(node, {node->operand});
}

/// Consumes a comparison operator. Sets 'rejected' for "in" or "not in", which has been reported.
std::optional<CompareOp> ExpressionParser::acceptComparison(bool &rejected) {
  switch (peek().kind) {
  case Tok::Less:
    advance();
    return CompareOp::Lt;
  case Tok::Greater:
    advance();
    return CompareOp::Gt;
  case Tok::LessEqual:
    advance();
    return CompareOp::LtE;
  case Tok::GreaterEqual:
    advance();
    return CompareOp::GtE;
  case Tok::EqualEqual:
    advance();
    return CompareOp::Eq;
  case Tok::NotEqual:
    advance();
    return CompareOp::NotEq;
  case Tok::KwIs:
    advance();
    return accept(Tok::KwNot) ? CompareOp::IsNot : CompareOp::Is;
  case Tok::KwNot:
    if (peek(1).kind != Tok::KwIn)
      return std::nullopt;
    [[fallthrough]];
  case Tok::KwIn:
    if (hostSyntax > 0) {
      bool isNegated = accept(Tok::KwNot);
      advance();
      return isNegated ? CompareOp::NotIn : CompareOp::In;
    }
    error(Diag::no_in, peek().range);
    rejected = true;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Parses "a < b < c" of host code as "a < b and b < c": expressions there have no side effects, so b may be evaluated
/// twice.
const Expr *ExpressionParser::parseChain(const Expr *first, CompareOp op) {
  auto *all = make<BoolOpExpr>(first ? first->range : peek().range);
  std::optional<CompareOp> next = op;
  for (bool rejected = false; first && next && !rejected; next = acceptComparison(rejected)) {
    all->values.push_back(first);
    auto *link = make<CompareExpr>(all->range);
    link->op = *next;
    link->left = as<CompareExpr>(first)->right;
    link->right = parseBinary(lowestBinaryLevel);
    link->range = rangeFrom(link->left->fullRange());
    first = link->right ? finish(link, {link->left, link->right}) : nullptr;
  }
  if (!first)
    return nullptr;
  all->values.push_back(first);
  all->range = rangeFrom(all->range);
  return finishList(all, all->values);
}

const Expr *ExpressionParser::parseComparison() {
  const Expr *left = parseBinary(lowestBinaryLevel);
  bool rejected = false;
  std::optional<CompareOp> op = left ? acceptComparison(rejected) : std::nullopt;
  if (rejected)
    return nullptr;
  if (!op)
    return left;
  auto *node = make<CompareExpr>(left->fullRange());
  node->op = *op;
  node->left = left;
  if (!(node->right = parseBinary(lowestBinaryLevel)))
    return nullptr;
  node->range = rangeFrom(left->fullRange());
  Tok next = peek().kind;
  std::optional<CompareOp> second = acceptComparison(rejected);
  if (rejected)
    return nullptr;
  if (second && hostSyntax > 0)
    return parseChain(finish(node, {left, node->right}), *second);
  if (second) {
    const Expr *third = parseBinary(lowestBinaryLevel);
    if (!third)
      return nullptr;
    std::string middle(text(node->right->fullRange()));
    std::string fixed = std::string(text(node->range)) + " and " + middle + " " + std::string(spelling(next)) + " " +
                        std::string(text(third->fullRange()));
    SourceRange all = rangeFrom(left->fullRange());
    error(Diag::chained_comparison, all).fixIt(all, fixed);
    return nullptr;
  }
  return finish(node, {left, node->right});
}

/// Parses left-associative operators whose precedence is at least 'level', by precedence climbing.
const Expr *ExpressionParser::parseBinary(int level) {
  if (level == unaryLevel)
    return parseUnary();
  const Expr *left = parseBinary(level + 1);
  while (left) {
    const BinaryLevel *entry = binaryLevel(peek().kind);
    if (!entry || entry->level != level)
      return left;
    SourceRange operatorRange = advance().range;
    auto *node = make<BinaryExpr>(left->fullRange());
    node->op = entry->op;
    node->left = left;
    if (!(node->right = parseBinary(level + 1)))
      return nullptr;
    node->range = rangeFrom(left->fullRange());
    if (node->op == BinaryOp::MatMult && !allowMatMul) {
      std::string call =
          "tl.dot(" + std::string(text(left->fullRange())) + ", " + std::string(text(node->right->fullRange())) + ")";
      error(Diag::no_matmul_operator, operatorRange).fixIt(node->range, call);
      return nullptr;
    }
    left = finish(node, {left, node->right});
  }
  return nullptr;
}

const Expr *ExpressionParser::parseUnary() {
  UnaryOp op;
  switch (peek().kind) {
  case Tok::Minus:
    op = UnaryOp::Minus;
    break;
  case Tok::Plus:
    op = UnaryOp::Plus;
    break;
  case Tok::Tilde:
    op = UnaryOp::Invert;
    break;
  default:
    return parsePower();
  }
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *node = make<UnaryExpr>(advance().range);
  node->op = op;
  if (!(node->operand = parseUnary()))
    return nullptr;
  node->range = rangeFrom(node->range);
  return finish(node, {node->operand});
}

/// pw = post ["**" un]: binds tighter than a sign on its left, looser than one on its right.
const Expr *ExpressionParser::parsePower() {
  const Expr *base = parsePostfix();
  if (!base || !accept(Tok::DoubleStar))
    return base;
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *node = make<BinaryExpr>(base->fullRange());
  node->op = BinaryOp::Pow;
  node->left = base;
  if (!(node->right = parseUnary()))
    return nullptr;
  node->range = rangeFrom(base->fullRange());
  return finish(node, {base, node->right});
}

const Expr *ExpressionParser::parsePostfix() {
  const Expr *value = parseAtom();
  while (value) {
    if (at(Tok::LeftParen)) {
      value = parseCall(value);
    } else if (at(Tok::LeftBracket)) {
      value = parseSubscript(value);
    } else if (accept(Tok::Dot)) {
      auto *node = make<AttributeExpr>(value->fullRange());
      if (!at(Tok::Name)) {
        unexpected("an attribute name after '.'");
        return nullptr;
      }
      node->attributeRange = peek().range;
      node->attribute = text(advance());
      node->value = value;
      node->range = rangeFrom(value->fullRange());
      value = finish(node, {value});
    } else {
      return value;
    }
  }
  return nullptr;
}

const Expr *ExpressionParser::parseCall(const Expr *callee) {
  auto *call = make<CallExpr>(callee->fullRange());
  call->callee = callee;
  advance();
  while (!at(Tok::RightParen)) {
    if (!parseArgument(*call))
      return nullptr;
    if (!accept(Tok::Comma))
      break;
  }
  if (!expect(Tok::RightParen, "or ',' in the arguments of the call"))
    return nullptr;
  call->range = rangeFrom(callee->fullRange());
  std::vector<const Expr *> children{callee};
  for (const Argument &argument : call->arguments)
    children.push_back(argument.value);
  return finishList(call, children);
}

/// arg = [NAME "="] expr | "*" expr | "**" expr, the last only in host code
bool ExpressionParser::parseArgument(CallExpr &call) {
  bool isMapping = at(Tok::DoubleStar);
  if (isMapping && hostSyntax == 0) {
    error(Diag::no_dict_arguments, peek().range);
    return false;
  }
  Argument argument;
  argument.nameRange = peek().range;
  if (accept(Tok::Star) || accept(Tok::DoubleStar)) {
    auto *starred = make<StarredExpr>(previousRange);
    starred->isMapping = isMapping;
    if (!(starred->value = parseExpression()))
      return false;
    starred->range = rangeFrom(starred->range);
    argument.value = finish(starred, {starred->value});
  } else if (at(Tok::Name) && peek(1).kind == Tok::Equal) {
    argument.name = text(advance());
    advance();
    argument.value = parseExpression();
    for (const Argument &other : call.arguments) {
      if (argument.value && other.name == argument.name)
        error(Diag::duplicate_argument, argument.nameRange, {argument.name})
            .note(other.nameRange, "the first one is here");
    }
  } else {
    argument.value = parseExpression();
    bool followsKeyword = !call.arguments.empty() && !call.arguments.back().name.empty();
    if (argument.value && followsKeyword) {
      error(Diag::positional_after_keyword, argument.value->range, {call.arguments.back().name});
      return false;
    }
  }
  bool isGenerator = hostSyntax > 0 && at(Tok::KwFor) && argument.name.empty();
  if (argument.value && isGenerator)
    argument.value = parseComprehension(argument.value);
  if (!argument.value || rejectComprehension())
    return false;
  call.arguments.push_back(std::move(argument));
  return true;
}

bool ExpressionParser::rejectComprehension() {
  bool isAsync = at(Tok::KwAsync) && peek(1).kind == Tok::KwFor;
  if (!at(Tok::KwFor) && !isAsync)
    return false;
  error(Diag::no_comprehension, peek().range);
  return true;
}

const Expr *ExpressionParser::parseSubscript(const Expr *value) {
  auto *node = make<SubscriptExpr>(value->fullRange());
  node->value = value;
  advance();
  SourceRange begin = peek().range;
  const Expr *first = parseSubscriptItem();
  if (!first)
    return nullptr;
  node->index = first;
  if (at(Tok::Comma)) {
    auto *tuple = make<TupleExpr>(begin);
    tuple->elements.push_back(first);
    while (accept(Tok::Comma) && !at(Tok::RightBracket)) {
      const Expr *item = parseSubscriptItem();
      if (!item)
        return nullptr;
      tuple->elements.push_back(item);
    }
    tuple->range = rangeFrom(begin);
    node->index = finishList(tuple, tuple->elements);
  }
  if (!node->index || !expect(Tok::RightBracket, "or ',' in the subscript"))
    return nullptr;
  node->range = rangeFrom(value->fullRange());
  return finish(node, {value, node->index});
}

/// sub = expr | [expr] ":" [expr] [":" [expr]]
const Expr *ExpressionParser::parseSubscriptItem() {
  SourceRange begin = peek().range;
  const Expr *lower = nullptr;
  if (!at(Tok::Colon)) {
    if (!(lower = parseExpression()))
      return nullptr;
    if (!at(Tok::Colon))
      return lower;
  }
  auto *slice = make<SliceExpr>(begin);
  slice->lower = lower;
  advance();
  auto atItemEnd = [&] { return at(Tok::Comma) || at(Tok::RightBracket) || at(Tok::Colon); };
  if (!atItemEnd() && !(slice->upper = parseExpression()))
    return nullptr;
  if (accept(Tok::Colon) && !atItemEnd() && !(slice->step = parseExpression()))
    return nullptr;
  slice->range = rangeFrom(begin);
  return finish(slice, {lower, slice->upper, slice->step});
}

const Expr *Parser::parseWholeExpression() {
  const Expr *value = parseExpressions();
  if (value && !at(Tok::End)) {
    unexpected("the end of the expression");
    return nullptr;
  }
  return value;
}

} // namespace tile::frontend
