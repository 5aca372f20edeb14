// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comprehensions, dictionaries, and the types of constants and tuples.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Names.h"
#include "Frontend/Values/Collections.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Builds "value.name" for a value without an expression.
struct NamedMember {
  explicit NamedMember(const std::string &name, SourceRange range = {}, SourceRange nameRange = {}) {
    object.range = expr.range = range;
    expr.value = &object;
    expr.attribute = name;
    expr.attributeRange = nameRange;
  }
  NameExpr object;
  AttributeExpr expr;
};

} // namespace

/// Returns the ".type" of a constant or a tuple; nullopt for other values.
std::optional<SymValue> Evaluator::typeOf(const SymValue &value) {
  SymValue type;
  if (value.isTuple()) {
    type.kind = SymValue::Kind::TupleType;
    type.names = value.names;
    for (const SymValue &element : value.elements) {
      type.elements.push_back(attributeOf(element, NamedMember("type").expr));
      if (type.elements.back().isError())
        return SymValue();
    }
    return type;
  }
  bool isValue = value.isConstant() && !std::holds_alternative<NamespaceValue>(value.constant) &&
                 !std::holds_alternative<TypeNameValue>(value.constant);
  if (!isValue)
    return std::nullopt;
  type.kind = SymValue::Kind::ConstantType;
  type.elements = {value};
  return type;
}

/// Evaluates tl.tuple_type([...]).
SymValue Evaluator::typeOfTuple(const std::vector<SymValue> &types, SourceRange range) {
  for (const SymValue &type : types) {
    bool isType = type.kind == SymValue::Kind::BlockType || type.kind == SymValue::Kind::ConstantType ||
                  type.kind == SymValue::Kind::TupleType ||
                  (type.isConstant() && std::holds_alternative<DType>(type.constant));
    if (!isType)
      return error(Diag::type_needed, range, {"types", describe(type)});
  }
  SymValue result;
  result.kind = SymValue::Kind::TupleType;
  result.elements = types;
  return result;
}

SymValue Evaluator::evaluateComprehension(const ComprehensionExpr &expr) {
  for (const ComprehensionExpr::Clause &clause : expr.clauses)
    if (!clause.conditions.empty() && !isTile1() && !isConstexprFunction() && !isHostCode())
      return error(Diag::not_supported, clause.conditions.front()->range,
                   {"a condition in a comprehension, which Triton would ignore,"});
  // The comprehension's variables have a separate scope.
  Environment outside = scope;
  std::vector<SymValue> results;
  bool ok = evaluateClauses(expr, 0, results);
  scope = std::move(outside);
  if (!ok)
    return {};
  return limitSize(expr.isDictionary ? dictionaryOf(results) : SymValue::makeTuple(std::move(results)), expr.range);
}

/// Runs the clauses from `clause` on. Returns false after an error.
bool Evaluator::evaluateClauses(const ComprehensionExpr &expr, size_t clause, std::vector<SymValue> &results) {
  if (clause == expr.clauses.size()) {
    results.push_back(evaluate(*expr.element));
    if (host)
      host->markConditional(results.back());
    bool goesOn = host ? results.size() < PythonContext::mostElements : !results.back().isError();
    return goesOn && charge(1, expr.range);
  }
  const ComprehensionExpr::Clause &current = expr.clauses[clause];
  std::optional<std::vector<SymValue>> items = itemsOf(*current.iterable);
  if (!items && host)
    results.push_back({});
  if (!items)
    return host;
  for (const SymValue &item : *items) {
    if (!charge(1, expr.range))
      return false;
    bool unpacks = current.targets.size() > 1, fits = item.isTuple() && item.elements.size() == current.targets.size();
    if (unpacks && !fits && !host) {
      error(Diag::unpack_count, current.iterable->range, {describe(item), std::to_string(current.targets.size())});
      return false;
    }
    for (auto [index, target] : llvm::enumerate(current.targets))
      scope[target] = Binding{!unpacks ? item : fits ? item.elements[index] : SymValue(), current.iterable->range};
    Decisions decisions(host);
    bool holds = true;
    for (const Expr *condition : current.conditions) {
      std::optional<bool> known = holds ? truthOfClause(*condition) : false;
      if (!known && !host)
        return false;
      decisions.add(known);
      holds &= known.value_or(true);
    }
    if (holds && !evaluateClauses(expr, clause + 1, results))
      return false;
  }
  return true;
}

/// Evaluates a condition of a comprehension.
std::optional<bool> Evaluator::truthOfClause(const Expr &condition) {
  if (host)
    return host->truth(condition);
  SymValue value = evaluate(condition);
  std::optional<bool> known = value.isError() ? std::nullopt : truthOf(value);
  if (!known && !value.isError())
    error(Diag::constant_needed, condition.range, {"the condition of a comprehension", describe(value)});
  return known;
}

/// A lambda is an anonymous function. It is evaluated in the scope of its call which, for list filters, is the
/// enclosing one.
SymValue Evaluator::evaluateLambda(const LambdaExpr &expr) {
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

std::optional<std::vector<SymValue>> Evaluator::itemsOf(const Expr &iterable) {
  size_t reported = diagnostics.all().size();
  SymValue value = evaluate(iterable);
  std::optional<std::vector<SymValue>> items = itemsOfValue(value);
  if (!items && host)
    host->note(Diag::unknown_list, iterable.range, reported);
  if (items && value.isConstant() && !host)
    items = std::nullopt;
  if (items || value.isError() || host)
    return items;
  if (value.kind != SymValue::Kind::Range) {
    error(Diag::not_iterable, iterable.range, {describe(value)});
    return std::nullopt;
  }
  for (const SymValue &bound : llvm::ArrayRef(value.elements).take_front(3))
    if (!integerOf(bound)) {
      error(Diag::constant_needed, iterable.range, {"a bound of the range", describe(bound)});
      return std::nullopt;
    }
  error(Diag::value_too_large, iterable.range, {"range", std::to_string(PythonContext::mostElements), "integers"});
  return std::nullopt;
}

SymValue Evaluator::evaluateDictionary(const DictExpr &expr) {
  SymValue dictionary = SymValue::makeDictionary();
  for (auto [key, value] : llvm::zip(expr.keys, expr.values)) {
    SymValue name = key ? evaluate(*key) : SymValue(), entry = evaluate(*value);
    bool isKnown = key ? !name.isError() && (host || !entry.isError()) : entry.isDictionary();
    if (!isKnown)
      return key || entry.isError() ? SymValue() : error(Diag::mapping_needed, value->range, {describe(entry)});
    dictionary = key ? *withItem(std::move(dictionary), name, std::move(entry)) : merged(std::move(dictionary), entry);
  }
  return dictionary;
}

SymValue Evaluator::lookupKey(const SymValue &dictionary, const SubscriptExpr &expr) {
  SymValue key = evaluate(*expr.index);
  if (key.isError())
    return {};
  if (const SymValue *value = findKey(dictionary, key))
    return *value;
  return error(Diag::missing_key, expr.index->range, {key.isConstant() ? repr(key.constant) : describe(key)});
}

/// Evaluates "item in items" of host code: a key, an element, or a substring.
SymValue Evaluator::contains(const SymValue &item, const SymValue &items, const CompareExpr &expr) {
  const auto *part = item.isConstant() ? std::get_if<std::string>(&item.constant) : nullptr;
  const auto *text = items.isConstant() ? std::get_if<std::string>(&items.constant) : nullptr;
  const auto *space = items.isConstant() ? std::get_if<NamespaceValue>(&items.constant) : nullptr;
  bool isFound = false;
  SmallVector<mlir::Value> leaves;
  flatten(item, leaves);
  flatten(items, leaves);
  if (!leaves.empty())
    return error(Diag::constant_needed, expr.range, {"an operand of 'in'", describe(item)});
  if (part && text) {
    isFound = StringRef(*text).contains(*part);
  } else if (std::optional<std::vector<SymValue>> all = text ? std::nullopt : itemsOfValue(items)) {
    isFound = llvm::any_of(*all, [&](const SymValue &one) { return isEqual(one, item); });
  } else if (!space || space->name != "os.environ") { // the environment is empty (HostFacts.h)
    return error(Diag::not_iterable, expr.right->range, {describe(items)});
  }
  return SymValue::makeConstant(isFound == (expr.op == CompareOp::In));
}

/// Evaluates getattr(tl, "load") or getattr(x, "shape"), with an optional default as the third argument.
SymValue emitGetAttr(Emitter &sema, BuiltinCall &call) {
  std::optional<std::string> name = call.text(1);
  if (!name)
    return {};
  const std::vector<SymValue> &fallback = call[2].elements;
  if (fallback.size() > 1)
    return sema.error(Diag::argument_count, call.range, {"getattr", "2 or 3", std::to_string(2 + fallback.size())});
  if (!fallback.empty() && !sema.hasAttribute(call[0], *name))
    return fallback.front();
  return sema.attributeOf(call[0], NamedMember(*name, call.range, call.rangeOf(1)).expr);
}

/// Returns true if attributeOf would succeed.
bool Evaluator::hasAttribute(const SymValue &value, const std::string &name) {
  // Python numbers and strings have no attributes that kernels use; ".type" and ".value" are those of constexpr.
  bool isPlain = value.isConstant() && (isNone(value.constant) || isNumber(value.constant) ||
                                        std::holds_alternative<std::string>(value.constant));
  if (isPlain)
    return false;
  size_t reported = diagnostics.all().size();
  SymValue found = attributeOf(value, NamedMember(name).expr);
  (void)diagnostics.takeSince(reported);
  return !found.isError();
}

/// Evaluates "items.append(x)" and similar calls at compile time. Returns false for other expressions.
bool Evaluator::changeList(const Expr &expr) {
  const NameExpr *name = changedList(expr);
  auto found = name ? scope.find(name->id) : scope.end();
  if (found == scope.end() || !(found->second.value.isTuple() || found->second.value.isDictionary()))
    return false;
  const auto *call = as<CallExpr>(&expr);
  const std::string &method = as<AttributeExpr>(call->callee)->attribute;
  SymValue object = found->second.value;
  std::vector<BoundArgument> arguments{{"", object, expr.range}};
  if (!sema.calls.evaluateArguments(*call, arguments) && !host)
    return true;
  bool isNamed = !object.names.empty();
  const BuiltinInfo *info =
      isNamed ? nullptr : findBuiltin("changed." + std::string(methodPrefix(object)) + "." + method);
  if (host)
    for (BoundArgument &argument : llvm::drop_begin(arguments))
      host->markConditional(argument.value);
  SymValue changed = info ? sema.calls.callBuiltin(*info, arguments, expr.range)
                          : error(Diag::not_supported, expr.range, {"'" + unparse(expr) + "' of " + describe(object)});
  sema.statements.bind(*name, std::move(changed));
  return true;
}

/// Evaluates "items[i] = value" in a function that runs at compile time.
void Evaluator::assignItem(const SubscriptExpr &target, const SymValue &value) {
  SymValue container = evaluate(*target.value);
  SymValue index = container.isError() ? SymValue() : evaluate(*target.index);
  if (index.isError() || (value.isError() && !host))
    return sema.statements.assign(*target.value, {}, target.range);
  std::optional<SymValue> changed = withItem(container, index, value);
  if (!changed && container.isTuple() && container.names.empty())
    error(Diag::tuple_index, target.range, {unparse(*target.index), std::to_string(container.elements.size())});
  else if (!changed)
    error(Diag::subscript_target, target.range);
  sema.statements.assign(*target.value, changed ? limitSize(std::move(*changed), target.range) : SymValue(),
                         target.range);
}

} // namespace tile::frontend
