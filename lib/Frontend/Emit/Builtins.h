// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the language. Each is one line of Builtins.def and one emitter in Emit*.cpp.

#pragma once

#include "Frontend/Sema/Sema.h"

namespace tile::frontend {

/// A call with its arguments bound to the parameters of the builtin. Accessors report what is wrong and then return
/// nothing (or an error value).
struct BuiltinCall {
  struct Argument {
    std::string_view name;
    SymValue value; // a "*name" parameter is a tuple
    SourceRange range;
    bool given = false;
  };

  Sema &sema;
  const BuiltinInfo &info;
  SourceRange range;
  std::vector<Argument> arguments;

  const SymValue &operator[](size_t index) const { return arguments[index].value; }
  SourceRange rangeOf(size_t index) const { return arguments[index].range; }
  bool isNone(size_t index) const { return arguments[index].value.isNoneValue(); }

  /// A number at run time; constants are converted.
  SymValue tensor(size_t index) const;
  /// A block of at least one dimension.
  SymValue block(size_t index) const;
  std::optional<int64_t> integer(size_t index) const;
  std::optional<bool> flag(size_t index) const;
  std::optional<std::string> text(size_t index) const;
  std::optional<DType> dtype(size_t index) const;
  /// A tuple (or one integer) of powers of two.
  std::optional<llvm::SmallVector<int64_t>> shape(size_t index) const;
  /// A dimension of a tensor of 'rank' dimensions; negative counts from the end.
  std::optional<int64_t> axis(size_t index, size_t rank) const;
  /// A tuple of 'rank' integers as scalars of a type.
  std::optional<std::vector<SymValue>> integers(size_t index, size_t rank, DType type) const;
  SymValue constantNeeded(size_t index) const;
};

enum BuiltinFlags : unsigned {
  Plain = 0,
  Method = 1, // may be called on a tensor or descriptor: x.name(...)
  Folds = 2,  // of constants it is a constant (ConstFunctions.cpp)
};

struct BuiltinInfo {
  std::string_view name;
  std::string_view parameters; // "x, axis=None, *rest"
  SymValue (*emit)(Sema &, BuiltinCall &);
  unsigned flags;
};

/// An integer known at compile time.
inline SymValue constant(Int128 value) {
  return SymValue::makeConstant(value);
}

/// Calls another builtin by position, as if it stood in place of this call.
SymValue callValues(BuiltinCall &call, std::string_view name, const std::vector<SymValue> &arguments);

const BuiltinInfo *findBuiltin(std::string_view name);
/// Names without the prefixes of Python's own functions.
std::vector<std::string> builtinNames();

struct BuiltinParameter {
  std::string name;
  bool isVarArgs = false;
  std::optional<SymValue> defaultValue;
};
std::vector<BuiltinParameter> parameters(const BuiltinInfo &info);

#define TILE_BUILTIN(name, parameters, emitter, flags) SymValue emitter(Sema &sema, BuiltinCall &call);
#include "Frontend/Syntax/Builtins.def"

} // namespace tile::frontend
