// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/ManifestText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tile::verify {
namespace {

/// An integer, or a truth value that can be used as 0 or 1.
struct Term {
  Poly poly;
  std::optional<Formula> truth = std::nullopt;
};
using Result = std::optional<Term>;

class Reader {
public:
  Reader(llvm::StringRef text, Symbols &symbols, const NameLookup &lookup)
      : text(text), symbols(symbols), lookup(lookup) {}

  Result read() {
    Result result = conditional();
    return text.ltrim().empty() ? result : std::nullopt;
  }

  Poly integerOf(const Term &term) { return term.truth ? symbols.choose(*term.truth, 1, 0) : term.poly; }
  static Formula truthOf(const Term &term) { return term.truth ? *term.truth : !Formula::equal(term.poly, 0); }

private:
  /// Consumes an operator or a keyword.
  bool take(llvm::StringRef token) {
    llvm::StringRef remaining = text.ltrim();
    if (!remaining.consume_front(token) ||
        (llvm::isAlpha(token.front()) && !remaining.empty() && isWordLetter(remaining.front())))
      return false;
    text = remaining;
    return true;
  }
  static bool isWordLetter(char letter) { return llvm::isAlnum(letter) || letter == '_'; }

  Result conditional() {
    Result yes = disjunction();
    if (!yes || !take("if"))
      return yes;
    Result condition = disjunction();
    if (!condition || !take("else"))
      return std::nullopt;
    Result no = conditional();
    if (!no)
      return std::nullopt;
    const Formula holds = truthOf(*condition);
    if (yes->truth && no->truth)
      return Term{{}, (holds && *yes->truth) || (!holds && *no->truth)};
    return Term{symbols.choose(holds, integerOf(*yes), integerOf(*no))};
  }

  Result disjunction() {
    Result left = conjunction();
    while (left && take("or")) {
      Result right = conjunction();
      left = right ? Result(Term{{}, truthOf(*left) || truthOf(*right)}) : std::nullopt;
    }
    return left;
  }

  Result conjunction() {
    Result left = negation();
    while (left && take("and")) {
      Result right = negation();
      left = right ? Result(Term{{}, truthOf(*left) && truthOf(*right)}) : std::nullopt;
    }
    return left;
  }

  Result negation() {
    if (!take("not"))
      return comparison();
    Result operand = negation();
    return operand ? Result(Term{{}, !truthOf(*operand)}) : std::nullopt;
  }

  Result comparison() {
    Result left = sum();
    for (llvm::StringRef token : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!left || !take(token))
        continue;
      Result right = sum();
      if (!right)
        return std::nullopt;
      const Poly a = integerOf(*left), b = integerOf(*right);
      return Term{{},
                  token == "<="   ? Formula::lessEqual(a, b)
                  : token == ">=" ? Formula::lessEqual(b, a)
                  : token == "==" ? Formula::equal(a, b)
                  : token == "!=" ? !Formula::equal(a, b)
                  : token == "<"  ? Formula::less(a, b)
                                  : Formula::less(b, a)};
    }
    return left;
  }

  Result sum() {
    Result left = term();
    while (left) {
      const bool isSum = take("+");
      if (!isSum && !take("-"))
        break;
      Result right = term();
      if (!right)
        return std::nullopt;
      left = Term{isSum ? integerOf(*left) + integerOf(*right) : integerOf(*left) - integerOf(*right)};
    }
    return left;
  }

  Result term() {
    Result left = unary();
    while (left) {
      const bool isQuotient = take("//") || (!text.ltrim().starts_with("**") && take("/"));
      const bool isRemainder = !isQuotient && take("%");
      if (!isQuotient && !isRemainder && (text.ltrim().starts_with("**") || !take("*")))
        break;
      Result right = unary();
      if (!right)
        return std::nullopt;
      const Poly a = integerOf(*left), b = integerOf(*right);
      if (!isQuotient && !isRemainder) {
        left = Term{a * b};
        continue;
      }
      auto [quotient, remainder] = symbols.divide(a, b, /*isFloor=*/true);
      left = Term{isQuotient ? quotient : remainder};
    }
    return left;
  }

  Result unary() {
    if (take("-")) {
      Result operand = unary();
      return operand ? Result(Term{Poly(0) - integerOf(*operand)}) : std::nullopt;
    }
    Result base = primary();
    if (!base || !take("**"))
      return base;
    Result exponent = unary();
    std::optional<Wide> count = exponent ? integerOf(*exponent).getConstant() : std::nullopt;
    if (!count || *count < 0 || *count > 62)
      return std::nullopt;
    Poly power = 1;
    for (Wide i = 0; i < *count && !power.isHuge(); ++i)
      power = power * integerOf(*base);
    return Term{power};
  }

  Result primary() {
    if (take("(")) {
      Result inner = conditional();
      return take(")") ? inner : std::nullopt;
    }
    text = text.ltrim();
    const llvm::StringRef word = text.take_while(isWordLetter);
    text = text.drop_front(word.size());
    if (uint64_t number = 0; !word.empty() && !word.getAsInteger(0, number))
      return Term{Poly(Wide(number))};
    if (word == "True" || word == "False")
      return Term{{}, Formula(word == "True")};
    if (take("("))
      return call(word);
    std::optional<Poly> value = word.empty() ? std::nullopt : lookup(word);
    return value ? Result(Term{*value}) : std::nullopt;
  }

  Result call(llvm::StringRef function) {
    std::vector<Poly> arguments;
    do {
      Result argument = conditional();
      if (!argument)
        return std::nullopt;
      arguments.push_back(integerOf(*argument));
    } while (take(","));
    if (!take(")"))
      return std::nullopt;
    if (function == "cdiv" && arguments.size() == 2)
      return Term{symbols.divide(arguments[0] + arguments[1] - Poly(1), arguments[1], /*isFloor=*/true).first};
    if (function == "next_power_of_2" && arguments.size() == 1)
      return nextPower(arguments[0]);
    if (function != "min" && function != "max")
      return std::nullopt;
    Poly result = arguments[0];
    for (const Poly &argument : llvm::ArrayRef<Poly>(arguments).drop_front())
      result = function == "min" ? symbols.smaller(result, argument) : symbols.larger(result, argument);
    return Term{result};
  }

  Result nextPower(const Poly &value) {
    std::optional<Wide> constant = value.getConstant();
    if (!constant || *constant < 0)
      return std::nullopt;
    return Term{Poly(Wide(llvm::PowerOf2Ceil(uint64_t(*constant))))};
  }

  llvm::StringRef text;
  Symbols &symbols;
  const NameLookup &lookup;
};

} // namespace

std::optional<Poly> readInteger(llvm::StringRef text, Symbols &symbols, const NameLookup &lookup) {
  Reader reader(text, symbols, lookup);
  Result result = reader.read();
  return result ? std::optional(reader.integerOf(*result)) : std::nullopt;
}

std::optional<Formula> readCondition(llvm::StringRef text, Symbols &symbols, const NameLookup &lookup) {
  Result result = Reader(text, symbols, lookup).read();
  return result ? std::optional(Reader::truthOf(*result)) : std::nullopt;
}

} // namespace tile::verify
