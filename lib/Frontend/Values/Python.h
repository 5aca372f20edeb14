// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python's functions and methods, and the helpers of the language that also take constants: one row of
// Syntax/PythonFunctions.def each, with one rule.
//
// The arguments of a rule may be values of any kind. A rule reads known values (constants, lists, dictionaries). It
// only passes on run-time values and unknown values (kind Error: parts of the host program that are not evaluated) as
// elements. If the result would depend on such a value, the rule returns nullopt; then the row's emitter, if it has
// one, is called.

#pragma once

#include "Frontend/Values/SymValue.h"

namespace tile::frontend {

/// The code around a call: what a rule needs beyond its arguments.
class PythonContext {
public:
  /// Maximum number of elements of a value in code of the host program.
  static constexpr size_t mostElements = 65536;

  /// Converts a result, and reports its error or warning.
  virtual SymValue fromResult(const EvalResult &result, SourceRange range) = 0;
  /// Evaluates or emits an operation.
  virtual SymValue applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) = 0;
  /// Calls a function, type or class with positional arguments.
  virtual SymValue callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range) = 0;
  /// Calls the condition of filter() for an item. The host reader keeps an item whose condition is unknown, and marks
  /// it as conditional. Otherwise, returns nullopt if the result is neither true nor false.
  virtual std::optional<bool> callCondition(const SymValue &condition, SymValue &item, SourceRange range) = 0;

protected:
  ~PythonContext() = default;
};

/// A parameter of a function in a table: "x", "axis=None", "*values", "**names".
struct FormalParameter {
  std::string name;
  bool isVarArgs = false;
  bool isKeywords = false;
  std::optional<SymValue> defaultValue;
};
std::vector<FormalParameter> parseFormals(llvm::StringRef text);

/// An argument, bound to a parameter.
struct BoundFormal {
  std::string_view name;
  SymValue value; // a tuple for "*name", a dictionary for "**name"
  SourceRange range;
  bool given = false;
};

struct PythonCall {
  PythonContext &context;
  std::string_view name; // without its module
  const std::vector<BoundFormal> &arguments;
  SourceRange range;

  const SymValue &operator[](size_t index) const { return arguments[index].value; }
  SymValue result(const EvalResult &result) const { return context.fromResult(result, range); }
};

/// Returns nullopt if the function is not defined for the arguments at compile time.
using PythonRule = std::optional<SymValue> (*)(const PythonCall &call);

#define TILE_PYTHON(name, parameters, rule, emitter) std::optional<SymValue> rule(const PythonCall &call);
#include "Frontend/Syntax/PythonFunctions.def"

/// Evaluates a function ("cdiv", "min") on constants without reporting errors; returns nullopt if there is no result.
std::optional<Value> callPython(std::string_view name, const std::vector<Value> &arguments);

/// Returns true for Python modules that have functions in the table: "itertools", ...
bool isPythonModule(std::string_view name);

/// Returns the prefix of the names of a value's methods in the table: "str", "list", ...; empty if the value has no
/// methods.
std::string_view methodPrefix(const SymValue &value);

} // namespace tile::frontend
