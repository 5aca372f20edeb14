// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds how large a buffer without a `#: buffer` line must be, from the largest offset of an access. The size is
// expressed in terms of parameters, numbers of programs and loaded values. It follows from the conditions under which
// the access is executed:
//
//   x + row * stride + column     row <= M - 1, column <= N - 1     (M - 1) * stride + N elements
//
// A condition `p - l >= 0` bounds the terms of the offset that are a multiple of `l`: a * l + remainder <= a * p +
// remainder.
#pragma once

#include "Verify/Term.h"

namespace tile::verify {

struct RequiredSize {
  Poly elements;
  std::string text; ///< of `elements`: "(M - 1) * stride + N"
  /// Loaded values that must not be negative, with the names that they have in texts: "v", or "v1", "v2".
  std::map<Symbol, std::string> loaded;
  std::vector<Poly> positive; ///< divisors, which must be at least 1
  bool isNatural = false;     ///< the offset is not negative
  std::optional<Poly> lowest; ///< otherwise a lower bound of the offset, unless it is constant or unknown
};

/// Bounds the offset of an access for which `known` holds. Returns nullopt if the offset depends on values for which no
/// bound is found.
std::optional<RequiredSize> findRequiredSize(const Poly &offset, llvm::ArrayRef<Formula> known, Symbols &symbols);

/// Returns true if a value depends only on parameters, numbers of programs and loaded values.
bool isFixed(const Poly &poly, const Symbols &symbols);

/// Returns names for the loaded values on which these symbols depend: "v", or "v1", "v2".
std::map<Symbol, std::string> nameLoaded(const std::set<Symbol> &used, const Symbols &symbols);

/// Returns "v1 >= 0 is the value loaded at line 3, v2 >= 0 is the value loaded at line 7".
std::string describeLoaded(const std::map<Symbol, std::string> &loaded, const Symbols &symbols);

/// Writes a polynomial over parameters and numbers of programs; `names` has names of other symbols.
std::string toText(const Poly &poly, const Symbols &symbols, const std::map<Symbol, std::string> &names);

/// Writes a sum of products, (M - 1) * stride + N, instead of M * stride - stride + N.
std::string toSizeText(const Poly &size, const Symbols &symbols, const std::map<Symbol, std::string> &names);

} // namespace tile::verify
