// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Values/Python.h"

#include "Frontend/Syntax/Literals.h"

using llvm::StringRef;

namespace tile::frontend {

namespace {

struct Row {
  StringRef name, parameters;
  PythonRule rule;
};
constexpr Row rows[] = {
#define TILE_PYTHON(name, parameters, rule, emitter) {name, parameters, rule},
#include "Frontend/Syntax/PythonFunctions.def"
};

/// Parses a default of the table: None, True, False, (), a type, an integer or 'text'.
SymValue parseDefault(StringRef text) {
  if (text == "None")
    return SymValue::makeConstant(NoneValue{});
  if (text == "()")
    return SymValue::makeTuple({});
  if (text == "True" || text == "False")
    return SymValue::makeConstant(text == "True");
  if (text.consume_front("'"))
    return SymValue::makeConstant(text.drop_back().str());
  if (std::optional<DType> type = dtypeByName(text.str()))
    return SymValue::makeConstant(*type);
  bool isNegative = text.consume_front("-");
  Int128 value = decodeInteger(text).value_or(0);
  return SymValue::makeConstant(isNegative ? -value : value);
}

/// A context for the evaluation of constants without messages.
struct SilentContext : PythonContext {
  SymValue fromResult(const EvalResult &result, SourceRange) override {
    return result.value ? SymValue::makeConstant(*result.value) : SymValue();
  }
  SymValue applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) override {
    return left.isConstant() && right.isConstant() ? fromResult(evaluate(op, left.constant, right.constant), range)
                                                   : SymValue();
  }
  SymValue callValue(const SymValue &, const std::vector<SymValue> &, SourceRange) override { return {}; }
  std::optional<bool> callCondition(const SymValue &, SymValue &, SourceRange) override { return std::nullopt; }
};

} // namespace

std::vector<FormalParameter> parseFormals(StringRef text) {
  std::vector<FormalParameter> formals;
  while (!text.empty()) {
    auto [item, tail] = text.split(", ");
    text = tail;
    auto [name, defaultText] = item.split('=');
    FormalParameter formal;
    formal.isKeywords = name.consume_front("**");
    formal.isVarArgs = name.consume_front("*");
    formal.name = name.str();
    if (!defaultText.empty())
      formal.defaultValue = parseDefault(defaultText);
    formals.push_back(std::move(formal));
  }
  return formals;
}

std::optional<Value> callPython(std::string_view name, const std::vector<Value> &arguments) {
  for (const Row &row : rows) {
    StringRef spelling = row.name;
    spelling.consume_front("builtins.");
    if (std::string_view(spelling) != name)
      continue;
    std::vector<FormalParameter> formals = parseFormals(row.parameters);
    std::vector<BoundFormal> bound;
    size_t next = 0;
    for (const FormalParameter &formal : formals) {
      BoundFormal &argument = bound.emplace_back();
      argument.value = formal.defaultValue.value_or(SymValue::makeTuple({}));
      if (!formal.isVarArgs && next < arguments.size())
        argument.value = SymValue::makeConstant(arguments[next++]);
      for (; formal.isVarArgs && next < arguments.size(); ++next)
        argument.value.elements.push_back(SymValue::makeConstant(arguments[next]));
    }
    SilentContext context;
    std::optional<SymValue> result = row.rule({context, name, bound, {}});
    bool isConstant = next == arguments.size() && result && result->isConstant();
    return isConstant ? std::optional(result->constant) : std::nullopt;
  }
  return std::nullopt;
}

bool isPythonModule(std::string_view name) {
  return name == "copy" || name == "functools" || name == "itertools" || name == "math" || name == "operator";
}

std::string_view methodPrefix(const SymValue &value) {
  if (value.isTuple())
    return "list";
  if (value.isDictionary())
    return "dict";
  if (!value.isConstant())
    return {};
  if (std::holds_alternative<std::string>(value.constant))
    return "str";
  if (asInteger(value.constant))
    return "int";
  return std::holds_alternative<double>(value.constant) ? "float" : "";
}

} // namespace tile::frontend
