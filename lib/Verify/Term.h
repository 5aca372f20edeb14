// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials over symbols, and formulas over polynomials: the terms in which the verifier reasons.
//
//   pid * 128 + e0 - N  <  0        Formula::less(pid * 128 + e0, N)
//
// A symbol represents an unknown integer: a parameter, a program id, an element's index, a quotient, a loaded value. It
// has bounds, and facts that define it. A fact never restricts other symbols: for any values of the other symbols,
// there is a value of this symbol that satisfies the fact. So the facts of any symbol may be assumed everywhere.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tile::verify {

using Wide = __int128;
using Symbol = unsigned;

/// Bounds are clamped to this magnitude, so the product of two bounds fits into `Wide`. A bound of this magnitude means
/// that there is none.
inline constexpr Wide unbounded = Wide(1) << 62;

std::string toString(Wide value);

class Poly {
public:
  using Monomial = std::vector<Symbol>; ///< ascending, repeated for powers; empty for the constant term

  Poly(Wide constant = 0);
  static Poly symbol(Symbol symbol);
  static Poly product(Wide coefficient, Monomial monomial);

  Poly operator+(const Poly &other) const;
  Poly operator-(const Poly &other) const { return *this + other * Poly(-1); }
  Poly operator*(const Poly &other) const;
  bool operator==(const Poly &) const = default;
  auto operator<=>(const Poly &) const = default;

  const std::map<Monomial, Wide> &getTerms() const { return terms; }
  std::optional<Wide> getConstant() const;
  /// Returns the symbol, if the polynomial consists of a single symbol.
  std::optional<Symbol> getSymbol() const;
  bool isLinear() const;
  /// Returns true if a coefficient is so large that arithmetic might overflow `Wide`.
  bool isHuge() const;
  void addTo(std::set<Symbol> &symbols) const;

private:
  std::map<Monomial, Wide> terms; ///< terms without zero coefficients
};

class Formula {
public:
  enum class Kind { True, False, And, Or, Not, NonNegative, Zero, Flag };

  Formula(bool value = true);
  static Formula flag(Symbol symbol); ///< a symbol for an unknown truth value
  static Formula nonNegative(Poly poly);
  static Formula equal(const Poly &left, const Poly &right);
  static Formula lessEqual(const Poly &left, const Poly &right) { return nonNegative(right - left); }
  static Formula less(const Poly &left, const Poly &right) { return nonNegative(right - left - Poly(1)); }
  Formula operator&&(const Formula &other) const;
  Formula operator||(const Formula &other) const;
  Formula operator!() const;
  Formula implies(const Formula &other) const { return !*this || other; }

  Kind kind() const { return node->kind; }
  const Poly &poly() const { return node->poly; }
  Symbol symbol() const { return node->symbol; }
  const std::vector<Formula> &operands() const { return node->operands; }
  void addTo(std::set<Symbol> &symbols) const;

private:
  struct Node {
    Kind kind = Kind::True;
    Poly poly;
    Symbol symbol = 0;
    std::vector<Formula> operands;
  };
  explicit Formula(Node node) : node(std::make_shared<const Node>(std::move(node))) {}

  std::shared_ptr<const Node> node;
};

struct Interval {
  Wide low, high;
};

enum class SymbolKind {
  Parameter,
  Sms, ///< the number of multiprocessors
  Program,
  Programs,
  Element,
  Iteration,
  Loaded,
  Opaque, ///< a value that the verifier does not model; the text describes it
  Derived ///< defined by its facts
};

struct SymbolInfo {
  SymbolKind kind = SymbolKind::Derived;
  std::string text; ///< for reports: a name, or a description of an unmodelled value
  Interval range = {0, 0};
  unsigned index = 0;  ///< parameter, grid axis or dimension
  bool isFlag = false; ///< the symbol is a truth value
  std::optional<mlir::Location> location = {};
  std::vector<Formula> facts = {};
};

/// How a derived symbol is computed from others.
struct Definition {
  enum class Kind { Quotient, Remainder, Choice, Smaller, Larger } kind;
  Poly left, right;               ///< the operands; of a choice, the value if the condition holds and if not
  Formula condition = {};         ///< of a choice
  std::optional<Poly> other = {}; ///< of a quotient, the remainder; of a remainder, the quotient
  bool isFloor = true;            ///< of a quotient: rounded down, otherwise towards zero
};

class Symbols {
public:
  Symbol add(SymbolInfo info);
  /// Returns null for symbols that are not derived from others by arithmetic.
  const Definition *definitionOf(Symbol symbol) const {
    auto found = definitions.find(symbol);
    return found == definitions.end() ? nullptr : &found->second;
  }
  const SymbolInfo &operator[](Symbol symbol) const { return infos[symbol]; }
  SymbolInfo &at(Symbol symbol) { return infos[symbol]; }
  size_t size() const { return infos.size(); }

  Interval boundsOf(const Poly &poly) const;

  /// Returns a quotient and a remainder for a divisor that is not zero. The quotient is rounded down if `isFloor` is
  /// true, and otherwise towards zero. The same operands give the same symbols.
  std::pair<Poly, Poly> divide(const Poly &value, const Poly &divisor, bool isFloor);
  /// Returns a value that is `yes` if the condition holds, and otherwise `no`.
  Poly choose(const Formula &condition, const Poly &yes, const Poly &no);
  Poly smaller(const Poly &left, const Poly &right) { return extreme(left, right, /*isLarger=*/false); }
  Poly larger(const Poly &left, const Poly &right) { return extreme(left, right, /*isLarger=*/true); }

  /// If true, quotients by sizes, which may be zero, are assumed not to be negative. This yields more lemmas, which
  /// take time.
  bool areQuotientsNatural = false;

private:
  Poly extreme(const Poly &left, const Poly &right, bool isLarger);
  Interval boundsOf(const Poly::Monomial &monomial) const;

  std::vector<SymbolInfo> infos;
  std::map<Symbol, Definition> definitions;
  std::map<std::tuple<Poly, Poly, bool>, std::pair<Poly, Poly>> quotients;
  std::map<std::tuple<Poly, Poly, bool>, Poly> extremes;
};

} // namespace tile::verify
