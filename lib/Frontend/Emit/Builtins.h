// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin functions of the language. Each is one line of Builtins.def, or of PythonFunctions.def if it takes
// compile-time values, and one emitter in Emit*.cpp.

#pragma once

#include "Frontend/Emit/Emitter.h"
#include "Frontend/Values/Python.h"

namespace tile::frontend {

/// A call with its arguments bound to the parameters of the builtin. Accessors report invalid arguments and then return
/// nullopt (or an error value).
struct BuiltinCall {
  using Argument = BoundFormal;

  Emitter &sema;
  const BuiltinInfo &info;
  SourceRange range;
  std::vector<Argument> arguments;

  const SymValue &operator[](size_t index) const { return arguments[index].value; }
  SourceRange rangeOf(size_t index) const { return arguments[index].range; }
  bool isNone(size_t index) const { return arguments[index].value.isNoneValue(); }

  /// Returns a run-time scalar or block; constants are converted.
  SymValue tensor(size_t index) const;
  /// Returns a block of at least one dimension.
  SymValue block(size_t index) const;
  std::optional<int64_t> integer(size_t index) const;
  std::optional<bool> flag(size_t index) const;
  std::optional<std::string> text(size_t index) const;
  std::optional<DType> dtype(size_t index) const;
  /// Returns a tuple of powers of two; accepts a single integer.
  std::optional<llvm::SmallVector<int64_t>> shape(size_t index) const;
  /// Returns a dimension of a tensor with 'rank' dimensions; negative values count from the end.
  std::optional<int64_t> axis(size_t index, size_t rank) const;
  /// Returns a tuple of 'rank' integers as scalars of a type.
  std::optional<std::vector<SymValue>> integers(size_t index, size_t rank, DType type) const;
  SymValue constantNeeded(size_t index) const;
};

enum BuiltinFlags : unsigned {
  Plain = 0,
  Method = 1, // may be called as a method of a tensor or descriptor: x.name(...)
};

struct BuiltinInfo {
  std::string_view name;
  std::string_view parameters;                // "x, axis=None, *rest"
  SymValue (*emit)(Emitter &, BuiltinCall &); // null if the function only takes compile-time values
  unsigned flags;
  PythonRule rule = nullptr; // evaluates the function on compile-time values; may be null
};

/// Returns a value that is the given compile-time integer.
inline SymValue constant(Int128 value) {
  return SymValue::makeConstant(value);
}

/// Calls another builtin with positional arguments, as if the source called it in place of this one.
SymValue callValues(BuiltinCall &call, std::string_view name, const std::vector<SymValue> &arguments);

const BuiltinInfo *findBuiltin(std::string_view name);
/// Returns the names of all builtins; Python's own functions without their prefixes.
std::vector<std::string> builtinNames();

#define TILE_BUILTIN(name, parameters, emitter, flags) SymValue emitter(Emitter &sema, BuiltinCall &call);
#include "Frontend/Syntax/Builtins.def"
SymValue emitAbs(Emitter &sema, BuiltinCall &call);
SymValue emitCdiv(Emitter &sema, BuiltinCall &call);
SymValue emitLen(Emitter &sema, BuiltinCall &call);
SymValue emitPythonMax(Emitter &sema, BuiltinCall &call);
SymValue emitPythonMin(Emitter &sema, BuiltinCall &call);

} // namespace tile::frontend
