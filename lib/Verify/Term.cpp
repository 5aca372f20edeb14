// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Term.h"

#include <algorithm>
#include <iterator>

namespace tile::verify {

std::string toString(Wide value) {
  if (value == 0)
    return "0";
  const bool isNegative = value < 0;
  std::string text;
  for (; value != 0; value /= 10)
    text += char('0' + int(value < 0 ? -(value % 10) : value % 10));
  if (isNegative)
    text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

Poly::Poly(Wide constant) {
  if (constant != 0)
    terms[{}] = constant;
}

Poly Poly::symbol(Symbol symbol) {
  return product(1, {symbol});
}

Poly Poly::product(Wide coefficient, Monomial monomial) {
  Poly poly;
  std::sort(monomial.begin(), monomial.end());
  if (coefficient != 0)
    poly.terms[std::move(monomial)] = coefficient;
  return poly;
}

Poly Poly::operator+(const Poly &other) const {
  Poly sum = *this;
  for (const auto &[monomial, coefficient] : other.terms) {
    Wide &entry = sum.terms[monomial];
    entry += coefficient;
    if (entry == 0)
      sum.terms.erase(monomial);
  }
  return sum;
}

Poly Poly::operator*(const Poly &other) const {
  Poly result;
  for (const auto &[left, leftCoefficient] : terms)
    for (const auto &[right, rightCoefficient] : other.terms) {
      Monomial factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      result = result + product(leftCoefficient * rightCoefficient, std::move(factors));
    }
  return result;
}

std::optional<Wide> Poly::getConstant() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

std::optional<Symbol> Poly::getSymbol() const {
  if (terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->second != 1)
    return std::nullopt;
  return terms.begin()->first.front();
}

bool Poly::isLinear() const {
  return std::all_of(terms.begin(), terms.end(), [](const auto &term) { return term.first.size() <= 1; });
}

bool Poly::isHuge() const {
  return std::any_of(terms.begin(), terms.end(),
                     [](const auto &term) { return term.second > unbounded || term.second < -unbounded; });
}

void Poly::addTo(std::set<Symbol> &symbols) const {
  for (const auto &[monomial, coefficient] : terms)
    symbols.insert(monomial.begin(), monomial.end());
}

Formula::Formula(bool value) : Formula(Node{value ? Kind::True : Kind::False, {}, 0, {}}) {}

Formula Formula::flag(Symbol symbol) {
  return Formula(Node{Kind::Flag, {}, symbol, {}});
}

Formula Formula::nonNegative(Poly poly) {
  if (std::optional<Wide> constant = poly.getConstant())
    return Formula(*constant >= 0);
  return Formula(Node{Kind::NonNegative, std::move(poly), 0, {}});
}

Formula Formula::equal(const Poly &left, const Poly &right) {
  Poly difference = left - right;
  if (std::optional<Wide> constant = difference.getConstant())
    return Formula(*constant == 0);
  return Formula(Node{Kind::Zero, std::move(difference), 0, {}});
}

Formula Formula::operator&&(const Formula &other) const {
  if (kind() == Kind::False || other.kind() == Kind::True)
    return *this;
  if (kind() == Kind::True || other.kind() == Kind::False)
    return other;
  return Formula(Node{Kind::And, {}, 0, {*this, other}});
}

Formula Formula::operator||(const Formula &other) const {
  if (kind() == Kind::True || other.kind() == Kind::False)
    return *this;
  if (kind() == Kind::False || other.kind() == Kind::True)
    return other;
  return Formula(Node{Kind::Or, {}, 0, {*this, other}});
}

Formula Formula::operator!() const {
  switch (kind()) {
  case Kind::True:
    return Formula(false);
  case Kind::False:
    return Formula(true);
  case Kind::Not:
    return operands().front();
  case Kind::NonNegative:
    return nonNegative(Poly(-1) - poly());
  default:
    return Formula(Node{Kind::Not, {}, 0, {*this}});
  }
}

void Formula::addTo(std::set<Symbol> &symbols) const {
  if (kind() == Kind::Flag)
    symbols.insert(symbol());
  poly().addTo(symbols);
  for (const Formula &operand : operands())
    operand.addTo(symbols);
}

Symbol Symbols::add(SymbolInfo info) {
  info.range.low = std::max(info.range.low, -unbounded);
  info.range.high = std::min(info.range.high, unbounded);
  infos.push_back(std::move(info));
  return Symbol(infos.size() - 1);
}

static Wide clamp(Wide value) {
  return std::clamp(value, -unbounded, unbounded);
}

Interval Symbols::boundsOf(const Poly::Monomial &monomial) const {
  Interval bounds = {1, 1};
  for (Symbol symbol : monomial) {
    const Interval &other = infos[symbol].range;
    const Wide corners[] = {bounds.low * other.low, bounds.low * other.high, bounds.high * other.low,
                            bounds.high * other.high};
    bounds = {clamp(*std::min_element(corners, corners + 4)), clamp(*std::max_element(corners, corners + 4))};
  }
  return bounds;
}

Interval Symbols::boundsOf(const Poly &poly) const {
  Interval sum = {0, 0};
  if (poly.isHuge())
    return {-unbounded, unbounded};
  for (const auto &[monomial, coefficient] : poly.getTerms()) {
    Interval bounds = boundsOf(monomial);
    Wide low = clamp(bounds.low * coefficient), high = clamp(bounds.high * coefficient);
    // A bound that was clamped remains unbounded, whatever is added to it.
    const Wide least = std::min(low, high), most = std::max(low, high);
    sum.low = sum.low == -unbounded || least == -unbounded ? -unbounded : clamp(sum.low + least);
    sum.high = sum.high == unbounded || most == unbounded ? unbounded : clamp(sum.high + most);
  }
  return sum;
}

std::pair<Poly, Poly> Symbols::divide(const Poly &value, const Poly &divisor, bool isFloor) {
  const Interval ofValue = boundsOf(value), ofDivisor = boundsOf(divisor);
  const bool isPositive = ofDivisor.low >= 1;
  // For values that are not negative, both roundings are the same; division by zero has no result.
  const bool isNatural = ofValue.low >= 0 && (isPositive || (areQuotientsNatural && ofDivisor.low >= 0));
  isFloor |= isNatural;
  // (128 * a + b) / 128 is a if 0 <= b < 128.
  if (std::optional<Wide> constant = divisor.getConstant(); constant && *constant > 0 && isFloor) {
    Poly whole, remainder;
    for (const auto &[monomial, coefficient] : value.getTerms()) {
      const bool divides = coefficient % *constant == 0;
      (divides ? whole : remainder) =
          (divides ? whole : remainder) + Poly::product(divides ? coefficient / *constant : coefficient, monomial);
    }
    if (Interval left = boundsOf(remainder); left.low >= 0 && left.high < *constant)
      return {whole, remainder};
    if (std::optional<Wide> known = value.getConstant(); known && *known >= 0)
      return {*known / *constant, *known % *constant};
  }
  auto [entry, isNew] = quotients.try_emplace({value, divisor, isFloor});
  if (!isNew)
    return entry->second;
  SymbolInfo quotientInfo, remainderInfo;
  quotientInfo.text = "a quotient";
  remainderInfo.text = "a remainder";
  const Wide largest = std::max(ofValue.high, -ofValue.low), widest = std::max(ofDivisor.high, -ofDivisor.low);
  quotientInfo.range = {isNatural ? 0 : -largest - 1,
                        isPositive && ofValue.high >= 0 ? ofValue.high / ofDivisor.low : largest + 1};
  remainderInfo.range = {isNatural || (isFloor && isPositive) ? 0 : -widest, std::max<Wide>(widest - 1, 0)};
  const Poly quotient = Poly::symbol(add(quotientInfo)), remainder = Poly::symbol(add(remainderInfo));
  const Formula sum = Formula::equal(value, divisor * quotient + remainder);
  const Formula positive = Formula::less(0, divisor), negative = Formula::less(divisor, 0);
  const Formula upward = Formula::lessEqual(0, remainder), downward = Formula::lessEqual(remainder, 0);
  const Formula whole = Formula::lessEqual(0, value);
  std::vector<Formula> facts = {(positive || negative).implies(sum)};
  const Formula belowDivisor = Formula::less(remainder, divisor), aboveDivisor = Formula::less(divisor, remainder);
  if (isFloor) {
    facts.push_back(positive.implies(upward && belowDivisor));
    facts.push_back(negative.implies(downward && aboveDivisor));
  } else {
    facts.push_back((positive && whole).implies(upward && belowDivisor && Formula::lessEqual(0, quotient)));
    facts.push_back((positive && !whole)
                        .implies(downward && Formula::less(0, remainder + divisor) && Formula::lessEqual(quotient, 0)));
    facts.push_back((negative && whole).implies(upward && Formula::less(0, Poly(0) - divisor - remainder)));
    facts.push_back((negative && !whole).implies(downward && aboveDivisor));
  }
  at(*remainder.getSymbol()).facts = facts;
  at(*quotient.getSymbol()).facts = facts;
  definitions[*quotient.getSymbol()] = {Definition::Kind::Quotient, value, divisor, {}, remainder, isFloor};
  definitions[*remainder.getSymbol()] = {Definition::Kind::Remainder, value, divisor, {}, quotient, isFloor};
  return quotients[{value, divisor, isFloor}] = {quotient, remainder};
}

Poly Symbols::choose(const Formula &condition, const Poly &yes, const Poly &no) {
  if (condition.kind() == Formula::Kind::True || yes == no)
    return yes;
  if (condition.kind() == Formula::Kind::False)
    return no;
  const Interval ofYes = boundsOf(yes), ofNo = boundsOf(no);
  SymbolInfo info;
  info.text = "a choice";
  info.range = {std::min(ofYes.low, ofNo.low), std::max(ofYes.high, ofNo.high)};
  const Poly result = Poly::symbol(add(info));
  at(*result.getSymbol()).facts = {condition.implies(Formula::equal(result, yes)),
                                   (!condition).implies(Formula::equal(result, no))};
  definitions[*result.getSymbol()] = {Definition::Kind::Choice, yes, no, condition};
  return result;
}

Poly Symbols::extreme(const Poly &left, const Poly &right, bool isLarger) {
  const Interval ofLeft = boundsOf(left), ofRight = boundsOf(right);
  const Formula isLeft = isLarger ? Formula::lessEqual(right, left) : Formula::lessEqual(left, right);
  const bool isAlwaysLeft = isLarger ? ofLeft.low >= ofRight.high : ofLeft.high <= ofRight.low,
             isAlwaysRight = isLarger ? ofRight.low >= ofLeft.high : ofRight.high <= ofLeft.low;
  if (isAlwaysLeft || isLeft.kind() == Formula::Kind::True)
    return left;
  if (isAlwaysRight || isLeft.kind() == Formula::Kind::False)
    return right;
  auto [entry, isNew] = extremes.try_emplace({left, right, isLarger});
  if (!isNew)
    return entry->second;
  const Poly result = choose(isLeft, left, right); // a new symbol, as the operands differ
  Interval &range = at(*result.getSymbol()).range;
  if (isLarger)
    range.low = std::max(ofLeft.low, ofRight.low);
  else
    range.high = std::min(ofLeft.high, ofRight.high);
  definitions[*result.getSymbol()] = {isLarger ? Definition::Kind::Larger : Definition::Kind::Smaller, left, right};
  return extremes[{left, right, isLarger}] = result;
}

} // namespace tile::verify
