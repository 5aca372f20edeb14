// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials: arithmetic on lists of terms. The lists are short, so terms are found by linear search.
#include "Analysis/Addresses/Polynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

using Term = Polynomial::Term;

/// The maximum size of a polynomial. Larger ones do not come from index arithmetic in a program's source, and could
/// grow without limit.
static constexpr size_t maxTerms = 64, maxFactors = 16;

/// Returns `factors` without the factors of `divisor`; nullopt if `factors` does not contain all of them.
static std::optional<SmallVector<Value, 2>> removeFactors(SmallVector<Value, 2> factors, ArrayRef<Value> divisor) {
  for (Value factor : divisor) {
    auto *found = llvm::find(factors, factor);
    if (found == factors.end())
      return std::nullopt;
    factors.erase(found);
  }
  return factors;
}

static bool haveSameFactors(const Term &lhs, const Term &rhs) {
  auto remainder = removeFactors(lhs.factors, rhs.factors);
  return remainder && remainder->empty();
}

Polynomial::Polynomial(int64_t constant) {
  add({constant, {}});
}

Polynomial::Polynomial(Value factor) {
  add({1, {factor}});
}

void Polynomial::add(Term term) {
  auto *found = llvm::find_if(terms, [&](const Term &other) { return haveSameFactors(term, other); });
  if (found == terms.end()) {
    exact &= terms.size() < maxTerms;
    if (term.coefficient != 0 && exact)
      terms.push_back(std::move(term));
    return;
  }
  exact &= !llvm::AddOverflow(found->coefficient, term.coefficient, found->coefficient);
  if (found->coefficient == 0)
    terms.erase(found);
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial result = *this;
  result.exact &= other.exact;
  for (const Term &term : other.terms)
    result.add(term);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial &other) const {
  return *this + other * Polynomial(-1);
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  result.exact = exact && other.exact;
  for (const Term &left : terms)
    for (const Term &right : other.terms) {
      Term product = left;
      result.exact &= !llvm::MulOverflow(left.coefficient, right.coefficient, product.coefficient);
      llvm::append_range(product.factors, right.factors);
      result.exact &= product.factors.size() <= maxFactors;
      if (!result.exact)
        return result;
      result.add(std::move(product));
    }
  return result;
}

bool Polynomial::operator==(const Polynomial &other) const {
  return (*this - other).isZero();
}

std::optional<int64_t> Polynomial::getConstant() const {
  if (!exact || terms.size() > 1 || (!terms.empty() && !terms.front().factors.empty()))
    return std::nullopt;
  return getConstantTerm();
}

int64_t Polynomial::getConstantTerm() const {
  for (const Term &term : terms)
    if (term.factors.empty())
      return term.coefficient;
  return 0;
}

Value Polynomial::getSingleFactor() const {
  bool single = exact && terms.size() == 1 && terms.front().coefficient == 1 && terms.front().factors.size() == 1;
  return single ? terms.front().factors.front() : Value();
}

std::pair<Polynomial, Polynomial> Polynomial::partition(function_ref<bool(Value)> predicate) const {
  std::pair<Polynomial, Polynomial> parts;
  parts.first.exact = parts.second.exact = exact;
  for (const Term &term : terms)
    (llvm::all_of(term.factors, predicate) ? parts.first : parts.second).add(term);
  return parts;
}

std::pair<Polynomial, Polynomial> Polynomial::divide(const Polynomial &divisor) const {
  std::pair<Polynomial, Polynomial> parts;
  parts.first.exact = parts.second.exact = exact && divisor.exact;
  if (divisor.terms.size() != 1)
    return {0, *this};
  const Term &by = divisor.terms.front();
  for (const Term &term : terms) {
    auto remainder = removeFactors(term.factors, by.factors);
    // -1 is excluded, because the negation of the smallest integer is not representable.
    bool divides = remainder && by.coefficient != -1 && term.coefficient % by.coefficient == 0;
    if (divides)
      parts.first.add({term.coefficient / by.coefficient, *remainder});
    else
      parts.second.add(term);
  }
  return parts;
}

bool Polynomial::all(function_ref<bool(Value)> predicate) const {
  return llvm::all_of(terms, [&](const Term &term) { return llvm::all_of(term.factors, predicate); });
}

std::string Polynomial::toString(function_ref<std::string(Value)> name) const {
  std::string text;
  for (const Term &term : terms) {
    bool negative = term.coefficient < 0;
    uint64_t size = negative ? -uint64_t(term.coefficient) : uint64_t(term.coefficient);
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    bool showSize = size != 1 || term.factors.empty();
    if (showSize)
      text += std::to_string(size);
    for (auto [index, factor] : llvm::enumerate(term.factors))
      text += (showSize || index ? "*" : "") + name(factor);
  }
  return text.empty() ? "0" : text;
}
