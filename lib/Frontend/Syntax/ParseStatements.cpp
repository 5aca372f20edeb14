// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: statements and blocks. Python statements that are not in the language are recognized, reported with an
// alternative, and skipped as a whole.

#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/ParserImpl.h"

namespace tile::frontend {

namespace {

struct AugmentedOp {
  Tok token;
  BinaryOp op;
};

constexpr AugmentedOp augmentedOps[] = {
    {Tok::PlusEqual, BinaryOp::Add},
    {Tok::MinusEqual, BinaryOp::Sub},
    {Tok::StarEqual, BinaryOp::Mult},
    {Tok::SlashEqual, BinaryOp::Div},
    {Tok::DoubleSlashEqual, BinaryOp::FloorDiv},
    {Tok::PercentEqual, BinaryOp::Mod},
    {Tok::AmpersandEqual, BinaryOp::BitAnd},
    {Tok::PipeEqual, BinaryOp::BitOr},
    {Tok::CaretEqual, BinaryOp::BitXor},
    {Tok::LeftShiftEqual, BinaryOp::LShift},
    {Tok::RightShiftEqual, BinaryOp::RShift},
    {Tok::DoubleStarEqual, BinaryOp::Pow},
};

} // namespace

/// block = simple_line | NEWLINE INDENT stmt { stmt } DEDENT, after the ':'.
bool StatementParser::parseBlock(Block &out) {
  Nesting guard(*this);
  if (tooDeep()) {
    skipLine();
    skipBlock();
    return false;
  }
  if (!at(Tok::Newline))
    return parseSimpleLine(out);
  advance();
  if (at(Tok::Error)) {
    unexpected("an indented block");
    return false;
  }
  if (!accept(Tok::Indent)) {
    error(Diag::expected_block, previousRange);
    return false;
  }
  size_t errorsBefore = diagnostics.numErrors();
  while (!at(Tok::Dedent) && !at(Tok::End))
    parseStatement(out);
  accept(Tok::Dedent);
  return diagnostics.numErrors() == errorsBefore;
}

void StatementParser::parseStatement(Block &out) {
  switch (peek().kind) {
  case Tok::Newline:
    advance();
    return;
  case Tok::KwIf:
    parseIf(out);
    return;
  case Tok::KwFor:
    parseFor(out);
    return;
  case Tok::KwWhile:
    parseWhile(out);
    return;
  case Tok::KwWith:
    parseWith(out);
    return;
  case Tok::Indent:
    unexpected("a statement");
    skipBlock();
    return;
  default:
    if (!rejectStatement())
      parseSimpleLine(out);
  }
}

/// Handles compound statements outside the language: reports, skips the statement with its block, and returns true.
bool StatementParser::rejectStatement() {
  const Token &token = peek();
  switch (token.kind) {
  case Tok::KwTry:
    error(Diag::no_try, token.range);
    break;
  case Tok::KwClass:
    error(Diag::no_class, token.range);
    break;
  case Tok::KwDef:
  case Tok::At:
    error(Diag::no_nested_def, token.range);
    while (at(Tok::At))
      skipLine();
    break;
  case Tok::KwAsync:
    error(Diag::no_async, token.range, {"async"});
    break;
  case Tok::KwElse:
  case Tok::KwElif:
  case Tok::KwExcept:
  case Tok::KwFinally:
    error(Diag::stray_clause, token.range, {text(token)});
    break;
  default:
    return false;
  }
  do {
    skipLine();
    skipBlock();
  } while (at(Tok::KwExcept) || at(Tok::KwFinally) || at(Tok::KwElse));
  return true;
}

/// simple_line = simple { ";" simple } [";"] NEWLINE
bool StatementParser::parseSimpleLine(Block &out) {
  while (true) {
    const Stmt *stmt = parseSimple();
    if (!stmt)
      break;
    out.push_back(stmt);
    bool more = accept(Tok::Semicolon);
    if (accept(Tok::Newline) || at(Tok::End))
      return true;
    if (!more) {
      unexpected("end of line");
      break;
    }
  }
  if (quiet == 0)
    recover();
  return false;
}

/// Recovers from an error in a line: skips it, and parses a following block (of a mistyped header) for further errors.
void StatementParser::recover() {
  skipLine();
  if (!accept(Tok::Indent))
    return;
  Block discarded;
  while (!at(Tok::Dedent) && !at(Tok::End))
    parseStatement(discarded);
  accept(Tok::Dedent);
}

const Stmt *StatementParser::parseSimple() {
  const Token &token = peek();
  switch (token.kind) {
  case Tok::KwReturn: {
    auto *stmt = make<ReturnStmt>(advance().range);
    bool isBare = at(Tok::Newline) || at(Tok::Semicolon) || at(Tok::End);
    if (!isBare && !(stmt->value = parseExpressions()))
      return nullptr;
    stmt->range = rangeFrom(stmt->range);
    return stmt;
  }
  case Tok::KwPass:
    return make<PassStmt>(advance().range);
  case Tok::KwBreak:
    return make<BreakStmt>(advance().range);
  case Tok::KwContinue:
    return make<ContinueStmt>(advance().range);
  case Tok::KwAssert: {
    auto *stmt = make<AssertStmt>(advance().range);
    if (!(stmt->condition = parseExpression()) || (accept(Tok::Comma) && !(stmt->message = parseExpression())))
      return nullptr;
    stmt->range = rangeFrom(stmt->range);
    return stmt;
  }
  case Tok::KwRaise: {
    auto *stmt = make<RaiseStmt>(advance().range);
    bool isBare = at(Tok::Newline) || at(Tok::Semicolon) || at(Tok::End);
    if (!isBare && !(stmt->value = parseExpression()))
      return nullptr;
    stmt->range = rangeFrom(stmt->range);
    return stmt;
  }
  case Tok::KwDel:
    error(Diag::no_del, token.range);
    return nullptr;
  case Tok::KwGlobal:
  case Tok::KwNonlocal:
    error(Diag::no_global, token.range, {text(token)});
    return nullptr;
  case Tok::KwImport:
  case Tok::KwFrom:
    error(Diag::no_local_import, token.range);
    return nullptr;
  default:
    return parseExpressionStatement();
  }
}

const Stmt *StatementParser::parseExpressionStatement() {
  SourceRange begin = peek().range;
  const Expr *value = parseExpressions();
  if (!value)
    return nullptr;
  if (at(Tok::Equal))
    return parseAssignment(value, begin);
  if (at(Tok::Colon))
    return parseAnnotated(value, begin);
  if (at(Tok::AtEqual)) {
    error(Diag::no_matmul_operator, peek().range);
    return nullptr;
  }
  for (const AugmentedOp &augmented : augmentedOps)
    if (at(augmented.token))
      return parseAugmented(value, begin);
  auto *stmt = make<ExprStmt>(value->range);
  stmt->value = value;
  return stmt;
}

const Stmt *StatementParser::parseAssignment(const Expr *target, SourceRange begin) {
  if (!checkTarget(target))
    return nullptr;
  advance();
  auto *stmt = make<AssignStmt>(begin);
  stmt->target = target;
  if (!(stmt->value = parseExpressions()))
    return nullptr;
  if (at(Tok::Equal)) {
    error(Diag::no_chained_assignment, rangeFrom(begin));
    return nullptr;
  }
  stmt->range = rangeFrom(begin);
  return stmt;
}

/// Parses "self.x += value" and "items[i] += value" as the assignment of a sum.
const Stmt *StatementParser::parseAugmentedAttribute(const Expr *target, SourceRange begin) {
  Tok token = advance().kind;
  auto *sum = make<BinaryExpr>(begin);
  for (const AugmentedOp &augmented : augmentedOps)
    if (augmented.token == token)
      sum->op = augmented.op;
  sum->left = target;
  if (!(sum->right = parseExpressions()))
    return nullptr;
  sum->range = rangeFrom(begin);
  auto *stmt = make<AssignStmt>(sum->range);
  stmt->target = target;
  stmt->value = finish(sum, {sum->left, sum->right});
  return stmt->value ? stmt : nullptr;
}

const Stmt *StatementParser::parseAugmented(const Expr *target, SourceRange begin) {
  bool isPart = (target->kind == ExprKind::Attribute && attributeTargets > 0) || isItemTarget(target);
  if (isPart)
    return parseAugmentedAttribute(target, begin);
  Tok token = advance().kind;
  auto *stmt = make<AugAssignStmt>(begin);
  stmt->target = as<NameExpr>(target);
  if (!stmt->target) {
    if (target->kind == ExprKind::Attribute || target->kind == ExprKind::Subscript)
      checkTarget(target);
    else
      error(Diag::bad_target, target->range);
    return nullptr;
  }
  for (const AugmentedOp &augmented : augmentedOps)
    if (augmented.token == token)
      stmt->op = augmented.op;
  if (!(stmt->value = parseExpressions()))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

const Stmt *StatementParser::parseAnnotated(const Expr *target, SourceRange begin) {
  if (target->kind == ExprKind::Attribute && attributeTargets > 0) {
    advance();
    if (!parseExpression())
      return nullptr;
    return at(Tok::Equal) ? parseAssignment(target, begin) : make<PassStmt>(rangeFrom(begin));
  }
  auto *stmt = make<AnnAssignStmt>(begin);
  stmt->target = as<NameExpr>(target);
  if (!stmt->target) {
    // "else if x:" and a mistyped keyword look like an annotation; the name before ':' distinguishes them.
    if (target->kind == ExprKind::Attribute || target->kind == ExprKind::Subscript)
      checkTarget(target);
    else
      unexpected("end of line");
    return nullptr;
  }
  advance();
  if (!(stmt->annotation = parseExpression()))
    return nullptr;
  if (accept(Tok::Equal) && !(stmt->value = parseExpressions()))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

/// Returns true for "items[i]" and "items[i][j]" of host code.
bool StatementParser::isItemTarget(const Expr *target) const {
  return hostSyntax > 0 && target->kind == ExprKind::Subscript && containerOf(*target);
}

/// Checks that the target is a name, or a tuple of names.
bool StatementParser::checkTarget(const Expr *target) {
  switch (target->kind) {
  case ExprKind::Name:
    return true;
  case ExprKind::Tuple:
  case ExprKind::List: {
    const auto &elements =
        target->kind == ExprKind::Tuple ? as<TupleExpr>(target)->elements : as<ListExpr>(target)->elements;
    for (const Expr *element : elements)
      if (!checkTarget(element))
        return false;
    return true;
  }
  case ExprKind::Attribute:
    if (attributeTargets > 0)
      return true;
    error(Diag::attribute_target, target->range);
    return false;
  case ExprKind::Subscript:
    if (isItemTarget(target))
      return true;
    error(Diag::subscript_target, target->range);
    return false;
  case ExprKind::Starred:
    error(Diag::starred_target, target->range);
    return false;
  default:
    error(Diag::bad_target, target->range);
    return false;
  }
}

void StatementParser::parseIf(Block &out) {
  // A chain of thousands would overflow the stack in code generation.
  constexpr size_t maxBranches = 200;
  SourceRange begin = peek().range;
  auto *stmt = make<IfStmt>(begin);
  bool ok = true;
  do {
    IfStmt::Branch branch;
    branch.keyword = advance().range;
    branch.condition = parseExpression();
    if (at(Tok::Equal))
      error(Diag::assignment_in_condition, peek().range).fixIt(peek().range, "==");
    bool headerOk = branch.condition && !at(Tok::Equal) && expect(Tok::Colon, "after the condition");
    if (headerOk) {
      ok &= parseBlock(branch.body);
    } else {
      ok = false;
      recover();
    }
    stmt->branches.push_back(std::move(branch));
    if (stmt->branches.size() > maxBranches) {
      error(Diag::too_deep, peek().range, {"'elif' branches", std::to_string(maxBranches)});
      for (; at(Tok::KwElif) || at(Tok::KwElse); skipBlock())
        skipLine();
      return;
    }
  } while (at(Tok::KwElif));
  if (at(Tok::KwElse)) {
    advance();
    if (at(Tok::KwIf)) {
      error(Diag::else_if, rangeFrom(previousRange)).fixIt(previousRange, "elif");
      skipLine();
      skipBlock();
      return;
    }
    ok &= expect(Tok::Colon, "after 'else'");
    ok &= parseBlock(stmt->elseBody);
  }
  stmt->range = rangeFrom(begin);
  if (ok)
    out.push_back(stmt);
}

/// "with" expr ["as" NAME] {"," expr ["as" NAME]} ":" block
void StatementParser::parseWith(Block &out) {
  SourceRange begin = advance().range;
  auto *stmt = make<WithStmt>(begin);
  stmt->keyword = begin;
  bool headerOk = true;
  do {
    WithStmt::Item item;
    headerOk = (item.context = parseExpression()) != nullptr;
    if (headerOk && accept(Tok::KwAs)) {
      const Expr *target = parseExpression();
      item.target = as<NameExpr>(target);
      if (target && !item.target)
        error(Diag::bad_target, target->range);
      headerOk = item.target != nullptr;
    }
    stmt->items.push_back(item);
  } while (headerOk && accept(Tok::Comma));
  if (!headerOk || !expect(Tok::Colon, "after the context")) {
    recover();
    return;
  }
  bool ok = parseBlock(stmt->body);
  stmt->range = rangeFrom(begin);
  if (ok)
    out.push_back(stmt);
}

/// Rejects "else" of a loop, which only makes sense with break.
void StatementParser::rejectElseOfLoop(std::string_view loop) {
  if (!at(Tok::KwElse))
    return;
  error(Diag::no_loop_else, peek().range, {std::string(loop)});
  skipLine();
  skipBlock();
}

/// Parses "for a, b in ..." of host code: the loop has one variable, which its body unpacks.
bool StatementParser::parseFurtherTargets(ForStmt &loop) {
  auto *names = make<TupleExpr>(loop.target->range);
  names->elements.push_back(loop.target);
  while (accept(Tok::Comma) && at(Tok::Name)) {
    auto *name = make<NameExpr>(peek().range);
    name->id = text(advance());
    names->elements.push_back(name);
  }
  names->range = rangeFrom(loop.target->range);
  auto *item = make<NameExpr>(names->range);
  item->id = "$item" + std::to_string(item->range.begin);
  auto *unpacked = make<AssignStmt>(names->range);
  unpacked->target = finishList(names, names->elements);
  unpacked->value = item;
  loop.target = item;
  loop.body.push_back(unpacked);
  return unpacked->target != nullptr;
}

void StatementParser::parseFor(Block &out) {
  SourceRange begin = advance().range;
  auto *stmt = make<ForStmt>(begin);
  const Token &name = peek();
  if (accept(Tok::Name)) {
    auto *target = make<NameExpr>(name.range);
    target->id = text(name);
    stmt->target = target;
  }
  bool headerOk = stmt->target != nullptr;
  if (!headerOk)
    unexpected("a loop variable after 'for'");
  else if (at(Tok::Comma) && hostSyntax > 0)
    headerOk = parseFurtherTargets(*stmt);
  else if (at(Tok::Comma))
    error(Diag::loop_target, peek().range), headerOk = false;
  headerOk = headerOk && expect(Tok::KwIn, "after the loop variable");
  headerOk = headerOk && (stmt->iterator = parseExpression()) != nullptr;
  headerOk = headerOk && expect(Tok::Colon, "after the range");
  if (!headerOk) {
    recover();
    return;
  }
  bool ok = parseBlock(stmt->body);
  rejectElseOfLoop("for");
  stmt->range = rangeFrom(begin);
  if (ok)
    out.push_back(stmt);
}

void StatementParser::parseWhile(Block &out) {
  SourceRange begin = advance().range;
  auto *stmt = make<WhileStmt>(begin);
  stmt->condition = parseExpression();
  if (!stmt->condition || !expect(Tok::Colon, "after the condition")) {
    recover();
    return;
  }
  bool ok = parseBlock(stmt->body);
  rejectElseOfLoop("while");
  stmt->range = rangeFrom(begin);
  if (ok)
    out.push_back(stmt);
}

} // namespace tile::frontend
