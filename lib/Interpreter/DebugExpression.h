// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that a debugger computes from variables, in double precision:
//
//   or = and {'or' and}   and = not {'and' not}   not = 'not' not | sum [('<'|'<='|'>'|'>='|'=='|'!=') sum]
//   sum = term {('+'|'-') term}   term = unary {('*'|'/'|'//'|'%') unary}   unary = '-' unary | primary
//   primary = (NUMBER | NAME | FUNCTION '(' or ')' | '(' or ')') {'[' (INTEGER | ':') {',' (INTEGER | ':')} ']'}
//
// Shapes are broadcast as NumPy broadcasts them. Conditions are 0 and 1. sum, min, max and mean are of all elements;
// abs is of each. Division is exact, // and % round down.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <vector>

namespace tile::interp {

/// Elements in row-major order; a scalar has no dimensions.
struct NumberArray {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> values;
};

/// What a name stands for; nothing if it has no value, or one that is no number.
using NumbersOfName = llvm::function_ref<std::optional<NumberArray>(llvm::StringRef name)>;

/// Fails with what is wrong: the text, a name, shapes that do not go together, an index that is outside.
llvm::Expected<NumberArray> evaluateExpression(llvm::StringRef text, NumbersOfName numbersOf);

} // namespace tile::interp
