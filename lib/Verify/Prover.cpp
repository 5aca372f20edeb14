// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Prover.h"

#include <algorithm>
#include <cstdlib>

namespace tile::verify {
namespace {

constexpr unsigned linearMilliseconds = 3000, productMilliseconds = 1500, refutationMilliseconds = 1500,
                   contradictionMilliseconds = 500;
constexpr size_t maxLemmas = 600;

/// Writes assertions as SMT-LIB.
class Script {
public:
  Script(const Symbols &symbols, bool isLinear) : symbols(symbols), isLinear(isLinear) {}

  void addAssertion(const Formula &formula) { body += "(assert " + write(formula) + ")\n"; }

  std::string finish() {
    std::string head;
    for (Symbol symbol : used) {
      const SymbolInfo &info = symbols[symbol];
      head += "(declare-const " + nameOf(symbol) + (info.isFlag ? " Bool)\n" : " Int)\n");
      if (!info.isFlag)
        head += boundsOf(nameOf(symbol), info.range);
    }
    for (const auto &[monomial, name] : products)
      head += "(declare-const " + name + " Int)\n" + boundsOf(name, symbols.boundsOf(Poly::product(1, monomial)));
    return head + body;
  }

  static std::string nameOf(Symbol symbol) { return "v" + std::to_string(symbol); }

private:
  static std::string write(Wide value) { return value < 0 ? "(- " + toString(-value) + ")" : toString(value); }

  static std::string boundsOf(const std::string &name, Interval range) {
    std::string text;
    if (range.low > -unbounded)
      text += "(assert (<= " + write(range.low) + " " + name + "))\n";
    if (range.high < unbounded)
      text += "(assert (<= " + name + " " + write(range.high) + "))\n";
    return text;
  }

  std::string write(const Poly::Monomial &monomial) {
    if (isLinear && monomial.size() > 1) {
      std::string name = "p";
      for (Symbol symbol : monomial)
        name += "_" + std::to_string(symbol);
      return products.emplace(monomial, name).first->second;
    }
    used.insert(monomial.begin(), monomial.end());
    if (monomial.size() == 1)
      return nameOf(monomial.front());
    std::string text = "(*";
    for (Symbol symbol : monomial)
      text += " " + nameOf(symbol);
    return text + ")";
  }

  std::string write(const Poly &poly) {
    std::string text = "(+ 0";
    for (const auto &[monomial, coefficient] : poly.getTerms())
      text += monomial.empty()   ? " " + write(coefficient)
              : coefficient == 1 ? " " + write(monomial)
                                 : " (* " + write(coefficient) + " " + write(monomial) + ")";
    return text + ")";
  }

  std::string write(const Formula &formula) {
    switch (formula.kind()) {
    case Formula::Kind::True:
      return "true";
    case Formula::Kind::False:
      return "false";
    case Formula::Kind::NonNegative:
      return "(>= " + write(formula.poly()) + " 0)";
    case Formula::Kind::Zero:
      return "(= " + write(formula.poly()) + " 0)";
    case Formula::Kind::Flag:
      used.insert(formula.symbol());
      return nameOf(formula.symbol());
    default:
      break;
    }
    std::string text = formula.kind() == Formula::Kind::And  ? "(and"
                       : formula.kind() == Formula::Kind::Or ? "(or"
                                                             : "(not";
    for (const Formula &operand : formula.operands())
      text += " " + write(operand);
    return text + ")";
  }

  const Symbols &symbols;
  bool isLinear;
  std::set<Symbol> used;
  std::map<Poly::Monomial, std::string> products;
  std::string body;
};

/// Collects the nonlinear monomials and the comparisons of a query, from which lemmas are derived.
class Lemmas {
public:
  explicit Lemmas(const Symbols &symbols) : symbols(symbols) {}

  void collect(const Formula &formula) {
    for (const auto &[monomial, coefficient] : formula.poly().getTerms())
      if (monomial.size() > 1)
        products[monomial].insert(coefficient < 0 ? -coefficient : coefficient);
    if (formula.kind() == Formula::Kind::NonNegative || formula.kind() == Formula::Kind::Zero)
      comparisons.insert(formula.poly());
    for (const Formula &operand : formula.operands())
      collect(operand);
  }

  /// Returns the lemmas. If `areScaled`, they also use the coefficients of monomials.
  std::vector<Formula> make(bool areScaled) {
    std::set<Symbol> factors;
    for (const auto &[product, coefficients] : products)
      factors.insert(product.begin(), product.end());
    for (Symbol factor : factors) {
      if (symbols[factor].range.low < 0)
        continue;
      for (const Poly &comparison : comparisons) {
        addScaled(comparison, factor);
        addScaled(Poly(-1) - comparison, factor);
      }
      comparePartners(factor, areScaled);
    }
    return std::move(lemmas);
  }

private:
  /// Adds p >= 0 => p * n >= 0 and p < 0 => p * n + n <= 0, unless that introduces a new monomial.
  void addScaled(const Poly &comparison, Symbol factor) {
    const Poly by = Poly::symbol(factor), scaled = comparison * by;
    if (lemmas.size() >= maxLemmas || scaled.isHuge() || scaled.isLinear())
      return;
    for (const auto &[monomial, coefficient] : scaled.getTerms())
      if (monomial.size() > 1 && !products.contains(monomial))
        return;
    const Formula holds = Formula::nonNegative(comparison);
    lemmas.push_back(holds.implies(Formula::nonNegative(scaled)));
    lemmas.push_back((!holds).implies(Formula::lessEqual(scaled + by, 0)));
  }

  /// Adds lemmas that compare the cofactors of a common factor with each other and with 1. For 4 * a * n and b * n,
  /// these compare 4 * a with b, and both with 1.
  void comparePartners(Symbol factor, bool areScaled) {
    std::vector<Poly> partners = {Poly(1)};
    for (const auto &[product, coefficients] : products) {
      Poly::Monomial remainder = product;
      auto place = std::find(remainder.begin(), remainder.end(), factor);
      if (place == remainder.end())
        continue;
      remainder.erase(place);
      partners.push_back(Poly::product(1, remainder));
      for (Wide coefficient : coefficients)
        if (areScaled && coefficient != 1)
          partners.push_back(Poly::product(coefficient, remainder));
    }
    for (size_t i = 0; i < partners.size(); ++i)
      for (size_t j = i + 1; j < partners.size(); ++j) {
        addScaled(partners[j] - partners[i], factor);
        addScaled(partners[i] - partners[j], factor);
      }
  }

  const Symbols &symbols;
  std::map<Poly::Monomial, std::set<Wide>> products; ///< monomials, with the magnitudes of their coefficients
  std::set<Poly> comparisons;
  std::vector<Formula> lemmas;
};

} // namespace

Budget::Budget(double seconds)
    : end(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
      endOfCheck(end) {}

void Budget::share(size_t checks) {
  const auto now = Clock::now();
  // Few checks take long, so one check may exceed its share.
  endOfCheck = std::min(end, now + 4 * (end - now) / int64_t(std::max<size_t>(checks, 1)));
}

unsigned Budget::allow(unsigned milliseconds) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(endOfCheck - Clock::now()).count();
  return left <= 0 ? 0 : unsigned(std::min<int64_t>(left, milliseconds));
}

SolverAnswer Prover::ask(const std::vector<Formula> &assertions, Arithmetic arithmetic, unsigned milliseconds) {
  const unsigned allowed = budget.allow(milliseconds);
  if (allowed == 0)
    return {};
  std::vector<Formula> all = assertions;
  std::set<Symbol> known, next;
  for (const Formula &formula : all)
    formula.addTo(next);
  while (!next.empty()) {
    const Symbol symbol = *next.begin();
    next.erase(next.begin());
    if (!known.insert(symbol).second)
      continue;
    for (const Formula &fact : symbols[symbol].facts) {
      all.push_back(fact);
      fact.addTo(next);
    }
  }
  const bool isLinear = arithmetic != Arithmetic::Products;
  Script script(symbols, isLinear);
  for (const Formula &formula : all)
    script.addAssertion(formula);
  if (isLinear) {
    Lemmas lemmas(symbols);
    for (const Formula &formula : all)
      lemmas.collect(formula);
    for (const Formula &lemma : lemmas.make(/*areScaled=*/arithmetic == Arithmetic::Scaled))
      script.addAssertion(lemma);
  }
  return solver.check(script.finish(), allowed);
}

bool Prover::proves(llvm::ArrayRef<Formula> hypotheses, const Formula &goal, bool withProducts) {
  if (goal.kind() == Formula::Kind::True)
    return true;
  std::vector<Formula> assertions = always;
  assertions.insert(assertions.end(), hypotheses.begin(), hypotheses.end());
  assertions.push_back(!goal);
  auto follows = [&](Arithmetic arithmetic, unsigned milliseconds) {
    return ask(assertions, arithmetic, milliseconds).kind == SolverAnswer::Kind::Unsatisfiable;
  };
  return follows(Arithmetic::Linear, linearMilliseconds) ||
         (withProducts && (follows(Arithmetic::Scaled, linearMilliseconds) ||
                           (!isLinear && follows(Arithmetic::Products, productMilliseconds))));
}

bool Prover::isContradiction(llvm::ArrayRef<Formula> hypotheses) {
  std::vector<Formula> assertions = always;
  assertions.insert(assertions.end(), hypotheses.begin(), hypotheses.end());
  return ask(assertions, Arithmetic::Linear, contradictionMilliseconds).kind == SolverAnswer::Kind::Unsatisfiable;
}

std::optional<Model> Prover::refute(llvm::ArrayRef<Formula> hypotheses, const Formula &goal,
                                    llvm::ArrayRef<Formula> wishes) {
  std::vector<Formula> assertions = always;
  assertions.insert(assertions.end(), hypotheses.begin(), hypotheses.end());
  assertions.insert(assertions.end(), wishes.begin(), wishes.end());
  assertions.push_back(!goal);
  SolverAnswer answer = ask(assertions, Arithmetic::Products, refutationMilliseconds);
  if (answer.kind != SolverAnswer::Kind::Satisfiable)
    return std::nullopt;
  Model model;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol)
    if (auto value = answer.values.find(Script::nameOf(symbol));
        value != answer.values.end() && !symbols[symbol].isFlag)
      model[symbol] = std::strtoll(value->second.c_str(), nullptr, 10);
  return model;
}

} // namespace tile::verify
