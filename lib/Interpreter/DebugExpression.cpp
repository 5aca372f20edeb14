// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/DebugExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <numeric>

using llvm::ArrayRef;
using llvm::formatv;
using llvm::SmallVector;
using llvm::StringRef;

namespace tile::interp {
namespace {

using Binary = double (*)(double, double);

struct Operator {
  StringRef name;
  Binary compute;
};

// An operator precedes its own prefixes.
constexpr Operator comparisons[] = {{"<=", [](double a, double b) { return double(a <= b); }},
                                    {">=", [](double a, double b) { return double(a >= b); }},
                                    {"==", [](double a, double b) { return double(a == b); }},
                                    {"!=", [](double a, double b) { return double(a != b); }},
                                    {"<", [](double a, double b) { return double(a < b); }},
                                    {">", [](double a, double b) { return double(a > b); }}};
constexpr Operator sums[] = {{"+", [](double a, double b) { return a + b; }},
                             {"-", [](double a, double b) { return a - b; }}};
constexpr Operator products[] = {{"*", [](double a, double b) { return a * b; }},
                                 {"//", [](double a, double b) { return std::floor(a / b); }},
                                 {"/", [](double a, double b) { return a / b; }},
                                 {"%", [](double a, double b) { return a - b * std::floor(a / b); }}};

std::string textOf(ArrayRef<int64_t> shape) {
  return formatv("[{0:$[, ]}]", llvm::make_range(shape.begin(), shape.end()));
}

class Evaluator {
public:
  Evaluator(StringRef text, NumbersOfName numbersOf) : rest(text), numbersOf(numbersOf) {}

  llvm::Expected<NumberArray> run() {
    NumberArray result = parseOr();
    if (message.empty() && !rest.trim().empty())
      fail(formatv("cannot read '{0}'", rest.trim()));
    if (!message.empty())
      return llvm::createStringError(message);
    return result;
  }

private:
  /// Keeps the first message; parsing continues with zeros.
  NumberArray fail(const std::string &text) {
    if (message.empty())
      message = text;
    rest = "";
    return {{}, {0.0}};
  }

  bool accept(StringRef symbol) {
    rest = rest.ltrim();
    return rest.consume_front(symbol);
  }
  bool acceptWord(StringRef word) {
    rest = rest.ltrim();
    StringRef behind = rest.substr(word.size());
    if (!rest.starts_with(word) || (!behind.empty() && (llvm::isAlnum(behind.front()) || behind.front() == '_')))
      return false;
    rest = behind;
    return true;
  }

  NumberArray parseOr() {
    NumberArray left = parseAnd();
    while (acceptWord("or"))
      left = combine(left, parseAnd(), [](double a, double b) { return double(a != 0 || b != 0); });
    return left;
  }
  NumberArray parseAnd() {
    NumberArray left = parseNot();
    while (acceptWord("and"))
      left = combine(left, parseNot(), [](double a, double b) { return double(a != 0 && b != 0); });
    return left;
  }
  NumberArray parseNot() {
    if (++nesting > mostNesting)
      return fail("the expression is nested too deeply");
    NumberArray value =
        acceptWord("not") ? each(parseNot(), [](double a) { return double(a == 0); }) : parseComparison();
    --nesting;
    return value;
  }
  NumberArray parseComparison() {
    NumberArray left = parseChain(sums, [&] { return parseTerm(); });
    for (const Operator &comparison : comparisons)
      if (accept(comparison.name))
        return combine(left, parseChain(sums, [&] { return parseTerm(); }), comparison.compute);
    return left;
  }
  NumberArray parseTerm() {
    return parseChain(products, [&] { return parseUnary(); });
  }
  template <typename Next> NumberArray parseChain(ArrayRef<Operator> operators, Next next) {
    NumberArray left = next();
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (const Operator &op : operators)
        if (accept(op.name)) {
          left = combine(left, next(), op.compute);
          goesOn = true;
          break;
        }
    }
    return left;
  }
  NumberArray parseUnary() {
    if (!accept("-"))
      return parseSubscripts(parsePrimary());
    if (++nesting > mostNesting)
      return fail("the expression is nested too deeply");
    NumberArray value = each(parseUnary(), [](double a) { return -a; });
    --nesting;
    return value;
  }

  NumberArray parsePrimary() {
    if (accept("("))
      return parseInBrackets();
    rest = rest.ltrim();
    if (!rest.empty() && (llvm::isDigit(rest.front()) || rest.front() == '.'))
      return parseNumber();
    StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty())
      return fail(rest.empty() ? "the expression ends too early" : formatv("cannot read '{0}'", rest).str());
    rest = rest.drop_front(name.size());
    if (accept("("))
      return call(name, parseInBrackets());
    std::optional<NumberArray> value = numbersOf(name);
    return value ? std::move(*value) : fail(formatv("'{0}' has no numeric value here", name));
  }
  NumberArray parseInBrackets() {
    NumberArray value = parseOr();
    return accept(")") ? value : fail("a ')' is missing");
  }
  NumberArray parseNumber() {
    // The exponent may have a sign, as in 1e-3.
    size_t end = 0;
    while (end < rest.size() && (llvm::isAlnum(rest[end]) || rest[end] == '.' ||
                                 ((rest[end] == '-' || rest[end] == '+') && end > 0 &&
                                  llvm::toLower(rest[end - 1]) == 'e' && !rest.starts_with("0x"))))
      ++end;
    StringRef text = rest.take_front(end);
    rest = rest.drop_front(end);
    double number = 0;
    return text.getAsDouble(number) ? fail(formatv("'{0}' is not a number", text)) : NumberArray{{}, {number}};
  }

  NumberArray parseSubscripts(NumberArray value) {
    while (accept("[")) {
      SmallVector<std::optional<int64_t>> places; // nullopt: ':'
      do {
        rest = rest.ltrim();
        int64_t index = 0;
        if (accept(":"))
          places.push_back(std::nullopt);
        else if (!rest.consumeInteger(10, index))
          places.push_back(index);
        else
          return fail("an index must be an integer or ':'");
      } while (accept(","));
      if (!accept("]"))
        return fail("a ']' is missing");
      value = elements(value, places);
    }
    return value;
  }

  NumberArray elements(const NumberArray &value, ArrayRef<std::optional<int64_t>> places) {
    if (places.size() > value.shape.size())
      return fail(formatv("too many indices: {0} for {1} dimensions", places.size(), value.shape.size()));
    NumberArray result = value;
    int64_t outer = 1;
    for (size_t axis = 0, kept = 0; axis < places.size(); ++axis) {
      const int64_t size = result.shape[kept];
      const int64_t inner = product(ArrayRef(result.shape).drop_front(kept + 1));
      if (!places[axis]) {
        outer *= size;
        ++kept;
        continue;
      }
      const int64_t index = *places[axis];
      if (index < 0 || index >= size)
        return fail(formatv("index {0} is out of range for a dimension of {1} elements", index, size));
      std::vector<double> values;
      for (int64_t i = 0; i < outer; ++i) {
        auto begin = result.values.begin() + (i * size + index) * inner;
        values.insert(values.end(), begin, begin + inner);
      }
      result.values = std::move(values);
      result.shape.erase(result.shape.begin() + kept);
    }
    return result;
  }

  NumberArray call(StringRef name, const NumberArray &value) {
    const std::vector<double> &all = value.values;
    if (name == "abs")
      return each(value, [](double a) { return std::fabs(a); });
    if (all.empty())
      return fail(formatv("{0} of an empty array", name));
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    if (name == "sum" || name == "mean")
      return {{}, {name == "sum" ? sum : sum / double(all.size())}};
    if (name == "min" || name == "max")
      return {{}, {name == "min" ? *llvm::min_element(all) : *llvm::max_element(all)}};
    return fail(formatv("unknown function '{0}'; expected sum, min, max, mean or abs", name));
  }

  static int64_t product(ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  }

  template <typename Function> static NumberArray each(NumberArray value, Function function) {
    for (double &element : value.values)
      element = function(element);
    return value;
  }

  /// Returns the source index of element `index` of an array of shape `whole` that is broadcast from `shape`.
  static int64_t sourceOf(int64_t index, ArrayRef<int64_t> whole, ArrayRef<int64_t> shape) {
    int64_t place = 0, step = 1;
    for (size_t axis = whole.size(), own = shape.size(); axis-- > 0 && own-- > 0; index /= whole[axis]) {
      place += shape[own] == 1 ? 0 : index % whole[axis] * step;
      step *= shape[own];
    }
    return place;
  }

  NumberArray combine(const NumberArray &left, const NumberArray &right, Binary compute) {
    NumberArray result;
    const size_t rank = std::max(left.shape.size(), right.shape.size());
    for (size_t axis = 0; axis < rank; ++axis) {
      auto sizeIn = [&](const NumberArray &array) {
        const size_t missing = rank - array.shape.size();
        return axis < missing ? 1 : array.shape[axis - missing];
      };
      const int64_t a = sizeIn(left), b = sizeIn(right);
      if (a != b && a != 1 && b != 1)
        return fail(formatv("shapes {0} and {1} are incompatible", textOf(left.shape), textOf(right.shape)));
      result.shape.push_back(a == 1 ? b : a);
    }
    const int64_t count = product(result.shape);
    constexpr int64_t mostElements = 1 << 22;
    if (count > mostElements)
      return fail(formatv("the result would have {0} elements", count));
    for (int64_t i = 0; i < count; ++i)
      result.values.push_back(compute(left.values[sourceOf(i, result.shape, left.shape)],
                                      right.values[sourceOf(i, result.shape, right.shape)]));
    return result;
  }

  static constexpr unsigned mostNesting = 100;
  StringRef rest;
  NumbersOfName numbersOf;
  std::string message;
  unsigned nesting = 0;
};

} // namespace

llvm::Expected<NumberArray> evaluateExpression(StringRef text, NumbersOfName numbersOf) {
  return Evaluator(text, numbersOf).run();
}

} // namespace tile::interp
