// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the values of HostReader.h: lists, comprehensions, conditions and names. HostReaderCalls.cpp handles calls,
// HostReaderWalk.cpp functions and statements.

#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"

#include "Frontend/Host/HostFacts.h"
#include "Frontend/Values/Collections.h"

using namespace mlir;

namespace tile::frontend {

HostReader::HostReader(Sema &sema, const FunctionStmt &kernel)
    : sema(sema), kernel(kernel), decorated(&kernel), reportedBefore(sema.session.diagnostics.all().size()),
      workBefore(sema.session.work) {
  assert(!sema.session.host && "configurations are not nested");
  sema.session.host = this;
  sema.session.work = 0; // separate budget, so that an endless list does not end the compilation
  ++sema.session.hostDepth;
  ++sema.session.quietDepth;
}

HostReader::~HostReader() {
  --sema.session.quietDepth;
  --sema.session.hostDepth;
  sema.session.host = nullptr;
  sema.session.exhausted = false;
  sema.session.work = workBefore;
  (void)sema.session.diagnostics.takeSince(reportedBefore);
}

std::optional<SymValue> HostReader::evaluate(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Comprehension:
    return comprehension(*as<ComprehensionExpr>(&expr));
  case ExprKind::Lambda:
    return lambda(*as<LambdaExpr>(&expr));
  case ExprKind::BoolOp:
    return boolOp(*as<BoolOpExpr>(&expr));
  case ExprKind::Call:
    return callOfConfig(*as<CallExpr>(&expr));
  case ExprKind::Conditional: {
    const auto &choice = *as<ConditionalExpr>(&expr);
    return sema.evaluator.evaluate(truth(*choice.condition).value_or(true) ? *choice.thenValue : *choice.elseValue);
  }
  case ExprKind::Unary: {
    const auto &node = *as<UnaryExpr>(&expr);
    if (node.op != UnaryOp::Not)
      return std::nullopt;
    std::optional<bool> holds = truth(*node.operand);
    return holds ? SymValue::makeConstant(!*holds) : SymValue();
  }
  default:
    return std::nullopt;
  }
}

void HostReader::note(Diag what, SourceRange range, size_t reported) {
  std::vector<Diagnostic> since = sema.session.diagnostics.takeSince(reported);
  bool isNew = llvm::none_of(notes, [&](const UnknownHost &other) {
    return other.range.file == range.file && other.range.begin == range.begin;
  });
  constexpr size_t mostNotes = 8;
  if (isNew && notes.size() < mostNotes)
    notes.push_back({what, range, since.empty() ? "it depends on a run-time value" : since.front().message});
}

/// Returns nullopt for an unknown condition, and records the reason.
std::optional<bool> HostReader::truth(const Expr &condition) {
  if (std::optional<bool> fact = hostCondition(condition, sema.session.request.targetCapability))
    return fact;
  size_t reported = sema.session.diagnostics.all().size();
  SymValue value = sema.evaluator.evaluate(condition);
  std::optional<bool> holds = truthOf(value);
  if (!holds)
    note(Diag::unknown_condition, condition.range, reported);
  return holds;
}

/// Returns the items of a loop or a comprehension; nullopt if they are unknown.
std::optional<std::vector<SymValue>> HostReader::items(const Expr &iterable) {
  size_t reported = sema.session.diagnostics.all().size();
  std::optional<std::vector<SymValue>> items = itemsOfValue(sema.evaluator.evaluate(iterable));
  if (!items)
    note(Diag::unknown_list, iterable.range, reported);
  return items;
}

SymValue HostReader::comprehension(const ComprehensionExpr &expr) {
  Environment outside = sema.session.scope; // the comprehension's variables have a separate scope
  std::vector<SymValue> results;
  clauses(expr, 0, results);
  sema.session.scope = std::move(outside);
  return expr.isDictionary ? dictionaryOf(results) : SymValue::makeTuple(std::move(results));
}

/// Runs the clauses from `index` on. Returns false at the size limit.
bool HostReader::clauses(const ComprehensionExpr &expr, size_t index, std::vector<SymValue> &results) {
  if (index == expr.clauses.size()) {
    results.push_back(sema.evaluator.evaluate(*expr.element));
    markConditional(results.back());
    return !sema.session.exhausted && results.size() < PythonContext::mostElements;
  }
  const ComprehensionExpr::Clause &clause = expr.clauses[index];
  std::optional<std::vector<SymValue>> list = items(*clause.iterable);
  if (!list) {
    results.push_back({});
    return true;
  }
  unsigned before = openDecisions;
  for (const SymValue &item : *list) {
    if (!sema.session.charge(1, expr.range))
      return false;
    bool unpacks = clause.targets.size() > 1, fits = item.elements.size() == clause.targets.size();
    for (auto [place, target] : llvm::enumerate(clause.targets))
      sema.session.scope[target] = Binding{!unpacks ? item
                                           : fits   ? item.elements[place]
                                                    : SymValue(),
                                           clause.iterable->range};
    bool holds = true;
    for (const Expr *condition : clause.conditions) {
      std::optional<bool> answer = holds ? truth(*condition) : false;
      openDecisions += answer ? 0 : 1;
      holds &= answer.value_or(true);
    }
    bool goesOn = !holds || clauses(expr, index + 1, results);
    openDecisions = before;
    if (!goesOn)
      return false;
  }
  return true;
}

/// A lambda is an anonymous function. It is evaluated in the scope of its call which, for list filters, is the
/// enclosing one.
SymValue HostReader::lambda(const LambdaExpr &expr) {
  const FunctionStmt *&function = lambdas[&expr];
  if (!function) {
    Module &nodes = sema.session.scratchModules.emplace_back();
    auto *made = nodes.make<FunctionStmt>(expr.range);
    auto *result = nodes.make<ReturnStmt>(expr.body->range);
    result->value = expr.body;
    made->body = {result};
    made->isHost = made->isConstexpr = true;
    for (StringRef name : expr.parameters) {
      Parameter &parameter = made->parameters.emplace_back();
      parameter.isKeywords = name.consume_front("**");
      parameter.isVarArgs = !parameter.isKeywords && name.consume_front("*");
      parameter.name = name.str();
      parameter.range = expr.range;
    }
    sema.names.owners[made] = sema.names.current;
    function = made;
  }
  return SymValue::makeConstant(function);
}

/// One operand may determine the result in spite of unknown ones, because evaluation has no side effects.
SymValue HostReader::boolOp(const BoolOpExpr &expr) {
  bool isOr = expr.op == BoolOperator::Or, isOpen = false;
  SymValue last;
  for (const Expr *operand : expr.values) {
    if (std::optional<bool> fact = hostCondition(*operand, sema.session.request.targetCapability))
      last = SymValue::makeConstant(*fact);
    else
      last = sema.evaluator.evaluate(*operand);
    std::optional<bool> holds = truthOf(last);
    isOpen |= !holds;
    if (holds == isOr)
      return isOpen ? SymValue::makeConstant(isOr) : last;
  }
  return isOpen ? SymValue() : last;
}

/// Marks configurations that an undecided condition has let through.
void HostReader::markConditional(const SymValue &value) {
  if (!isPruning || openDecisions == 0)
    return;
  if (value.kind == SymValue::Kind::Configuration)
    configuration(value).isConditional = true;
  for (const SymValue &element : value.elements)
    markConditional(element);
}

std::vector<SymValue> HostReader::configurationsOf(const SymValue &list, SourceRange range) {
  constexpr size_t most = 4096; // longer lists are assumed to be errors
  std::vector<SymValue> found;
  for (const SymValue &element : list.elements) {
    if (element.kind == SymValue::Kind::Configuration)
      found.push_back(element);
    if (found.size() <= most)
      continue;
    found.pop_back();
    notes.push_back({Diag::too_many_configurations, range, std::to_string(most)});
    break;
  }
  return found;
}

std::optional<SymValue> HostReader::lookup(const std::string &name) {
  ModuleValue value;
  bool isDecorators = false;
  if (auto known = sema.names.decoratorValues.find(decorated); known != sema.names.decoratorValues.end())
    if (auto found = known->second.find(name); found != known->second.end()) {
      value = found->second;
      isDecorators = true;
    }
  ModuleScope *owner = sema.names.current;
  auto host = owner->hostValues.find(name);
  bool isHost = host != owner->hostValues.end();
  // Module flags are answered by name.
  auto plain = owner->expressions.find(name);
  if (isDecorators && !value.needsRun() && plain != owner->expressions.end() && plain->second == value.expression)
    return std::nullopt;
  if (!isDecorators) {
    if (!isHost && (owner->globals.contains(name) || !owner->expressions.contains(name) || !sema.names.needsRun(name)))
      return std::nullopt;
    value = {isHost ? host->second : owner->expressions[name], owner->statements[name]};
  }
  auto key = std::pair(name, std::pair(value.expression, value.statements.size()));
  if (auto known = values.find(key); known != values.end())
    return known->second;
  std::string guard = "configurations " + name; // for mutually recursive lists
  if (!owner->pending.insert(guard).second)
    return SymValue();
  const FunctionStmt *reader = std::exchange(decorated, nullptr);
  SymValue result;
  {
    InModule inside(sema, owner);
    if (value.needsRun()) {
      SymValue returned;
      walk(value.statements, returned);
      result = sema.session.scope[name].value;
    } else {
      result = sema.evaluator.evaluate(*value.expression);
    }
  }
  owner->pending.erase(guard);
  decorated = reader;
  return values[key] = result;
}

} // namespace tile::frontend
