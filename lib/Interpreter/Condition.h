// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breakpoint conditions: expressions of scalars (DebugExpression.h).
//
//   pid==(1,0)            the program, by as many coordinates as are given; pid==1 is pid==(1,)
//   line==12              before this line
//   k>=3 or not done      scalar variables of the innermost function
#pragma once

#include "Interpreter/DebugInfo.h"

namespace tile::interp {

class Condition {
public:
  static llvm::Expected<Condition> parse(llvm::StringRef text);

  /// Evaluates the condition before `op` or, with `isAfter`, after it. Returns nullopt if a variable has no value, such
  /// as the kernel's variables while a helper runs. The caller then keeps the previous state of the condition.
  std::optional<bool> holds(const Machine &machine, const DebugInfo &info, mlir::Operation *op, const StackFrame &frame,
                            bool isAfter = false) const;
  /// Explains why the condition can never hold: a line without code, or a name that no scalar has. Empty if it may
  /// hold.
  std::string findMistake(const DebugInfo &info) const;
  /// Returns true if the condition contains a line number, so that it stops each time the line is reached.
  bool namesLine() const;
  const std::string &toString() const { return text; }

private:
  std::string text;
  directives::ExpressionTree tree;
};

} // namespace tile::interp
