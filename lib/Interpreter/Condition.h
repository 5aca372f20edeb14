// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions of breakpoints: comparisons joined by "and".
//
//   pid==(1,0)     the program, by as many coordinates as are given; pid==1 is pid==(1)
//   line==12       before this line
//   k>=3           a scalar variable of the innermost function
#pragma once

#include "Interpreter/DebugInfo.h"

namespace tile::interp {

class Condition {
public:
  /// Nothing if the text is not a condition.
  static std::optional<Condition> parse(llvm::StringRef text);

  /// Before `op`, or after it. Nothing where a variable has no value: in a helper, it is as it was at the call.
  std::optional<bool> holds(const Machine &machine, const DebugInfo &info, mlir::Operation *op, const StackFrame &frame,
                            bool behind = false) const;
  /// Why it can never hold: a line without code, or a name that no scalar has. Empty if it may.
  std::string findMistake(const DebugInfo &info) const;
  /// Whether it says where to stop, so that each arrival counts.
  bool namesLine() const;
  const std::string &toString() const { return text; }

private:
  struct Term {
    std::string name; // "pid", "line", or a variable's
    std::string comparison;
    llvm::SmallVector<double, 3> numbers; // one, but for pid
  };
  static std::optional<Term> parseTerm(llvm::StringRef text);

  std::string text;
  std::vector<Term> terms;
};

} // namespace tile::interp
