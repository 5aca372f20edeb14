// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large must a buffer be that has no `#: buffer` line? The largest offset of an access in terms of parameters,
// numbers of programs and loaded values, which follows from the conditions under which it is executed:
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
  /// Values that are loaded from memory and may not be negative, with their names in texts: "v", or "v1", "v2".
  std::map<Symbol, std::string> loaded;
  std::vector<Poly> positive; ///< divisors, which must be at least 1
  bool isNatural = false;     ///< the offset is not negative
  std::optional<Poly> lowest; ///< otherwise a lower bound of the offset, unless it is constant or unknown
};

/// Bounds the offset of an access for which `known` holds. Returns nothing if it depends on values that are not
/// followed.
std::optional<RequiredSize> findRequiredSize(const Poly &offset, llvm::ArrayRef<Formula> known, Symbols &symbols);

/// Returns true if a value depends on parameters, numbers of programs and loaded values only.
bool isFixed(const Poly &poly, const Symbols &symbols);

/// Returns names for the loaded values among these symbols and those of which they are defined: "v", or "v1", "v2".
std::map<Symbol, std::string> nameLoaded(const std::set<Symbol> &used, const Symbols &symbols);

/// Returns "v1 >= 0 is the value loaded at line 3, v2 >= 0 is the value loaded at line 7".
std::string describeLoaded(const std::map<Symbol, std::string> &loaded, const Symbols &symbols);

/// Writes a polynomial over parameters and numbers of programs; `names` has names of other symbols.
std::string toText(const Poly &poly, const Symbols &symbols, const std::map<Symbol, std::string> &names);

/// Writes a sum of products, (M - 1) * stride + N, instead of M * stride - stride + N.
std::string toSizeText(const Poly &size, const Symbols &symbols, const std::map<Symbol, std::string> &names);

} // namespace tile::verify
