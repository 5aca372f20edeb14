// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile-time values and Python's arithmetic on them (plain C++, no MLIR).
//
// A Value is the value of a constexpr: number, string, None, type, function. Operations follow Python: floor division,
// true division, ** and comparisons, with 128-bit integers that report overflow. Semantic analysis (SemaExpr.cpp) walks
// the syntax tree, because constants and run-time values mix in one expression.

#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Syntax/Types.h"

#include <variant>

namespace tile::frontend {

struct BuiltinInfo; // an entry of Builtins.def

struct NoneValue {
  bool operator==(const NoneValue &) const = default;
};

/// A module such as "tl" or "tl.math", resolved attribute by attribute. 'path' is its file, if it can be read.
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
  std::string error;   // set if the operation has no value
  std::string warning; // set if the value is defined but surprising, e.g. for floor division of a negative number
};

inline bool isNone(const Value &value) {
  return std::holds_alternative<NoneValue>(value);
}
/// Returns true for bool, int and float values, which become scalars in operations with a tensor.
bool isNumber(const Value &value);
/// Converts a bool or int to an integer; returns nullopt for other values.
std::optional<Int128> asInteger(const Value &value);
std::optional<double> asDouble(const Value &value);

EvalResult evaluate(UnaryOp op, const Value &operand);
EvalResult evaluate(BinaryOp op, const Value &left, const Value &right);
EvalResult evaluate(CompareOp op, const Value &left, const Value &right);

/// Returns Python's truth value; nullopt for values without one (functions, types).
std::optional<bool> truth(const Value &value);

/// Return Python's str() and repr(), and a description such as "an int" for messages.
std::string str(const Value &value);
std::string repr(const Value &value);
std::string describe(const Value &value);

/// Returns the type of the scalar tensor that a number becomes; nullopt if no type can represent it.
std::optional<DType> scalarType(const Value &value);

} // namespace tile::frontend
