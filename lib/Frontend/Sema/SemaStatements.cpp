// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements without control flow, and the walk over a block.

#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Statements.h"

using namespace mlir;

namespace tile::frontend {

/// Emits statements until the end of the continuation or a return. After an error the walk continues: names that the
/// failed statement would have bound are error values, which cause no further reports.
BlockResult Statements::emitBlock(const Continuation &start) {
  for (const Continuation *part = &start; part; part = part->next) {
    for (size_t i = part->index; i < part->block->size(); ++i) {
      const Stmt *stmt = (*part->block)[i];
      if (sema.session.exhausted)
        return {true, {}, stmt->range};
      Continuation remaining{part->block, i + 1, part->next};
      if (const auto *node = as<ReturnStmt>(stmt)) {
        BlockResult result;
        result.returned = true;
        result.range = node->range;
        if (node->value)
          result.value = sema.evaluator.evaluate(*node->value);
        if (loopDepth > 0)
          result.value = error(Diag::jump_needs_tile1, node->range, {"'return' inside a loop"});
        return result;
      }
      if (const auto *node = as<IfStmt>(stmt)) {
        if (std::optional<BlockResult> result = emitIf(*node, 0, remaining))
          return *result;
      } else if (const auto *with = as<WithStmt>(stmt)) {
        enterContexts(*with);
        return emitBlock({&with->body, 0, &remaining});
      } else if (const JumpingLoop *rewritten = rewriteJumps(*stmt)) {
        const Block *block =
            rewritten->returnsValue ? bindReturnPlaceholder(*rewritten, stmt->range) : &rewritten->statements;
        return block ? emitBlock({block, 0, &remaining}) : BlockResult{true, {}, stmt->range};
      } else if (const auto *loop = as<ForStmt>(stmt)) {
        emitFor(*loop);
      } else if (const auto *loop = as<WhileStmt>(stmt)) {
        emitWhile(*loop);
      } else if (!emitSimple(*stmt)) {
        // "raise" in a live branch: the code after it is unreachable.
        return {true, {}, stmt->range};
      }
    }
  }
  return {};
}

/// Evaluates the contexts of 'with'. Triton only has the scopes of its profiler, which record nothing here.
void Statements::enterContexts(const WithStmt &stmt) {
  for (const WithStmt::Item &item : stmt.items) {
    const auto *call = as<CallExpr>(item.context);
    std::optional<SymValue> callee = call ? sema.evaluator.evaluateQuietly(*call->callee) : std::nullopt;
    const auto *space = callee && callee->isConstant() ? std::get_if<NamespaceValue>(&callee->constant) : nullptr;
    if (!space || !(space->name == "triton.profiler.language.scope" || space->name == "triton.profiler.scope"))
      error(Diag::no_with, stmt.keyword, {unparse(*item.context)});
    if (item.target)
      bind(*item.target, SymValue::makeConstant(NoneValue{}));
  }
}

bool Statements::emitSimple(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Assign:
    emitAssign(*as<AssignStmt>(&stmt));
    return true;
  case StmtKind::AugAssign:
    emitAugAssign(*as<AugAssignStmt>(&stmt));
    return true;
  case StmtKind::AnnAssign:
    emitAnnAssign(*as<AnnAssignStmt>(&stmt));
    return true;
  case StmtKind::Assert:
    emitAssert(*as<AssertStmt>(&stmt));
    return true;
  case StmtKind::Expr: {
    // Docstrings and bare names are not calls; their values are also dropped.
    const Expr &value = *as<ExprStmt>(&stmt)->value;
    if (value.kind != ExprKind::String && value.kind != ExprKind::Ellipsis) {
      sema.records.warnUnusedAdvance(value);
      if (!isConstexprFunction() || !sema.evaluator.changeList(value))
        sema.evaluator.evaluate(value);
    }
    return true;
  }
  case StmtKind::Raise:
    error(Diag::reached_raise, stmt.range);
    return false;
  case StmtKind::Break:
  case StmtKind::Continue:
    error(isTile1() ? Diag::jump_outside_loop : Diag::jump_needs_tile1, stmt.range,
          {stmt.kind == StmtKind::Break ? "'break'" : "'continue'"});
    return true;
  default:
    return true;
  }
}

/// Assigning a number to a plain name makes it a run-time scalar with a fixed type. Types, None and functions stay
/// constants.
SymValue Statements::decay(const SymValue &value, SourceRange range) {
  if (host || isConstexprFunction())
    return value;
  return value.isConstant() && isNumber(value.constant) ? emitter.toTensor(value, range) : value;
}

/// Applies decay to every element of a tuple.
SymValue Statements::decayAll(const SymValue &value, SourceRange range) {
  if (!value.isTuple())
    return decay(value, range);
  SymValue out = value;
  for (SymValue &element : out.elements)
    element = decayAll(element, range);
  return out;
}

/// Converts numbers in which two values differ to run-time values, so that a branch or a loop can join them.
void Statements::decayApart(SymValue &value, const SymValue &other, SourceRange range) {
  if (sameValue(value, other))
    return;
  if (!value.isTuple() || !other.isTuple() || value.elements.size() != other.elements.size()) {
    value = decayAll(value, range);
    return;
  }
  for (auto [element, opposite] : llvm::zip(value.elements, other.elements))
    decayApart(element, opposite, range);
}

void Statements::bind(const NameExpr &target, SymValue value) {
  Binding &binding = scope[target.id] = Binding{std::move(value), target.range};
  if (host)
    return;
  sema.records.recordVariable(target.id, binding);
  sema.records.observe(target.range, binding.value, /*isName=*/true);
}

void Statements::rememberLiterals(const SymValue &value, const SymValue &bound, const NameExpr &name) {
  if (value.isConstant() && bound.isTensor())
    sema.records.namedLiterals[bound.value] = {name.id, name.range};
  if (value.isTuple())
    for (auto [element, named] : llvm::zip(value.elements, bound.elements))
      rememberLiterals(element, named, name);
}

void Statements::assign(const Expr &target, const SymValue &value, SourceRange range) {
  if (const auto *name = as<NameExpr>(&target)) {
    SymValue bound = decayAll(value, range);
    rememberLiterals(value, bound, *name);
    bind(*name, bound);
    return;
  }
  if (const auto *attribute = as<AttributeExpr>(&target))
    return sema.classes.assignAttribute(*attribute, value, range);
  if (const auto *item = as<SubscriptExpr>(&target))
    return sema.evaluator.assignItem(*item, value);
  const auto *tuple = as<TupleExpr>(&target);
  const auto *list = as<ListExpr>(&target);
  if (!tuple && !list) // "*others" of the host program
    return;
  const auto &targets = tuple ? tuple->elements : list->elements;
  bool fits = value.isTuple() && value.elements.size() == targets.size();
  if (!fits && !value.isError())
    error(Diag::unpack_count, range, {describe(value), std::to_string(targets.size())},
          sema.signature.tupleHint(value));
  for (size_t i = 0; i < targets.size(); ++i)
    assign(*targets[i], fits ? value.elements[i] : SymValue(), range);
}

void Statements::emitAssign(const AssignStmt &stmt) {
  SymValue value = sema.evaluator.evaluate(*stmt.value);
  assign(*stmt.target, value, stmt.value->range);
}

void Statements::emitAugAssign(const AugAssignStmt &stmt) {
  BinaryExpr expr;
  expr.range = stmt.range;
  expr.op = stmt.op;
  expr.left = stmt.target;
  expr.right = stmt.value;
  SymValue value = limitSize(sema.evaluator.evaluateBinary(expr), stmt.range);
  bind(*stmt.target, decayAll(value, stmt.range));
}

void Statements::emitAnnAssign(const AnnAssignStmt &stmt) {
  if (!stmt.value)
    return;
  size_t errorsBefore = diagnostics.numErrors();
  SymValue annotation = sema.evaluator.evaluate(*stmt.annotation);
  const auto *type = annotation.isConstant() ? std::get_if<TypeNameValue>(&annotation.constant) : nullptr;
  SymValue value = sema.evaluator.evaluate(*stmt.value);
  if (diagnostics.numErrors() != errorsBefore)
    value = {};
  if (!type || type->name != "constexpr") {
    value = decayAll(value, stmt.value->range);
    sema.records.warnIgnoredAnnotation(stmt, annotation, value);
    bind(*stmt.target, value);
    return;
  }
  // A run-time value stays one, as in Triton; where a constant is needed, it is an error. An unrolled loop reaches the
  // same definition repeatedly.
  auto old = scope.find(stmt.target->id);
  if (old != scope.end() && old->second.defined.begin != stmt.target->range.begin) {
    error(Diag::constexpr_assigned, stmt.target->range, {stmt.target->id},
          std::pair{old->second.defined, std::string("it is defined here")});
    return;
  }
  bind(*stmt.target, value);
}

SymValue Statements::runStatements(const std::string &name, const Block &statements) {
  auto *function = sema.session.scratchModules.emplace_back().make<FunctionStmt>(statements.front()->range);
  function->isConstexpr = function->isHost = true;
  frames.push_back({function, function->range, location(function->range)});
  unsigned outerLoops = std::exchange(loopDepth, 0), outerFolds = std::exchange(foldDepth, 0);
  emitBlock({&statements, 0, nullptr});
  loopDepth = outerLoops;
  foldDepth = outerFolds;
  frames.pop_back();
  return scope[name].value;
}

void Statements::emitAssert(const AssertStmt &stmt) {
  SymValue checked = sema.evaluator.evaluate(*stmt.condition);
  if (checked.isError())
    return;
  std::string message =
      stmt.message ? sema.evaluator.messageText(*stmt.message) : "assertion failed: " + unparse(*stmt.condition);
  if (std::optional<bool> known = truthOf(checked)) {
    if (!*known)
      error(Diag::static_assert_failed, stmt.condition->range, {message + sema.evaluator.valuesIn(*stmt.condition)});
    return;
  }
  checked = emitter.cast(checked, Scalar::Int1, stmt.condition->range);
  if (request.debug && !checked.isError())
    AssertOp::create(builder, location(stmt.range), checked.value, message);
}

} // namespace tile::frontend
