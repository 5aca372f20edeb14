// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile-time values and Python's arithmetic on them (plain C++, no MLIR).
//
// A Value is what a constexpr holds: number, string, None, type, function. Operations follow Python: floor division,
// true division, ** and comparisons, with integers of 128 bits that report overflow. The walk over the syntax tree is
// semantic analysis (SemaExpr.cpp), because constants and run-time values mix in one expression.

#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Types.h"

#include <variant>

namespace tile::frontend {

struct BuiltinInfo; // an entry of Builtins.def

struct NoneValue {
  bool operator==(const NoneValue &) const = default;
};

/// A module such as "tl" or "tl.math", resolved attribute by attribute. 'path' is the file of one that can be read.
struct NamespaceValue {
  std::string name;
  std::string path = {};
  bool operator==(const NamespaceValue &) const = default;
};

/// A Python type or a type of the language that is not an element type: "int", "float", "tensor", "constexpr" ...
struct TypeNameValue {
  std::string name;
  bool operator==(const TypeNameValue &) const = default;
};

using Value = std::variant<NoneValue, bool, Int128, double, std::string, DType, TypeNameValue, NamespaceValue,
                           const FunctionStmt *, const BuiltinInfo *, const ClassStmt *>;

struct EvalResult {
  std::optional<Value> value;
  std::string error;   // when there is no value
  std::string warning; // surprising but defined, e.g. floor division of a negative number
};

inline bool isNone(const Value &value) {
  return std::holds_alternative<NoneValue>(value);
}
/// bool, int or float: what becomes a scalar when it meets a tensor.
bool isNumber(const Value &value);
/// bool and int as an integer.
std::optional<Int128> asInteger(const Value &value);
std::optional<double> asDouble(const Value &value);

EvalResult evaluate(UnaryOp op, const Value &operand);
EvalResult evaluate(BinaryOp op, const Value &left, const Value &right);
EvalResult evaluate(CompareOp op, const Value &left, const Value &right);

/// Python's truth value; nothing for values that have none here (functions, types).
std::optional<bool> truth(const Value &value);

/// Python's str() and repr(), and "an int" style descriptions for messages.
std::string str(const Value &value);
std::string repr(const Value &value);
std::string describe(const Value &value);

/// Type that a number takes when it becomes a scalar tensor; nothing when it fits none.
std::optional<DType> scalarType(const Value &value);

/// Functions on constants: abs, min, max, int, float, bool, str, round, pow, len, cdiv, next_power_of_2, log2, ceil,
/// floor, sqrt. Nothing when 'name' is none of them or the arguments are not constants that it takes.
std::optional<EvalResult> evaluateFunction(std::string_view name, const std::vector<Value> &arguments);

} // namespace tile::frontend
