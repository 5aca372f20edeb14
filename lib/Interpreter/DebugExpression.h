// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions over variables that a debugger evaluates in double precision (ExpressionTree.h has the grammar).
//
// Shapes broadcast as in NumPy. Conditions are 0 and 1. sum, min, max and mean reduce all elements; abs is
// element-wise. Division is exact, // and % round down. x[2, :] selects by integers; "x == (1, 0)" compares the first
// two elements of x.
#pragma once

#include "Directives/ExpressionTree.h"

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
llvm::Expected<ValueArray> evaluateExpression(const directives::ExpressionTree &tree, LookupVariable lookup);
llvm::Expected<ValueArray> evaluateExpression(llvm::StringRef text, LookupVariable lookup);

/// Returns the error for a function that expressions do not have; empty if they have it.
std::string explainUnknownFunction(llvm::StringRef name);

} // namespace tile::interp
