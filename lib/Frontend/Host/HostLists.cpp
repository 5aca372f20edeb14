// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python functions and methods of lists and dictionaries, in code that runs at compile time: HostLists.h.

#include "Frontend/Host/HostLists.h"

#include "Frontend/Sema/ModuleSema.h"
#include "Frontend/Syntax/Literals.h"
#include "Frontend/Syntax/Names.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the index of an element, counted from the end if it is negative; nullopt if it is out of bounds.
std::optional<size_t> listIndexOf(const SymValue &list, const SymValue &index) {
  std::optional<Int128> number = integerOf(index);
  auto size = static_cast<Int128>(list.elements.size());
  if (number && *number < 0)
    *number += size;
  return number && *number >= 0 && *number < size ? std::optional(static_cast<size_t>(*number)) : std::nullopt;
}

/// Returns the list after a method call.
std::optional<SymValue> changedList(SymValue list, StringRef method, ArrayRef<SymValue> arguments) {
  std::vector<SymValue> &items = list.elements;
  if (method == "append" && arguments.size() == 1) {
    items.push_back(arguments[0]);
  } else if (method == "extend" && arguments.size() == 1 && arguments[0].isTuple()) {
    llvm::append_range(items, arguments[0].elements);
  } else if (method == "insert" && arguments.size() == 2 && integerOf(arguments[0])) {
    auto size = static_cast<Int128>(items.size());
    Int128 place = *integerOf(arguments[0]);
    place = std::clamp<Int128>(place < 0 ? place + size : place, 0, size);
    items.insert(items.begin() + static_cast<ptrdiff_t>(place), arguments[1]);
  } else if (method == "pop" && arguments.size() <= 1) {
    std::optional<size_t> place =
        listIndexOf(list, arguments.empty() ? SymValue::makeConstant(Int128(-1)) : arguments[0]);
    if (!place)
      return std::nullopt;
    items.erase(items.begin() + static_cast<ptrdiff_t>(*place));
  } else if (method == "remove" && arguments.size() == 1) {
    auto found = llvm::find_if(items, [&](const SymValue &item) { return isEqual(item, arguments[0]); });
    if (found == items.end())
      return std::nullopt;
    items.erase(found);
  } else if (method == "reverse" && arguments.empty()) {
    std::reverse(items.begin(), items.end());
  } else if (method == "sort" && arguments.empty()) {
    if (!sortByKeys(items, std::vector<SymValue>(items), /*isDown=*/false))
      return std::nullopt;
  } else if (method == "clear" && arguments.empty()) {
    items.clear();
  } else {
    return std::nullopt;
  }
  return list;
}

std::optional<SymValue> changedDictionary(SymValue dictionary, StringRef method, ArrayRef<SymValue> arguments) {
  if (method == "update" && arguments.size() == 1 && arguments[0].kind == SymValue::Kind::Dictionary) {
    for (size_t i = 0; i < arguments[0].elements.size(); i += 2)
      dictionary = *withItem(std::move(dictionary), arguments[0].elements[i], arguments[0].elements[i + 1]);
    return dictionary;
  }
  if (method == "setdefault" && arguments.size() == 2)
    return findKey(dictionary, arguments[0]) ? std::optional(dictionary)
                                             : withItem(std::move(dictionary), arguments[0], arguments[1]);
  if (method == "pop" && !arguments.empty()) {
    const SymValue *found = findKey(dictionary, arguments[0]);
    if (!found)
      return arguments.size() == 2 ? std::optional(dictionary) : std::nullopt;
    auto place = dictionary.elements.begin() + (found - dictionary.elements.data());
    dictionary.elements.erase(place - 1, place + 1);
    return dictionary;
  }
  if (method == "clear" && arguments.empty()) {
    dictionary.elements.clear();
    return dictionary;
  }
  return std::nullopt;
}

SymValue enumerated(const std::vector<SymValue> &items, Int128 first) {
  std::vector<SymValue> rows;
  for (const SymValue &item : items)
    rows.push_back(SymValue::makeTuple({SymValue::makeConstant(first++), item}));
  return SymValue::makeTuple(std::move(rows));
}

constexpr StringLiteral listFunctions[] = {"sum", "any", "all", "sorted", "reversed", "enumerate", "zip",
                                           "min", "max", "set", "dict",   "divmod",   "print"};

} // namespace

std::optional<Int128> integerOf(const SymValue &value) {
  return value.isConstant() ? asInteger(value.constant) : std::nullopt;
}

const SymValue *findKey(const SymValue &dictionary, const SymValue &key) {
  const SymValue *found = nullptr;
  for (size_t i = 0; i < dictionary.elements.size(); i += 2)
    found = isEqual(dictionary.elements[i], key) ? &dictionary.elements[i + 1] : found;
  return found;
}

SymValue withoutRepetitions(llvm::ArrayRef<SymValue> items) {
  std::vector<SymValue> kept;
  for (const SymValue &item : items)
    if (item.isError() || llvm::none_of(kept, [&](const SymValue &other) { return isEqual(item, other); }))
      kept.push_back(item);
  return SymValue::makeTuple(std::move(kept));
}

std::optional<std::vector<SymValue>> itemsOfValue(const SymValue &value) {
  if (value.isTuple())
    return value.elements;
  if (const auto *text = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr) {
    std::vector<SymValue> characters;
    for (std::string_view character : splitCharacters(*text))
      characters.push_back(SymValue::makeConstant(std::string(character)));
    return characters;
  }
  if (value.kind != SymValue::Kind::Dictionary)
    return std::nullopt;
  std::vector<SymValue> keys;
  for (size_t i = 0; i < value.elements.size(); i += 2)
    keys.push_back(value.elements[i]);
  return keys;
}

bool sortByKeys(std::vector<SymValue> &items, const std::vector<SymValue> &keys, bool isDown) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [place, key] : llvm::enumerate(keys)) {
    std::optional<double> number = key.isConstant() ? asDouble(key.constant) : std::nullopt;
    if (!number)
      return false;
    order.push_back({isDown ? -*number : *number, place});
  }
  std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<SymValue> sorted;
  for (const auto &[number, place] : order)
    sorted.push_back(items[place]);
  items = std::move(sorted);
  return true;
}

SymValue dictionaryOf(const std::vector<SymValue> &entries) {
  SymValue dictionary;
  dictionary.kind = SymValue::Kind::Dictionary;
  for (const SymValue &entry : entries) {
    if (entry.elements.size() != 2 || entry.elements[0].isError())
      return {};
    dictionary = *withItem(std::move(dictionary), entry.elements[0], entry.elements[1]);
  }
  return dictionary;
}

SymValue zipLists(const std::vector<SymValue> &lists) {
  std::vector<SymValue> rows;
  for (size_t place = 0; !lists.empty(); ++place) {
    std::vector<SymValue> row;
    for (const SymValue &list : lists)
      if (place < list.elements.size())
        row.push_back(list.elements[place]);
    if (row.size() < lists.size())
      break;
    rows.push_back(SymValue::makeTuple(std::move(row)));
  }
  return SymValue::makeTuple(std::move(rows));
}

std::optional<SymValue> productOfLists(llvm::ArrayRef<SymValue> lists, size_t most) {
  std::vector<SymValue> choices{SymValue::makeTuple({})};
  for (const SymValue &list : lists) {
    if (!list.isTuple() || choices.size() * list.elements.size() > most)
      return std::nullopt;
    std::vector<SymValue> longer;
    for (const SymValue &choice : choices)
      for (const SymValue &element : list.elements) {
        longer.push_back(choice);
        longer.back().elements.push_back(element);
      }
    choices = std::move(longer);
  }
  return SymValue::makeTuple(std::move(choices));
}

std::optional<SymValue> changedValue(SymValue value, StringRef method, ArrayRef<SymValue> arguments) {
  bool isList = value.isTuple() && value.names.empty();
  if (isList)
    return changedList(std::move(value), method, arguments);
  return value.kind == SymValue::Kind::Dictionary ? changedDictionary(std::move(value), method, arguments)
                                                  : std::nullopt;
}

std::optional<SymValue> withItem(SymValue container, const SymValue &index, SymValue value) {
  if (container.kind == SymValue::Kind::Dictionary) {
    if (const SymValue *found = findKey(container, index))
      container.elements[static_cast<size_t>(found - container.elements.data())] = std::move(value);
    else
      container.elements.insert(container.elements.end(), {index, std::move(value)});
    return container;
  }
  bool isList = container.isTuple() && container.names.empty();
  std::optional<size_t> place = isList ? listIndexOf(container, index) : std::nullopt;
  if (!place)
    return std::nullopt;
  container.elements[*place] = std::move(value);
  return container;
}

/// Evaluates "items.append(x)" and similar calls in a function that runs at compile time. Returns false for other
/// expressions.
bool ModuleSema::changeList(const Expr &expr) {
  const NameExpr *name = frontend::changedList(expr);
  auto found = name ? scope.find(name->id) : scope.end();
  bool isContainer =
      found != scope.end() && (found->second.value.isTuple() || found->second.value.kind == SymValue::Kind::Dictionary);
  if (!isContainer)
    return false;
  const auto *call = as<CallExpr>(&expr);
  const auto *method = as<AttributeExpr>(call->callee);
  std::vector<BoundArgument> arguments;
  if (!evaluateArguments(*call, arguments))
    return true;
  std::vector<SymValue> values;
  SymValue named;
  named.kind = SymValue::Kind::Dictionary;
  for (const BoundArgument &argument : arguments) {
    if (argument.name.empty())
      values.push_back(argument.value);
    else
      named.elements.insert(named.elements.end(), {SymValue::makeConstant(argument.name), argument.value});
  }
  if (method->attribute == "update" && values.empty())
    values.push_back(std::exchange(named, {}));
  SymValue list = scope[name->id].value;
  std::optional<SymValue> changed =
      named.elements.empty() ? changedValue(list, method->attribute, values) : std::nullopt;
  if (!changed)
    error(Diag::not_supported, expr.range, {"'" + unparse(expr) + "' of " + describe(list)});
  bind(*name, changed ? limitSize(std::move(*changed), expr.range) : SymValue());
  return true;
}

/// Evaluates "items[i] = value" in a function that runs at compile time.
void ModuleSema::assignItem(const SubscriptExpr &target, const SymValue &value) {
  SymValue container = evaluate(*target.value);
  SymValue index = container.isError() ? SymValue() : evaluate(*target.index);
  if (index.isError() || value.isError())
    return assign(*target.value, {}, target.range);
  std::optional<SymValue> changed = withItem(container, index, value);
  if (!changed && container.isTuple() && container.names.empty())
    error(Diag::tuple_index, target.range, {unparse(*target.index), std::to_string(container.elements.size())});
  else if (!changed)
    error(Diag::subscript_target, target.range);
  assign(*target.value, changed ? limitSize(std::move(*changed), target.range) : SymValue(), target.range);
}

/// Returns true for Python functions on lists in compile-time code, unless the file redefines the name.
bool ModuleSema::isListFunction(const Expr &callee) {
  const auto *name = as<NameExpr>(&callee);
  if (!name || !isHostCode() || !llvm::is_contained(listFunctions, name->id) || scope.contains(name->id))
    return false;
  for (const ModuleScope *module = current; module; module = module->parent)
    if (module->globals.contains(name->id) || module->expressions.contains(name->id) ||
        module->imports.contains(name->id) || module->changed.contains(name->id) ||
        llvm::any_of(*module->skipped, [&](const SkippedName &skipped) { return skipped.name == name->id; }))
      return false;
  return true;
}

/// Evaluates `any` or `all`; nullopt if the result depends on an element with unknown truth.
static std::optional<bool> anyOrAll(llvm::ArrayRef<SymValue> items, bool isAny,
                                    llvm::function_ref<std::optional<bool>(const SymValue &)> truthOf) {
  for (const SymValue &item : items) {
    std::optional<bool> truth = truthOf(item);
    if (!truth || *truth == isAny)
      return truth;
  }
  return !isAny;
}

SymValue ModuleSema::callListFunction(const CallExpr &call) {
  const std::string &name = as<NameExpr>(call.callee)->id;
  std::vector<BoundArgument> arguments;
  if (!evaluateArguments(call, arguments))
    return {};
  if (name == "print")
    return SymValue::makeConstant(NoneValue{});
  std::vector<SymValue> values;
  bool isDown = false, isKnown = true;
  for (const BoundArgument &argument : arguments) {
    if (argument.name.empty())
      values.push_back(argument.value);
    else if (name == "sorted" && argument.name == "reverse" && constantTruth(argument.value))
      isDown = *constantTruth(argument.value);
    else
      isKnown = false;
  }
  std::optional<std::vector<SymValue>> items = values.empty() ? std::nullopt : itemsOfValue(values[0]);
  auto unknown = [&] { return error(Diag::not_supported, call.range, {"'" + unparse(call) + "' at compile time"}); };
  if (!isKnown || (name == "dict" && !values.empty()))
    return unknown();
  if (name == "dict") {
    SymValue dictionary;
    dictionary.kind = SymValue::Kind::Dictionary;
    return dictionary;
  }
  bool areConstant = llvm::all_of(values, [](const SymValue &value) { return value.isConstant(); });
  if (name == "divmod" && values.size() == 2 && areConstant) {
    SymValue quotient =
        fromResult(frontend::evaluate(BinaryOp::FloorDiv, values[0].constant, values[1].constant), call.range);
    SymValue rest = fromResult(frontend::evaluate(BinaryOp::Mod, values[0].constant, values[1].constant), call.range);
    return quotient.isError() || rest.isError() ? SymValue() : SymValue::makeTuple({quotient, rest});
  }
  if (name == "zip" && llvm::all_of(values, [](const SymValue &value) { return value.isTuple(); }))
    return limitSize(zipLists(values), call.range);
  bool isExtremum = name == "min" || name == "max";
  if (isExtremum && values.size() > 1)
    items = values;
  if (!items || (!isExtremum && values.size() > (name == "sum" || name == "enumerate" ? 2U : 1U)))
    return unknown();
  bool areItemsConstant = llvm::all_of(*items, [](const SymValue &item) { return item.isConstant(); });
  if (isExtremum && areItemsConstant && !items->empty()) {
    std::vector<Value> constants;
    for (const SymValue &item : *items)
      constants.push_back(item.constant);
    return fromResult(*evaluateFunction(name, constants), call.range);
  }
  if (name == "sum") {
    SymValue sum = values.size() > 1 ? values[1] : SymValue::makeConstant(Int128(0));
    for (const SymValue &item : *items) {
      if (!sum.isConstant() || !item.isConstant())
        return unknown();
      sum = fromResult(frontend::evaluate(BinaryOp::Add, sum.constant, item.constant), call.range);
    }
    return sum;
  }
  if (name == "any" || name == "all") {
    std::optional<bool> holds =
        anyOrAll(*items, name == "any", [&](const SymValue &item) { return constantTruth(item); });
    return holds ? SymValue::makeConstant(*holds) : unknown();
  }
  if (name == "sorted")
    return sortByKeys(*items, std::vector<SymValue>(*items), isDown) ? SymValue::makeTuple(std::move(*items))
                                                                     : unknown();
  if (name == "enumerate") {
    std::optional<Int128> first = values.size() > 1 ? integerOf(values[1]) : Int128(0);
    return first ? limitSize(enumerated(*items, *first), call.range) : unknown();
  }
  if (name == "reversed") {
    std::reverse(items->begin(), items->end());
    return SymValue::makeTuple(std::move(*items));
  }
  if (name == "set")
    return withoutRepetitions(*items);
  return unknown();
}

} // namespace tile::frontend
