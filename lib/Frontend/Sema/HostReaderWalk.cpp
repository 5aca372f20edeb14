// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates functions and statements of the host program that create lists of configurations, as described in
// HostReader.h.

#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Values/Collections.h"

#include "Frontend/Syntax/Names.h"

using namespace mlir;

namespace tile::frontend {

SymValue HostReader::call(const FunctionStmt &function, const std::vector<BoundArgument> &arguments,
                          SourceRange range) {
  constexpr size_t maxDepth = 50; // each level may recurse into expressions of any height
  if (sema.session.frames.size() > maxDepth)
    return sema.session.error(Diag::call_depth, range, {function.name, std::to_string(maxDepth)});
  if (sema.names.reportBroken(function, range))
    return {};
  Environment inner;
  if (function.name.empty())
    inner = sema.session.scope;
  if (!sema.calls.bindParameters(function, arguments, range, inner))
    return {};
  const FunctionStmt *reader = std::exchange(decorated, nullptr);
  unsigned before = openDecisions;
  sema.session.frames.push_back({&function, range, sema.session.location(range)});
  SymValue result = SymValue::makeConstant(NoneValue{});
  {
    InModule inside(sema, sema.names.ownerOf(function));
    std::swap(sema.session.scope, inner);
    Flow flow = walk(function.body, result);
    if (flow == Flow::Unknown || sema.session.exhausted)
      result = {};
  }
  sema.session.frames.pop_back();
  openDecisions = before;
  decorated = reader;
  return result;
}

std::optional<bool> HostReader::callCondition(const SymValue &condition, SymValue &item, SourceRange range) {
  if (!sema.session.charge(1, range))
    return false;
  size_t reported = sema.session.diagnostics.all().size();
  std::optional<bool> holds = truthOf(sema.calls.callValue(condition, std::vector<SymValue>{item}, range));
  if (holds)
    return holds;
  note(Diag::unknown_condition, range, reported);
  ++openDecisions;
  markConditional(item);
  --openDecisions;
  return true;
}

/// Binds a target; mismatched elements become unknown.
void HostReader::bind(const Expr &target, const SymValue &value) {
  if (const auto *name = as<NameExpr>(&target)) {
    sema.session.scope[name->id] = Binding{value, target.range};
    return;
  }
  if (const auto *item = as<SubscriptExpr>(&target)) {
    SymValue container = sema.evaluator.evaluate(*item->value), index = sema.evaluator.evaluate(*item->index);
    bind(*item->value, index.isError() ? SymValue() : withItem(container, index, value).value_or(SymValue()));
    return;
  }
  const auto *tuple = as<TupleExpr>(&target);
  const auto *list = as<ListExpr>(&target);
  if (!tuple && !list)
    return;
  const std::vector<const Expr *> &names = tuple ? tuple->elements : list->elements;
  bool fits = value.isTuple() && value.elements.size() == names.size();
  for (auto [place, name] : llvm::enumerate(names))
    bind(*name, fits ? value.elements[place] : SymValue());
}

HostReader::Flow HostReader::walkIf(const IfStmt &stmt, SymValue &returned) {
  for (const IfStmt::Branch &branch : stmt.branches) {
    std::optional<bool> holds = truth(*branch.condition);
    openDecisions += holds ? 0 : 1;
    if (holds.value_or(false))
      return walk(branch.body, returned);
  }
  return walk(stmt.elseBody, returned);
}

HostReader::Flow HostReader::walkFor(const ForStmt &stmt, SymValue &returned) {
  unsigned before = openDecisions;
  for (const SymValue &item : items(*stmt.iterator).value_or(std::vector<SymValue>())) {
    if (!sema.session.charge(1, stmt.range))
      return Flow::Unknown;
    bind(*stmt.target, item);
    Flow flow = walk(stmt.body, returned);
    openDecisions = before;
    if (flow == Flow::Break)
      break;
    if (flow == Flow::Return || flow == Flow::Unknown)
      return flow;
  }
  return Flow::GoesOn;
}

HostReader::Flow HostReader::walkWhile(const WhileStmt &stmt, SymValue &returned) {
  while (truth(*stmt.condition).value_or(false)) {
    if (!sema.session.charge(1, stmt.range))
      return Flow::Unknown;
    Flow flow = walk(stmt.body, returned);
    if (flow == Flow::Break)
      break;
    if (flow == Flow::Return || flow == Flow::Unknown)
      return flow;
  }
  return Flow::GoesOn;
}

/// Executes statements until one returns.
HostReader::Flow HostReader::walk(const Block &block, SymValue &returned) {
  for (const Stmt *stmt : block) {
    Flow flow = Flow::GoesOn;
    if (const auto *assignment = as<AssignStmt>(stmt)) {
      bind(*assignment->target, sema.evaluator.evaluate(*assignment->value));
    } else if (const auto *annotated = as<AnnAssignStmt>(stmt)) {
      if (annotated->value)
        bind(*annotated->target, sema.evaluator.evaluate(*annotated->value));
    } else if (const auto *augmented = as<AugAssignStmt>(stmt)) {
      SymValue added = sema.evaluator.evaluate(*augmented->value);
      markConditional(added);
      SymValue value =
          sema.evaluator.applyBinary(augmented->op, sema.evaluator.evaluate(*augmented->target), added, stmt->range);
      bind(*augmented->target, sema.session.limitSize(std::move(value), stmt->range));
    } else if (const auto *expression = as<ExprStmt>(stmt)) {
      sema.evaluator.changeList(*expression->value);
    } else if (const auto *branches = as<IfStmt>(stmt)) {
      flow = walkIf(*branches, returned);
    } else if (const auto *loop = as<ForStmt>(stmt)) {
      flow = walkFor(*loop, returned);
    } else if (const auto *loop = as<WhileStmt>(stmt)) {
      flow = walkWhile(*loop, returned);
    } else if (const auto *with = as<WithStmt>(stmt)) {
      flow = walk(with->body, returned);
    } else if (const auto *result = as<ReturnStmt>(stmt)) {
      if (result->value)
        returned = sema.evaluator.evaluate(*result->value);
      markConditional(returned);
      return Flow::Return;
    } else if (stmt->kind == StmtKind::Continue) {
      return Flow::Continue;
    } else if (stmt->kind == StmtKind::Break) {
      return Flow::Break;
    } else if (stmt->kind == StmtKind::Raise) {
      return Flow::Unknown;
    }
    if (sema.session.exhausted)
      return Flow::Unknown;
    if (flow != Flow::GoesOn)
      return flow;
  }
  return Flow::GoesOn;
}

} // namespace tile::frontend
