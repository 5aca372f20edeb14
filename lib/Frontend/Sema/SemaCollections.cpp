// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comprehensions, dictionaries, and the types of constants and tuples.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostLists.h"
#include "Frontend/Sema/ModuleSema.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Builds "value.name" for a value without an expression.
struct NamedAttribute {
  explicit NamedAttribute(const std::string &name, SourceRange range = {}, SourceRange nameRange = {}) {
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
std::optional<SymValue> ModuleSema::typeOf(const SymValue &value) {
  SymValue type;
  if (value.isTuple()) {
    type.kind = SymValue::Kind::TupleType;
    type.names = value.names;
    for (const SymValue &element : value.elements) {
      type.elements.push_back(attributeOf(element, NamedAttribute("type").expr));
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
SymValue ModuleSema::typeOfTuple(const std::vector<SymValue> &types, SourceRange range) {
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

SymValue ModuleSema::evaluateComprehension(const ComprehensionExpr &expr) {
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
bool ModuleSema::evaluateClauses(const ComprehensionExpr &expr, size_t clause, std::vector<SymValue> &results) {
  if (clause == expr.clauses.size()) {
    results.push_back(evaluate(*expr.element));
    return !results.back().isError() && charge(1, expr.range);
  }
  const ComprehensionExpr::Clause &current = expr.clauses[clause];
  std::optional<std::vector<SymValue>> items = itemsOf(*current.iterable);
  if (!items)
    return false;
  for (const SymValue &item : *items) {
    bool unpacks = current.targets.size() > 1;
    if (unpacks && (!item.isTuple() || item.elements.size() != current.targets.size())) {
      error(Diag::unpack_count, current.iterable->range, {describe(item), std::to_string(current.targets.size())});
      return false;
    }
    for (auto [index, target] : llvm::enumerate(current.targets))
      scope[target] = Binding{unpacks ? item.elements[index] : item, current.iterable->range};
    bool holds = true;
    for (const Expr *condition : current.conditions) {
      SymValue value = evaluate(*condition);
      std::optional<bool> known = value.isError() ? std::nullopt : constantTruth(value);
      if (!known) {
        if (!value.isError())
          error(Diag::constant_needed, condition->range, {"the condition of a comprehension", describe(value)});
        return false;
      }
      holds &= *known;
    }
    if (holds && !evaluateClauses(expr, clause + 1, results))
      return false;
  }
  return true;
}

/// Returns the items of a comprehension: the elements of a tuple, the keys of a dictionary, or a range of constants.
std::optional<std::vector<SymValue>> ModuleSema::itemsOf(const Expr &iterable) {
  SymValue value = evaluate(iterable);
  if (value.isError())
    return std::nullopt;
  std::vector<SymValue> items;
  if (value.kind == SymValue::Kind::Dictionary) {
    for (size_t i = 0; i < value.elements.size(); i += 2)
      items.push_back(value.elements[i]);
    return items;
  }
  if (!value.isTuple()) {
    error(Diag::not_iterable, iterable.range, {describe(value)});
    return std::nullopt;
  }
  const auto *call = as<CallExpr>(&iterable);
  const auto *name = call ? as<NameExpr>(call->callee) : nullptr;
  const auto *member = call ? as<AttributeExpr>(call->callee) : nullptr;
  bool isNamedRange = StringRef(name ? name->id : member ? member->attribute : "").ends_with("range");
  SymValue callee = isNamedRange ? evaluate(*call->callee) : SymValue();
  const auto *builtin = callee.isConstant() ? std::get_if<const BuiltinInfo *>(&callee.constant) : nullptr;
  if (!builtin || (*builtin)->emit != emitRange)
    return value.elements;
  Int128 bounds[3];
  for (int i = 0; i < 3; ++i) {
    std::optional<Int128> bound = value.elements[i].isConstant() ? asInteger(value.elements[i].constant) : std::nullopt;
    if (!bound) {
      error(Diag::constant_needed, iterable.range, {"a bound of the range", describe(value.elements[i])});
      return std::nullopt;
    }
    bounds[i] = *bound;
  }
  for (Int128 i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
    if (!charge(1, iterable.range))
      return std::nullopt;
    items.push_back(SymValue::makeConstant(i));
  }
  return items;
}

SymValue ModuleSema::evaluateDictionary(const DictExpr &expr) {
  SymValue dictionary;
  dictionary.kind = SymValue::Kind::Dictionary;
  for (auto [key, value] : llvm::zip(expr.keys, expr.values)) {
    if (!key) {
      SymValue mapping = evaluate(*value);
      if (mapping.kind != SymValue::Kind::Dictionary)
        return mapping.isError() ? SymValue() : error(Diag::mapping_needed, value->range, {describe(mapping)});
      llvm::append_range(dictionary.elements, mapping.elements);
      continue;
    }
    dictionary.elements.push_back(evaluate(*key));
    dictionary.elements.push_back(evaluate(*value));
    if (dictionary.elements.back().isError() || (dictionary.elements.end() - 2)->isError())
      return {};
  }
  return dictionary;
}

SymValue ModuleSema::lookupKey(const SymValue &dictionary, const SubscriptExpr &expr) {
  SymValue key = evaluate(*expr.index);
  if (key.isError())
    return {};
  if (const SymValue *value = findKey(dictionary, key))
    return *value;
  return error(Diag::missing_key, expr.index->range, {key.isConstant() ? repr(key.constant) : describe(key)});
}

/// Evaluates "item in items" of host code: a key, an element, or a substring.
SymValue ModuleSema::contains(const SymValue &item, const SymValue &items, const CompareExpr &expr) {
  const auto *part = item.isConstant() ? std::get_if<std::string>(&item.constant) : nullptr;
  const auto *text = items.isConstant() ? std::get_if<std::string>(&items.constant) : nullptr;
  const auto *space = items.isConstant() ? std::get_if<NamespaceValue>(&items.constant) : nullptr;
  bool isDictionary = items.kind == SymValue::Kind::Dictionary;
  bool isFound = false;
  SmallVector<mlir::Value> leaves;
  flatten(item, leaves);
  flatten(items, leaves);
  if (!leaves.empty())
    return error(Diag::constant_needed, expr.range, {"an operand of 'in'", describe(item)});
  if (part && text) {
    isFound = StringRef(*text).contains(*part);
  } else if (items.isTuple() || isDictionary) {
    SymValue places = items; // as a dictionary from each element to itself
    if (items.isTuple()) {
      places.elements.clear();
      for (const SymValue &element : items.elements)
        places.elements.insert(places.elements.end(), 2, element);
    }
    isFound = findKey(places, item) != nullptr;
  } else if (!space || space->name != "os.environ") { // the environment is empty (HostFacts.h)
    return error(Diag::not_iterable, expr.right->range, {describe(items)});
  }
  return SymValue::makeConstant(isFound == (expr.op == CompareOp::In));
}

SymValue emitDictionaryGet(Sema &, BuiltinCall &call) {
  const SymValue *value = findKey(call[0], call[1]);
  return value ? *value : call[2];
}

SymValue emitDictionaryKeys(Sema &, BuiltinCall &call) {
  std::vector<SymValue> keys;
  for (size_t i = 0; i < call[0].elements.size(); i += 2)
    keys.push_back(call[0].elements[i]);
  return SymValue::makeTuple(std::move(keys));
}

SymValue emitDictionaryValues(Sema &, BuiltinCall &call) {
  std::vector<SymValue> values;
  for (size_t i = 1; i < call[0].elements.size(); i += 2)
    values.push_back(call[0].elements[i]);
  return SymValue::makeTuple(std::move(values));
}

SymValue emitDictionaryItems(Sema &, BuiltinCall &call) {
  std::vector<SymValue> items;
  for (size_t i = 0; i < call[0].elements.size(); i += 2)
    items.push_back(SymValue::makeTuple({call[0].elements[i], call[0].elements[i + 1]}));
  return SymValue::makeTuple(std::move(items));
}

/// Evaluates getattr(tl, "load") or getattr(x, "shape"), with an optional default as the third argument.
SymValue emitGetAttr(Sema &sema, BuiltinCall &call) {
  std::optional<std::string> name = call.text(1);
  if (!name)
    return {};
  const std::vector<SymValue> &fallback = call[2].elements;
  if (fallback.size() > 1)
    return sema.error(Diag::argument_count, call.range, {"getattr", "2 or 3", std::to_string(2 + fallback.size())});
  if (!fallback.empty() && !sema.hasAttribute(call[0], *name))
    return fallback.front();
  return sema.attributeOf(call[0], NamedAttribute(*name, call.range, call.rangeOf(1)).expr);
}

/// Returns true if attributeOf would succeed.
bool ModuleSema::hasAttribute(const SymValue &value, const std::string &name) {
  // Python numbers and strings have no attributes that kernels use; ".type" and ".value" are those of constexpr.
  bool isPlain = value.isConstant() && (isNone(value.constant) || isNumber(value.constant) ||
                                        std::holds_alternative<std::string>(value.constant));
  if (isPlain)
    return false;
  size_t reported = diagnostics.all().size();
  SymValue found = attributeOf(value, NamedAttribute(name).expr);
  (void)diagnostics.takeSince(reported);
  return !found.isError();
}

} // namespace tile::frontend
