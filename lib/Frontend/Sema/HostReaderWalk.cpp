// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes functions and statements of the host program that create lists of configurations, as described in
// HostReader.h.

#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Statements.h"

using namespace mlir;

namespace tile::frontend {

SymValue HostReader::run(const FunctionStmt &function) {
  const FunctionStmt *reader = std::exchange(decorated, nullptr);
  Decisions decisions(this);
  SymValue result = SymValue::makeConstant(NoneValue{});
  if (walk(function.body, result) == Flow::Unknown || sema.session.exhausted)
    result = {};
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
  for (const SymValue &item : sema.evaluator.itemsOf(*stmt.iterator).value_or(std::vector<SymValue>())) {
    if (!sema.session.charge(1, stmt.range))
      return Flow::Unknown;
    Decisions decisions(this);
    sema.statements.assign(*stmt.target, item, stmt.iterator->range);
    Flow flow = walk(stmt.body, returned);
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
      sema.statements.assign(*assignment->target, sema.evaluator.evaluate(*assignment->value), stmt->range);
    } else if (const auto *annotated = as<AnnAssignStmt>(stmt)) {
      if (annotated->value)
        sema.statements.bind(*annotated->target, sema.evaluator.evaluate(*annotated->value));
    } else if (const auto *augmented = as<AugAssignStmt>(stmt)) {
      SymValue added = sema.evaluator.evaluate(*augmented->value);
      markConditional(added);
      SymValue value =
          sema.evaluator.applyBinary(augmented->op, sema.evaluator.evaluate(*augmented->target), added, stmt->range);
      sema.statements.bind(*augmented->target, sema.session.limitSize(std::move(value), stmt->range));
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
