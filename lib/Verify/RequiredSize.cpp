// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/RequiredSize.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::verify {
namespace {

constexpr int deepest = 12;            // maximum depth of definitions that are followed
constexpr int maxSteps = 4000;         // maximum number of bounds that are computed for one offset
constexpr Wide largestCount = 1 << 24; // a larger bound is probably only that of a type

using Monomial = Poly::Monomial;
/// The terms of a polynomial, grouped by the product of their symbols that vary between programs, elements and
/// iterations. The values are the factors that do not vary.
using Cofactors = std::map<Monomial, Poly>;

/// Divides by a divisor with one term; returns nullopt if it does not divide each term.
std::optional<Poly> divideExactly(const Poly &poly, const Poly &divisor) {
  if (divisor.getTerms().size() != 1)
    return std::nullopt;
  const auto &[by, scale] = *divisor.getTerms().begin();
  Poly quotient;
  for (const auto &[monomial, coefficient] : poly.getTerms()) {
    if (coefficient % scale != 0 || !std::includes(monomial.begin(), monomial.end(), by.begin(), by.end()))
      return std::nullopt;
    Monomial left;
    std::set_difference(monomial.begin(), monomial.end(), by.begin(), by.end(), std::back_inserter(left));
    quotient = quotient + Poly::product(coefficient / scale, std::move(left));
  }
  return quotient;
}

bool isFixedSymbol(Symbol symbol, const Symbols &symbols) {
  switch (symbols[symbol].kind) {
  case SymbolKind::Parameter:
  case SymbolKind::Sms:
  case SymbolKind::Programs:
  case SymbolKind::Loaded:
    return true;
  default:
    break;
  }
  const Definition *definition = symbols.definitionOf(symbol);
  return definition && definition->kind != Definition::Kind::Choice && isFixed(definition->left, symbols) &&
         isFixed(definition->right, symbols);
}

class SizeFinder {
public:
  SizeFinder(Symbols &symbols) : symbols(symbols) {}

  using Facts = std::vector<Poly>; ///< polynomials that are not negative

  void addFacts(const Formula &formula, Facts &facts) const {
    switch (formula.kind()) {
    case Formula::Kind::And:
      for (const Formula &operand : formula.operands())
        addFacts(operand, facts);
      break;
    case Formula::Kind::NonNegative:
      facts.push_back(formula.poly());
      break;
    case Formula::Kind::Zero:
      facts.push_back(formula.poly());
      facts.push_back(Poly(0) - formula.poly());
      break;
    case Formula::Kind::Not:
      if (formula.operands().front().kind() == Formula::Kind::Or)
        for (const Formula &operand : formula.operands().front().operands())
          addFacts(!operand, facts);
      break;
    default:
      break;
    }
  }

  /// Returns an upper bound that does not vary.
  std::optional<Poly> maximize(Poly poly, const Facts &facts, int depth) {
    if (depth > deepest)
      return std::nullopt;
    poly = rejoin(takeRemainder(std::move(poly)));
    for (;;) {
      if (++steps > maxSteps || poly.isHuge())
        return std::nullopt;
      const Cofactors parts = split(poly);
      if (parts.empty() || (parts.size() == 1 && parts.begin()->first.empty()))
        return poly;
      std::optional<Poly> next = applyBestFact(poly, parts, facts);
      if (!next)
        next = applyBound(poly, parts, facts, depth);
      if (!next)
        return std::nullopt;
      poly = std::move(*next);
    }
  }

  std::optional<Poly> minimize(const Poly &poly, const Facts &facts, int depth) {
    std::optional<Poly> bound = maximize(Poly(0) - poly, facts, depth);
    return bound ? std::optional(Poly(0) - *bound) : std::nullopt;
  }

  /// Returns true if the value cannot be negative, assuming that loaded values are not negative.
  bool isNatural(const Poly &poly) {
    Wide sum = 0;
    std::set<Symbol> loaded;
    for (const auto &[monomial, coefficient] : poly.getTerms()) {
      const Interval bounds = boundsOf(monomial, loaded);
      const Wide limit = coefficient < 0 ? bounds.high : bounds.low;
      if (limit >= unbounded || limit <= -unbounded || coefficient >= unbounded || coefficient <= -unbounded)
        return false;
      sum += coefficient * limit;
    }
    if (sum < 0)
      return false;
    naturals.insert(loaded.begin(), loaded.end());
    return true;
  }

  bool isLoaded(Symbol symbol) const { return symbols[symbol].kind == SymbolKind::Loaded; }

  /// Removes (n - 1) * stride, which is not negative if n is positive, from a lower bound.
  Poly withPositiveFactors(Poly poly) {
    const Poly whole = poly;
    for (const auto &[monomial, coefficient] : whole.getTerms()) {
      if (coefficient >= 0 || monomial.empty() || !isNatural(Poly::product(1, monomial)))
        continue;
      for (const auto &[other, scale] : whole.getTerms()) {
        Monomial factor;
        std::set_difference(other.begin(), other.end(), monomial.begin(), monomial.end(), std::back_inserter(factor));
        if (scale != -coefficient || other.size() != monomial.size() + 1 || factor.size() != 1 ||
            symbols[factor.front()].kind != SymbolKind::Parameter)
          continue;
        needPositive(Poly::symbol(factor.front()));
        poly = poly - Poly::product(coefficient, monomial) - Poly::product(scale, other);
        break;
      }
    }
    return poly;
  }

  /// Returns true if large parameters make a lower bound non-negative; then callers can be required to pass such ones.
  bool isSatisfiable(const Poly &bound) {
    return !bound.getConstant() && llvm::all_of(bound.getTerms(), [&](const auto &term) {
      const bool isParameter = term.first.size() == 1 && symbols[term.first.front()].kind == SymbolKind::Parameter;
      return term.first.empty() || (term.second > 0 && (isParameter || isNatural(Poly::product(1, term.first))));
    });
  }

  /// Drops terms that subtract loaded values, which are assumed not to be negative.
  Poly withoutNegativeLoaded(const Poly &poly) {
    Poly result;
    for (const auto &[monomial, coefficient] : poly.getTerms()) {
      const Poly term = Poly::product(coefficient, monomial);
      if (coefficient < 0 &&
          llvm::any_of(monomial, [&](Symbol symbol) { return isLoaded(symbol); }) && isNatural(Poly(0) - term))
        continue;
      result = result + term;
    }
    return result;
  }

  /// Loaded values that were assumed not to be negative, and divisors that were assumed not to be zero.
  std::set<Symbol> naturals;
  std::vector<Poly> divisors;

private:
  Interval boundsOf(const Monomial &monomial, std::set<Symbol> &loaded) const {
    Interval product = {1, 1};
    for (Symbol symbol : monomial) {
      Interval range = symbols[symbol].range;
      if (isLoaded(symbol) && range.low < 0) {
        loaded.insert(symbol);
        range.low = 0;
      }
      const Wide corners[] = {product.low * range.low, product.low * range.high, product.high * range.low,
                              product.high * range.high};
      product = {std::clamp(*std::min_element(corners, corners + 4), -unbounded, unbounded),
                 std::clamp(*std::max_element(corners, corners + 4), -unbounded, unbounded)};
    }
    return product;
  }

  Cofactors split(const Poly &poly) const {
    Cofactors parts;
    for (const auto &[monomial, coefficient] : poly.getTerms()) {
      Monomial varying, fixed;
      for (Symbol symbol : monomial)
        (isFixedSymbol(symbol, symbols) ? fixed : varying).push_back(symbol);
      Poly &part = parts[varying];
      part = part + Poly::product(coefficient, fixed);
    }
    std::erase_if(parts, [](const auto &part) { return part.second == Poly(0); });
    return parts;
  }

  static bool isSmall(Wide value) { return -largestCount <= value && value <= largestCount; }
  bool hasSign(const Poly &poly) { return isNatural(poly) || isNatural(Poly(0) - poly); }

  /// Replaces a * (value - D * q) by a * r, for the quotient q and the remainder r of value and D.
  Poly takeRemainder(Poly poly) {
    for (bool hasChanged = true; hasChanged && ++steps < maxSteps;) {
      hasChanged = false;
      const Cofactors parts = split(poly);
      for (const auto &[monomial, factor] : parts) {
        const Definition *definition = monomial.size() == 1 ? symbols.definitionOf(monomial.front()) : nullptr;
        if (!definition || definition->kind != Definition::Kind::Quotient || !isFixed(definition->right, symbols) ||
            hasSign(factor))
          continue;
        const Cofactors ofValue = split(definition->left);
        auto first = llvm::find_if(ofValue, [](const auto &part) { return !part.first.empty(); });
        auto term = first == ofValue.end() ? parts.end() : parts.find(first->first);
        if (term == parts.end())
          continue;
        std::optional<Poly> by = divideExactly(term->second, first->second);
        if (!by || !hasSign(factor + *by * definition->right))
          continue;
        needPositive(definition->right);
        poly =
            poly + *by * (definition->right * Poly::symbol(monomial.front()) + *definition->other - definition->left);
        hasChanged = true;
        break;
      }
    }
    return poly;
  }

  /// Replaces a * (D * q + r) by a * value, for the quotient q and remainder r of value and D.
  Poly rejoin(Poly poly) {
    for (bool hasChanged = true; hasChanged && ++steps < maxSteps;) {
      hasChanged = false;
      const Cofactors parts = split(poly);
      for (const auto &[monomial, factor] : parts) {
        const Definition *definition = monomial.size() == 1 ? symbols.definitionOf(monomial.front()) : nullptr;
        if (!definition || definition->kind != Definition::Kind::Remainder)
          continue;
        const Poly whole = definition->right * *definition->other, remainder = Poly::symbol(monomial.front());
        const Cofactors other = split(whole * factor);
        if (other.size() != 1 || other.begin()->first.empty())
          continue;
        auto same = parts.find(other.begin()->first);
        if (same == parts.end() || same->second != other.begin()->second)
          continue;
        needPositive(definition->right);
        poly = poly + factor * (definition->left - whole - remainder);
        hasChanged = true;
        break;
      }
    }
    return poly;
  }

  /// Adds the multiple of a fact that leaves the fewest varying terms; nullopt if no multiple reduces their number.
  std::optional<Poly> applyBestFact(const Poly &poly, const Cofactors &parts, const Facts &facts) {
    std::optional<Poly> best;
    size_t fewest = varyingTerms(parts);
    for (const Poly &fact : facts) {
      const Cofactors ofFact = split(fact);
      for (const auto &[monomial, factor] : ofFact) {
        auto term = parts.find(monomial);
        if (monomial.empty() || term == parts.end())
          continue;
        std::optional<Poly> by = divideExactly(Poly(0) - term->second, factor);
        if (!by || !isNatural(*by))
          continue;
        Poly next = poly + *by * fact;
        const size_t left = varyingTerms(split(next));
        if (left >= fewest || next.isHuge())
          continue;
        fewest = left;
        best = std::move(next);
      }
    }
    return best;
  }

  static size_t varyingTerms(const Cofactors &parts) {
    return size_t(llvm::count_if(parts, [](const auto &part) { return !part.first.empty(); }));
  }

  /// Replaces a symbol of a term by its own bound.
  std::optional<Poly> applyBound(const Poly &poly, const Cofactors &parts, const Facts &facts, int depth) {
    for (const auto &[monomial, factor] : parts) {
      if (monomial.empty())
        continue;
      for (size_t at = 0; at < monomial.size(); ++at) {
        Monomial others = monomial;
        others.erase(others.begin() + long(at));
        const Poly multiple = factor * Poly::product(1, others);
        const bool isUpper = isNatural(multiple);
        if (!isUpper && !isNatural(Poly(0) - multiple))
          continue;
        const Symbol symbol = monomial[at];
        if (std::optional<Poly> limit = bound(symbol, isUpper, facts, depth))
          return poly + multiple * (*limit - Poly::symbol(symbol));
      }
    }
    return std::nullopt;
  }

  std::optional<Poly> bound(Symbol symbol, bool isUpper, const Facts &facts, int depth) {
    const Poly itself = Poly::symbol(symbol);
    Facts own;
    if (symbols[symbol].kind == SymbolKind::Program)
      for (const Formula &fact : symbols[symbol].facts)
        addFacts(fact, own);
    for (const Poly &fact : llvm::concat<const Poly>(facts, own)) {
      const Cofactors ofFact = split(fact);
      auto term = ofFact.find({symbol});
      if (term != ofFact.end() && varyingTerms(ofFact) == 1 && term->second == Poly(isUpper ? -1 : 1))
        return isUpper ? fact + itself : itself - fact;
    }
    if (const Definition *definition = symbols.definitionOf(symbol)) {
      const Definition copy = *definition; // further definitions move it
      if (std::optional<Poly> limit = boundDefined(copy, isUpper, facts, depth + 1))
        return limit;
    }
    const Interval &range = symbols[symbol].range;
    if (const Wide limit = isUpper ? range.high : range.low; isSmall(limit))
      return Poly(limit);
    // Use a condition that compares the symbol with other varying values, if these have bounds.
    for (size_t at = 0; at < facts.size(); ++at) {
      const Cofactors ofFact = split(facts[at]);
      auto term = ofFact.find({symbol});
      if (term == ofFact.end() || term->second != Poly(isUpper ? -1 : 1))
        continue;
      Facts others = facts;
      others.erase(others.begin() + long(at));
      const Poly limit = isUpper ? facts[at] + itself : itself - facts[at];
      if (std::optional<Poly> fixed = isUpper ? maximize(limit, others, depth + 1) : minimize(limit, others, depth + 1))
        return fixed;
    }
    return std::nullopt;
  }

  std::optional<Poly> boundDefined(const Definition &definition, bool isUpper, const Facts &facts, int depth) {
    auto boundOf = [&](const Poly &poly, const Facts &under) {
      return isUpper ? maximize(poly, under, depth) : minimize(poly, under, depth);
    };
    switch (definition.kind) {
    case Definition::Kind::Quotient:
      return boundQuotient(definition, isUpper, facts, depth);
    case Definition::Kind::Remainder: {
      if (!isUpper && (definition.isFloor || isNatural(definition.left))) {
        needPositive(definition.right);
        return Poly(0);
      }
      std::optional<Poly> divisor = maximize(definition.right, facts, depth);
      if (divisor) {
        needPositive(definition.right);
        return isUpper ? *divisor - Poly(1) : Poly(1) - *divisor;
      }
      return isUpper && isNatural(definition.left) ? maximize(definition.left, facts, depth) : std::nullopt;
    }
    case Definition::Kind::Choice: {
      Facts ifTrue = facts, ifFalse = facts;
      addFacts(definition.condition, ifTrue);
      addFacts(!definition.condition, ifFalse);
      return combine(boundOf(definition.left, ifTrue), boundOf(definition.right, ifFalse), isUpper);
    }
    case Definition::Kind::Smaller:
    case Definition::Kind::Larger: {
      const bool isSmaller = definition.kind == Definition::Kind::Smaller;
      std::optional<Poly> left = boundOf(definition.left, facts), right = boundOf(definition.right, facts);
      const bool isAny = isSmaller == isUpper; // each operand is a bound
      if (isAny && (!left || !right))
        return left ? left : right;
      // The limit of a type is weaker than any other bound.
      for (const std::optional<Poly> *one : {&left, &right})
        if (isAny && (*one)->getConstant() && !isSmall(*(*one)->getConstant()))
          return one == &left ? right : left;
      return combine(left, right, !isSmaller);
    }
    }
    return std::nullopt;
  }

  std::optional<Poly> boundQuotient(const Definition &definition, bool isUpper, const Facts &facts, int depth) {
    const bool isWhole = isNatural(definition.left);
    needPositive(definition.right);
    if (!isUpper && isWhole)
      return Poly(0);
    std::optional<Poly> value =
        isUpper ? maximize(definition.left, facts, depth) : minimize(definition.left, facts, depth);
    if (!value)
      return std::nullopt;
    if (isUpper && !definition.isFloor && !isNatural(*value))
      value = symbols.larger(*value, 0); // rounded towards zero
    if (isFixed(definition.right, symbols))
      return symbols.divide(*value, definition.right, /*isFloor=*/true).first;
    return isUpper ? symbols.larger(*value, 0) : symbols.smaller(*value, 0);
  }

  /// Returns the larger or the smaller value.
  std::optional<Poly> combine(const std::optional<Poly> &left, const std::optional<Poly> &right, bool isLarger) {
    if (!left || !right)
      return std::nullopt;
    if (isNatural(*left - *right))
      return isLarger ? left : right;
    if (isNatural(*right - *left))
      return isLarger ? right : left;
    return isLarger ? symbols.larger(*left, *right) : symbols.smaller(*left, *right);
  }

  void needPositive(const Poly &divisor) {
    if (symbols.boundsOf(divisor).low < 1 && isFixed(divisor, symbols) && !llvm::is_contained(divisors, divisor))
      divisors.push_back(divisor);
  }

  Symbols &symbols;
  int steps = 0;
};

/// Writes max(a - 1, b) + 1 as max(a, b + 1).
Poly addToOperands(const Poly &size, Symbols &symbols) {
  Poly constant;
  std::optional<Symbol> found;
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    if (monomial.empty())
      constant = Poly(coefficient);
    const Definition *definition =
        monomial.size() == 1 && coefficient == 1 ? symbols.definitionOf(monomial.front()) : nullptr;
    if (definition && (definition->kind == Definition::Kind::Smaller || definition->kind == Definition::Kind::Larger))
      found = monomial.front();
  }
  if (!found || constant == Poly(0))
    return size;
  const Definition definition = *symbols.definitionOf(*found);
  const Poly left = definition.left + constant, right = definition.right + constant;
  return size - constant - Poly::symbol(*found) +
         (definition.kind == Definition::Kind::Smaller ? symbols.smaller(left, right) : symbols.larger(left, right));
}

} // namespace

bool isFixed(const Poly &poly, const Symbols &symbols) {
  std::set<Symbol> used;
  poly.addTo(used);
  return llvm::all_of(used, [&](Symbol symbol) { return isFixedSymbol(symbol, symbols); });
}

std::optional<RequiredSize> findRequiredSize(const Poly &offset, llvm::ArrayRef<Formula> known, Symbols &symbols) {
  SizeFinder finder(symbols);
  SizeFinder::Facts facts;
  for (const Formula &formula : known)
    finder.addFacts(formula, facts);
  std::optional<Poly> last = finder.maximize(offset, facts, 0);
  if (!last)
    return std::nullopt;
  RequiredSize size;
  size.elements = addToOperands(finder.withoutNegativeLoaded(*last) + Poly(1), symbols);
  std::optional<Poly> first = finder.minimize(offset, facts, 0);
  if (first)
    first = finder.withPositiveFactors(*first);
  size.isNatural = first && finder.isNatural(*first);
  if (first && !size.isNatural && finder.isSatisfiable(*first))
    size.lowest = first;
  size.positive = finder.divisors;
  std::set<Symbol> used;
  size.elements.addTo(used);
  for (const Poly &divisor : size.positive)
    divisor.addTo(used);
  if (size.lowest)
    size.lowest->addTo(used);
  used.insert(finder.naturals.begin(), finder.naturals.end());
  size.loaded = nameLoaded(used, symbols);
  size.text = toSizeText(size.elements, symbols, size.loaded);
  return size;
}

} // namespace tile::verify
