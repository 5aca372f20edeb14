// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls builtins, helpers (emitted inline), types and classes, with arguments bound to parameters.

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

struct BuiltinCall;
struct BuiltinInfo;

class Calls : Part {
public:
  using Part::Part;
  bool evaluateArguments(const CallExpr &expr, std::vector<BoundArgument> &arguments);
  SymValue evaluateCall(const CallExpr &expr);
  SymValue callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range);
  SymValue callValue(const SymValue &callee, std::vector<BoundArgument> arguments, SourceRange range,
                     SourceRange calleeRange);
  SymValue callBuiltin(const BuiltinInfo &info, const std::vector<BoundArgument> &arguments, SourceRange range);
  bool bindParameters(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                      Environment &scope);
  /// Emits the body of a helper inline, with the arguments bound to its parameters. If 'self' is given, it receives the
  /// final value of the first parameter.
  SymValue callHelper(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                      SymValue *self = nullptr);
  /// Does the same for a function of the host program whose result is not known otherwise, and which the code may call.
  SymValue callFunction(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                        SymValue *self = nullptr);
  std::optional<bool> callCondition(const SymValue &condition, SymValue &item, SourceRange range);

private:
  bool unpackMapping(const SymValue &value, const StarredExpr &expr, std::vector<BoundArgument> &arguments);
  std::optional<SymValue> callDefinition(const SymValue &callee, std::vector<BoundArgument> &arguments,
                                         SourceRange range);
  SymValue callType(const SymValue &callee, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue unknownCall(const BuiltinCall &call);

  unsigned inlinedCalls = 0;
};

} // namespace tile::frontend
