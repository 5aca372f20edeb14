// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes as text: (M - 1) * stride + N.
#include "Verify/RequiredSize.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::verify {
namespace {

using Monomial = Poly::Monomial;

/// Writes "a * b" with the coefficient's magnitude.
std::string toText(const Monomial &monomial, Wide coefficient, const Symbols &symbols,
                   const std::map<Symbol, std::string> &names) {
  std::string text;
  auto add = [&](const std::string &factor) { text += (text.empty() ? "" : " * ") + factor; };
  const Wide magnitude = coefficient < 0 ? -coefficient : coefficient;
  if (magnitude != 1 || monomial.empty())
    add(toString(magnitude));
  for (Symbol symbol : monomial) {
    if (auto name = names.find(symbol); name != names.end()) {
      add(name->second);
      continue;
    }
    const Definition *definition = symbols.definitionOf(symbol);
    if (!definition) {
      add(symbols[symbol].text);
      continue;
    }
    const Poly &left = definition->left, &right = definition->right;
    auto write = [&](const Poly &poly) { return verify::toText(poly, symbols, names); };
    auto inParentheses = [&](const Poly &poly) {
      const std::string plain = write(poly);
      return plain.find(' ') == std::string::npos ? plain : "(" + plain + ")";
    };
    if (definition->kind == Definition::Kind::Smaller || definition->kind == Definition::Kind::Larger)
      add((definition->kind == Definition::Kind::Smaller ? "min(" : "max(") + write(left) + ", " + write(right) + ")");
    else if (definition->kind == Definition::Kind::Remainder)
      add("(" + inParentheses(left) + " % " + inParentheses(right) + ")");
    else if (const Poly raised = left - right + Poly(1); raised.getTerms().size() < left.getTerms().size())
      add("cdiv(" + write(raised) + ", " + write(right) + ")");
    else
      add("(" + inParentheses(left) + " // " + inParentheses(right) + ")");
  }
  return text;
}

} // namespace

std::map<Symbol, std::string> nameLoaded(const std::set<Symbol> &used, const Symbols &symbols) {
  std::set<Symbol> loaded, next = used;
  while (!next.empty()) {
    const Symbol symbol = *next.begin();
    next.erase(next.begin());
    if (symbols[symbol].kind == SymbolKind::Loaded)
      loaded.insert(symbol);
    // A derived symbol is written in terms of others.
    if (const Definition *definition = symbols.definitionOf(symbol))
      for (const Poly *operand : {&definition->left, &definition->right})
        operand->addTo(next);
  }
  std::map<Symbol, std::string> names;
  for (Symbol symbol : loaded)
    names[symbol] = loaded.size() == 1 ? "v" : "v" + std::to_string(names.size() + 1);
  return names;
}

std::string describeLoaded(const std::map<Symbol, std::string> &loaded, const Symbols &symbols) {
  std::string text;
  for (const auto &[symbol, name] : loaded)
    text += (text.empty() ? "" : ", ") + name + " >= 0 is " + symbols[symbol].text;
  return text;
}

std::string toText(const Poly &poly, const Symbols &symbols, const std::map<Symbol, std::string> &names) {
  std::vector<std::pair<Monomial, Wide>> terms(poly.getTerms().begin(), poly.getTerms().end());
  // Positive terms come first, and longer terms before shorter ones.
  llvm::stable_sort(terms, [](const auto &left, const auto &right) {
    return std::pair(left.second < 0, right.first.size()) < std::pair(right.second < 0, left.first.size());
  });
  std::string text;
  for (const auto &[monomial, coefficient] : terms) {
    text += text.empty() ? (coefficient < 0 ? "-" : "") : coefficient < 0 ? " - " : " + ";
    text += toText(monomial, coefficient, symbols, names);
  }
  return text.empty() ? "0" : text;
}

std::string toSizeText(const Poly &size, const Symbols &symbols, const std::map<Symbol, std::string> &names) {
  // Writes a * stride - stride + ... as (a - 1) * stride + ....
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    if (coefficient >= 0 || monomial.empty())
      continue;
    Poly factor, remainder;
    for (const auto &[other, scale] : size.getTerms()) {
      const bool contains = std::includes(other.begin(), other.end(), monomial.begin(), monomial.end());
      Monomial left;
      std::set_difference(other.begin(), other.end(), monomial.begin(), monomial.end(), std::back_inserter(left));
      if (contains)
        factor = factor + Poly::product(scale, std::move(left));
      else
        remainder = remainder + Poly::product(scale, other);
    }
    if (factor.getTerms().size() < 2)
      continue;
    const std::string text =
        "(" + verify::toText(factor, symbols, names) + ") * " + toText(monomial, 1, symbols, names);
    return remainder == Poly(0) ? text : text + " + " + toSizeText(remainder, symbols, names);
  }
  return verify::toText(size, symbols, names);
}

} // namespace tile::verify
