// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the integer expressions of a manifest (grammar: Runtime/Expression.h) as polynomials and formulas.
#pragma once

#include "Verify/Term.h"

#include "mlir/Support/LLVM.h"

#include <functional>

namespace tile::verify {

/// Returns the value of a parameter or constant; nullopt for other names.
using NameLookup = std::function<std::optional<Poly>(llvm::StringRef)>;

/// Returns nullopt if the expression is not supported.
std::optional<Poly> readInteger(llvm::StringRef text, Symbols &symbols, const NameLookup &lookup);
std::optional<Formula> readCondition(llvm::StringRef text, Symbols &symbols, const NameLookup &lookup);

} // namespace tile::verify
