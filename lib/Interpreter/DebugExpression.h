// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions over variables that a debugger evaluates in double precision:
//
//   or = and {'or' and}   and = not {'and' not}   not = 'not' not | sum [('<'|'<='|'>'|'>='|'=='|'!=') sum]
//   sum = term {('+'|'-') term}   term = unary {('*'|'/'|'//'|'%') unary}   unary = '-' unary | primary
//   primary = (NUMBER | NAME | FUNCTION '(' or ')' | '(' or ')') {'[' (INTEGER | ':') {',' (INTEGER | ':')} ']'}
//
// Shapes broadcast as in NumPy. Conditions are 0 and 1. sum, min, max and mean reduce all elements; abs is
// element-wise. Division is exact, // and % round down.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <vector>

namespace tile::interp {

/// Elements in row-major order; the shape of a scalar is empty.
struct ValueArray {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> values;
};

/// Returns the value of a name; nullopt if it has no value or is not numeric.
using LookupVariable = llvm::function_ref<std::optional<ValueArray>(llvm::StringRef name)>;

/// Evaluates an expression. Fails on syntax errors, unknown names, incompatible shapes and indices out of bounds.
llvm::Expected<ValueArray> evaluateExpression(llvm::StringRef text, LookupVariable lookup);

} // namespace tile::interp
