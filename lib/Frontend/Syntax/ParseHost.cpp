// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: the host program around kernels. Host functions are kept, because they may compute values of the module
// (SemaHost.cpp) and contain kernels. Host expressions in the arguments of decorators (lambdas, dictionaries and
// comprehensions) are kept, too.

#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/ParserImpl.h"

#include <utility>

namespace tile::frontend {

/// "lambda" [names] ":" expr
const Expr *ExpressionParser::parseLambda() {
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *lambda = make<LambdaExpr>(advance().range);
  while (!at(Tok::Colon)) {
    std::string stars = accept(Tok::Star) ? "*" : accept(Tok::DoubleStar) ? "**" : "";
    if (!at(Tok::Name))
      break;
    lambda->parameters.push_back(stars + text(advance()));
    if (!accept(Tok::Comma))
      break;
  }
  if (!expect(Tok::Colon, "after the parameters of a lambda") || !(lambda->body = parseExpression()))
    return nullptr;
  lambda->range = rangeFrom(lambda->range);
  return finish(lambda, {lambda->body});
}

/// "*" expr in a list
const Expr *ExpressionParser::parseStarred() {
  auto *starred = make<StarredExpr>(advance().range);
  if (!(starred->value = parseExpression()))
    return nullptr;
  starred->range = rangeFrom(starred->range);
  return finish(starred, {starred->value});
}

/// "{" [item {"," item}] "}" with items key ":" value and "**" mapping
const Expr *ExpressionParser::parseDict() {
  Nesting guard(*this);
  if (tooDeep())
    return nullptr;
  auto *dict = make<DictExpr>(advance().range);
  while (!at(Tok::RightBrace)) {
    bool isMapping = accept(Tok::DoubleStar);
    const Expr *key = isMapping ? nullptr : parseExpression();
    if (!isMapping && (!key || !expect(Tok::Colon, "after a key")))
      return nullptr;
    const Expr *value = parseExpression();
    if (!value)
      return nullptr;
    if (at(Tok::KwFor) && key && dict->keys.empty())
      return parseDictComprehension(key, value);
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

/// "{" key ":" value, and the remainder of the comprehension
const Expr *ExpressionParser::parseDictComprehension(const Expr *key, const Expr *value) {
  auto *entry = make<TupleExpr>(join(key->fullRange(), value->fullRange()));
  entry->elements = {key, value};
  const Expr *element = finish(entry, {key, value});
  const Expr *node = element ? parseComprehension(element) : nullptr;
  if (!node || !expect(Tok::RightBrace, "after the comprehension"))
    return nullptr;
  const_cast<ComprehensionExpr *>(as<ComprehensionExpr>(node))->isDictionary = true; // the arena owns mutable nodes
  return node;
}

/// "for" target "in" or_e {"if" or_e}, once or more, after the element
const Expr *ExpressionParser::parseComprehension(const Expr *element) {
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

/// "NAME = expr", "NAME: expr = expr", "NAME += expr" and "A, B = expr". Fails silently if the value is not in the
/// language, because then it is host code. Host syntax of values for decorators is kept.
bool Parser::parseTopLevelAssignment(Block &out) {
  size_t start = position;
  for (bool isHost : {false, true}) {
    Block line;
    ++quiet, hostSyntax += isHost;
    bool parsed = parseSimpleLine(line);
    --quiet, hostSyntax -= isHost;
    const NameExpr *changed = parsed ? changedBy(*line.front()) : nullptr;
    bool isAssignment = parsed && line.front()->kind != StmtKind::Expr && !changed;
    if (isAssignment && !isHost) {
      out.insert(out.end(), line.begin(), line.end());
      return true;
    }
    // "configs += [...]", "configs.append(...)" and "table[i] = x" modify a value.
    bool isChange = (parsed && line.front()->kind == StmtKind::AugAssign) || changed;
    if (isChange && line.size() == 1) {
      out.push_back(line.front());
      return true;
    }
    const auto *assignment = isAssignment ? as<AssignStmt>(line.front()) : nullptr;
    const auto *name = assignment ? as<NameExpr>(assignment->target) : nullptr;
    if (name && line.size() == 1) {
      const_cast<AssignStmt *>(assignment)->isHost = true; // the arena owns mutable nodes
      out.push_back(assignment);
      module.skipped.push_back({name->id, name->range, "constant"});
      return true;
    }
    position = start;
  }
  return false;
}

/// Parses a loop that computes values of the module.
bool Parser::parseTopLevelLoop(Block &out) {
  size_t start = position;
  Block loop;
  size_t reported = diagnostics.all().size(), errorsBefore = diagnostics.numErrors();
  ++hostSyntax;
  at(Tok::KwFor) ? parseFor(loop) : parseWhile(loop);
  --hostSyntax;
  bool failed = diagnostics.numErrors() != errorsBefore;
  (void)diagnostics.takeSince(reported);
  // Statements in the body that cannot be parsed are omitted.
  if (failed || loop.empty()) {
    position = start;
    return false;
  }
  out.push_back(loop.front());
  return true;
}

/// Returns true if tokens [begin, end) contain a decorated function of the language.
bool Parser::hasKernelInside(size_t begin, size_t end) const {
  for (size_t i = begin + 1; i + 1 < end; ++i) {
    Tok before = stream.tokens[i - 1].kind;
    bool startsLine = before == Tok::Newline || before == Tok::Indent || before == Tok::Dedent;
    if (stream.tokens[i].kind != Tok::At || !startsLine)
      continue;
    std::string name;
    for (size_t part = i + 1; part < end; ++part) {
      Tok kind = stream.tokens[part].kind;
      if (kind != Tok::Name && kind != Tok::Dot)
        break;
      name += text(stream.tokens[part]);
    }
    if (isJitDecorator(name))
      return true;
  }
  return false;
}

/// Parses a "def" without a decorator of the language. Never fails: errors are reported where the function's value is
/// needed.
void Parser::parseHostFunction(Block &out, const std::vector<Decorator> &decorators) {
  size_t begin = position;
  bool hasName = peek(1).kind == Tok::Name;
  skipTopLevel("host function");
  size_t end = position;
  Nesting guard(*this);
  if (!hasName || tooDeep())
    return;
  // Other decorators may replace the function.
  bool isPlain = decorators.empty() || (decorators.size() == 1 && decorators[0].name.ends_with("cache"));
  if (hasKernelInside(begin, end)) {
    parseHostScope(out, begin);
  } else {
    auto *skipped = make<SkippedStmt>(stream.tokens[begin].range);
    skipped->assigned = {text(stream.tokens[begin + 1])};
    if (isPlain)
      skipped->function = module.skipped.back().function = parseEvaluable(begin);
    out.push_back(skipped);
  }
  position = end;
}

/// Parses a function that can run at compile time, if it turns out to be pure.
const FunctionStmt *Parser::parseEvaluable(size_t begin) {
  position = begin;
  bool deferred = std::exchange(module.defersErrors, true);
  unsigned quietly = std::exchange(quiet, 0);
  ++hostSyntax;
  FunctionStmt *function = parseFunction({}, peek().range, /*hasDirectives=*/false);
  --hostSyntax;
  quiet = quietly;
  module.defersErrors = deferred;
  if (function)
    function->isHost = function->isConstexpr = true;
  return function;
}

/// Parses a function that contains kernels; the kernels see the function's names. `prefix` is the class of the
/// function.
void Parser::parseHostScope(Block &out, size_t begin, const std::string &prefix) {
  position = begin;
  auto *host = make<HostStmt>(advance().range);
  host->name = prefix + text(advance());
  FunctionStmt header;
  ++quiet, ++hostSyntax;
  if (accept(Tok::LeftParen))
    parseParameters(header);
  --quiet, --hostSyntax;
  for (const Parameter &parameter : header.parameters)
    host->skipped.push_back({parameter.name, parameter.range, "parameter"});
  position = begin;
  skipLine();
  if (!accept(Tok::Indent))
    return;
  std::vector<SkippedName> outside = std::exchange(module.skipped, {});
  bool deferred = std::exchange(module.defersErrors, true);
  while (!at(Tok::Dedent) && !at(Tok::End))
    parseTopLevel(host->body);
  module.defersErrors = deferred;
  host->skipped.insert(host->skipped.end(), module.skipped.begin(), module.skipped.end());
  module.skipped = std::move(outside);
  host->range = rangeFrom(host->range);
  out.push_back(host);
}

/// Parses "f = triton.jit(g)" and "f = constexpr_function(f)": a decorator without "@".
bool Parser::parseApplication(Block &out) {
  size_t start = position;
  const Token &target = peek();
  auto apply = [&]() -> bool {
    advance();
    if (!accept(Tok::Equal))
      return false;
    std::string decorator = parseDottedName();
    bool isConstexpr = isConstexprDecorator(decorator);
    if ((!isConstexpr && !isJitDecorator(decorator)) || !accept(Tok::LeftParen) || !at(Tok::Name))
      return false;
    std::string argument = text(advance());
    if (!accept(Tok::RightParen) || !(at(Tok::End) || accept(Tok::Newline)))
      return false;
    for (auto known = module.skipped.rbegin(); known != module.skipped.rend(); ++known) {
      if (known->name != argument || !known->function)
        continue;
      const FunctionStmt &from = *known->function;
      auto *function = make<FunctionStmt>(from.range);
      function->name = text(target);
      function->nameRange = from.nameRange;
      function->parameters = from.parameters;
      function->returns = from.returns;
      function->body = from.body;
      function->errors = from.errors;
      function->isConstexpr = isConstexpr;
      if (!isConstexpr)
        attachDirectives(*function, target.range.begin);
      out.push_back(function);
      return true;
    }
    return false;
  };
  if (apply())
    return true;
  position = start;
  return false;
}

} // namespace tile::frontend
