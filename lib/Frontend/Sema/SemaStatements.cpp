// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements without control flow, and the walk over a block.

#include "Frontend/Sema/ModuleSema.h"

using namespace mlir;

namespace tile::frontend {

/// Emits statements until the end of the continuation or a return. After an error the walk continues: names that the
/// failed statement would have bound are error values, which cause no further reports.
ModuleSema::BlockResult ModuleSema::emitBlock(const Continuation &start) {
  for (const Continuation *part = &start; part; part = part->next) {
    for (size_t i = part->index; i < part->block->size(); ++i) {
      const Stmt *stmt = (*part->block)[i];
      if (exhausted)
        return {true, {}, stmt->range};
      Continuation rest{part->block, i + 1, part->next};
      if (const auto *node = as<ReturnStmt>(stmt)) {
        BlockResult result;
        result.returned = true;
        result.range = node->range;
        if (node->value)
          result.value = evaluate(*node->value);
        if (loopDepth > 0)
          result.value = error(Diag::jump_needs_tile1, node->range, {"'return' inside a loop"});
        return result;
      }
      if (const auto *node = as<IfStmt>(stmt)) {
        if (std::optional<BlockResult> result = emitIf(*node, 0, rest))
          return *result;
      } else if (const auto *with = as<WithStmt>(stmt)) {
        enterContexts(*with);
        return emitBlock({&with->body, 0, &rest});
      } else if (const JumpingLoop *rewritten = rewriteJumps(*stmt)) {
        const Block *block =
            rewritten->returnsValue ? bindReturnPlaceholder(*rewritten, stmt->range) : &rewritten->statements;
        return block ? emitBlock({block, 0, &rest}) : BlockResult{true, {}, stmt->range};
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
void ModuleSema::enterContexts(const WithStmt &stmt) {
  for (const WithStmt::Item &item : stmt.items) {
    const auto *call = as<CallExpr>(item.context);
    std::optional<SymValue> callee = call ? evaluateQuietly(*call->callee) : std::nullopt;
    const auto *space = callee && callee->isConstant() ? std::get_if<NamespaceValue>(&callee->constant) : nullptr;
    if (!space || !(space->name == "triton.profiler.language.scope" || space->name == "triton.profiler.scope"))
      error(Diag::no_with, stmt.keyword, {unparse(*item.context)});
    if (item.target)
      bind(*item.target, SymValue::makeConstant(NoneValue{}));
  }
}

bool ModuleSema::emitSimple(const Stmt &stmt) {
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
      warnUnusedAdvance(value);
      if (!isConstexprFunction() || !changeList(value))
        evaluate(value);
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
SymValue ModuleSema::decay(const SymValue &value, SourceRange range) {
  if (!frames.empty() && frames.back().function->isConstexpr)
    return value;
  return value.isConstant() && isNumber(value.constant) ? toTensor(value, range) : value;
}

/// Applies decay to every element of a tuple.
SymValue ModuleSema::decayAll(const SymValue &value, SourceRange range) {
  if (!value.isTuple())
    return decay(value, range);
  SymValue out = value;
  for (SymValue &element : out.elements)
    element = decayAll(element, range);
  return out;
}

/// Converts numbers in which two values differ to run-time values, so that a branch or a loop can join them.
void ModuleSema::decayApart(SymValue &value, const SymValue &other, SourceRange range) {
  if (sameValue(value, other))
    return;
  if (!value.isTuple() || !other.isTuple() || value.elements.size() != other.elements.size()) {
    value = decayAll(value, range);
    return;
  }
  for (auto [element, opposite] : llvm::zip(value.elements, other.elements))
    decayApart(element, opposite, range);
}

void ModuleSema::bind(const NameExpr &target, SymValue value) {
  Binding &binding = scope[target.id] = Binding{std::move(value), target.range};
  recordVariable(target.id, binding);
  observe(target.range, binding.value, /*isName=*/true);
}

void ModuleSema::rememberLiterals(const SymValue &value, const SymValue &bound, const NameExpr &name) {
  if (value.isConstant() && bound.isTensor())
    namedLiterals[bound.value] = {name.id, name.range};
  if (value.isTuple())
    for (auto [element, named] : llvm::zip(value.elements, bound.elements))
      rememberLiterals(element, named, name);
}

void ModuleSema::assign(const Expr &target, const SymValue &value, SourceRange range) {
  if (const auto *name = as<NameExpr>(&target)) {
    SymValue bound = decayAll(value, range);
    rememberLiterals(value, bound, *name);
    bind(*name, bound);
    return;
  }
  if (const auto *attribute = as<AttributeExpr>(&target))
    return assignAttribute(*attribute, value, range);
  if (const auto *item = as<SubscriptExpr>(&target))
    return assignItem(*item, value);
  const auto *tuple = as<TupleExpr>(&target);
  const auto &targets = tuple ? tuple->elements : as<ListExpr>(&target)->elements;
  bool fits = value.isTuple() && value.elements.size() == targets.size();
  if (!fits && !value.isError())
    error(Diag::unpack_count, range, {describe(value), std::to_string(targets.size())}, tupleHint(value));
  for (size_t i = 0; i < targets.size(); ++i)
    assign(*targets[i], fits ? value.elements[i] : SymValue(), range);
}

void ModuleSema::emitAssign(const AssignStmt &stmt) {
  SymValue value = evaluate(*stmt.value);
  assign(*stmt.target, value, stmt.value->range);
}

void ModuleSema::emitAugAssign(const AugAssignStmt &stmt) {
  BinaryExpr expr;
  expr.range = stmt.range;
  expr.op = stmt.op;
  expr.left = stmt.target;
  expr.right = stmt.value;
  SymValue value = limitSize(evaluateBinary(expr), stmt.range);
  bind(*stmt.target, decayAll(value, stmt.range));
}

void ModuleSema::emitAnnAssign(const AnnAssignStmt &stmt) {
  if (!stmt.value)
    return;
  size_t errorsBefore = diagnostics.numErrors();
  SymValue annotation = evaluate(*stmt.annotation);
  const auto *type = annotation.isConstant() ? std::get_if<TypeNameValue>(&annotation.constant) : nullptr;
  SymValue value = evaluate(*stmt.value);
  if (diagnostics.numErrors() != errorsBefore)
    value = {};
  if (!type || type->name != "constexpr") {
    value = decayAll(value, stmt.value->range);
    warnIgnoredAnnotation(stmt, annotation, value);
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

} // namespace tile::frontend
