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

// An operator comes before its prefixes, so that "<=" is not read as "<".
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
  Evaluator(StringRef text, LookupVariable lookup) : remaining(text), lookup(lookup) {}

  llvm::Expected<ValueArray> run() {
    ValueArray result = parseOr();
    if (message.empty() && !remaining.trim().empty())
      fail(formatv("cannot read '{0}'", remaining.trim()));
    if (!message.empty())
      return llvm::createStringError(message);
    return result;
  }

private:
  /// Keeps the first message; parsing continues with zeros.
  ValueArray fail(const std::string &text) {
    if (message.empty())
      message = text;
    remaining = "";
    return {{}, {0.0}};
  }

  bool accept(StringRef symbol) {
    remaining = remaining.ltrim();
    return remaining.consume_front(symbol);
  }
  bool acceptWord(StringRef word) {
    remaining = remaining.ltrim();
    StringRef after = remaining.substr(word.size());
    if (!remaining.starts_with(word) || (!after.empty() && (llvm::isAlnum(after.front()) || after.front() == '_')))
      return false;
    remaining = after;
    return true;
  }

  ValueArray parseOr() {
    ValueArray left = parseAnd();
    while (acceptWord("or"))
      left = combine(left, parseAnd(), [](double a, double b) { return double(a != 0 || b != 0); });
    return left;
  }
  ValueArray parseAnd() {
    ValueArray left = parseNot();
    while (acceptWord("and"))
      left = combine(left, parseNot(), [](double a, double b) { return double(a != 0 && b != 0); });
    return left;
  }
  ValueArray parseNot() {
    if (++nesting > maxNesting)
      return fail("the expression is nested too deeply");
    ValueArray value =
        acceptWord("not") ? each(parseNot(), [](double a) { return double(a == 0); }) : parseComparison();
    --nesting;
    return value;
  }
  ValueArray parseComparison() {
    ValueArray left = parseChain(sums, [&] { return parseTerm(); });
    for (const Operator &comparison : comparisons)
      if (accept(comparison.name))
        return combine(left, parseChain(sums, [&] { return parseTerm(); }), comparison.compute);
    return left;
  }
  ValueArray parseTerm() {
    return parseChain(products, [&] { return parseUnary(); });
  }
  template <typename Next> ValueArray parseChain(ArrayRef<Operator> operators, Next next) {
    ValueArray left = next();
    for (bool shouldContinue = true; shouldContinue;) {
      shouldContinue = false;
      for (const Operator &op : operators)
        if (accept(op.name)) {
          left = combine(left, next(), op.compute);
          shouldContinue = true;
          break;
        }
    }
    return left;
  }
  ValueArray parseUnary() {
    if (!accept("-"))
      return parseSubscripts(parsePrimary());
    if (++nesting > maxNesting)
      return fail("the expression is nested too deeply");
    ValueArray value = each(parseUnary(), [](double a) { return -a; });
    --nesting;
    return value;
  }

  ValueArray parsePrimary() {
    if (accept("("))
      return parseInBrackets();
    remaining = remaining.ltrim();
    if (!remaining.empty() && (llvm::isDigit(remaining.front()) || remaining.front() == '.'))
      return parseNumber();
    StringRef name = remaining.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty())
      return fail(remaining.empty() ? "the expression ends too early" : formatv("cannot read '{0}'", remaining).str());
    remaining = remaining.drop_front(name.size());
    if (accept("("))
      return call(name, parseInBrackets());
    std::optional<ValueArray> value = lookup(name);
    return value ? std::move(*value) : fail(formatv("'{0}' has no numeric value here", name));
  }
  ValueArray parseInBrackets() {
    ValueArray value = parseOr();
    return accept(")") ? value : fail("a ')' is missing");
  }
  ValueArray parseNumber() {
    // The exponent may have a sign, as in 1e-3.
    size_t end = 0;
    while (end < remaining.size() && (llvm::isAlnum(remaining[end]) || remaining[end] == '.' ||
                                      ((remaining[end] == '-' || remaining[end] == '+') && end > 0 &&
                                       llvm::toLower(remaining[end - 1]) == 'e' && !remaining.starts_with("0x"))))
      ++end;
    StringRef text = remaining.take_front(end);
    remaining = remaining.drop_front(end);
    double number = 0;
    return text.getAsDouble(number) ? fail(formatv("'{0}' is not a number", text)) : ValueArray{{}, {number}};
  }

  ValueArray parseSubscripts(ValueArray value) {
    while (accept("[")) {
      SmallVector<std::optional<int64_t>> indices; // nullopt: ':'
      do {
        remaining = remaining.ltrim();
        int64_t index = 0;
        if (accept(":"))
          indices.push_back(std::nullopt);
        else if (!remaining.consumeInteger(10, index))
          indices.push_back(index);
        else
          return fail("an index must be an integer or ':'");
      } while (accept(","));
      if (!accept("]"))
        return fail("a ']' is missing");
      value = elements(value, indices);
    }
    return value;
  }

  ValueArray elements(const ValueArray &value, ArrayRef<std::optional<int64_t>> indices) {
    if (indices.size() > value.shape.size())
      return fail(formatv("too many indices: {0} for {1} dimensions", indices.size(), value.shape.size()));
    ValueArray result = value;
    int64_t outer = 1;
    for (size_t axis = 0, kept = 0; axis < indices.size(); ++axis) {
      const int64_t size = result.shape[kept];
      const int64_t inner = product(ArrayRef(result.shape).drop_front(kept + 1));
      if (!indices[axis]) {
        outer *= size;
        ++kept;
        continue;
      }
      const int64_t index = *indices[axis];
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

  ValueArray call(StringRef name, const ValueArray &value) {
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

  template <typename Function> static ValueArray each(ValueArray value, Function function) {
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

  ValueArray combine(const ValueArray &left, const ValueArray &right, Binary compute) {
    ValueArray result;
    const size_t rank = std::max(left.shape.size(), right.shape.size());
    for (size_t axis = 0; axis < rank; ++axis) {
      auto sizeIn = [&](const ValueArray &array) {
        const size_t missing = rank - array.shape.size();
        return axis < missing ? 1 : array.shape[axis - missing];
      };
      const int64_t a = sizeIn(left), b = sizeIn(right);
      if (a != b && a != 1 && b != 1)
        return fail(formatv("shapes {0} and {1} are incompatible", textOf(left.shape), textOf(right.shape)));
      result.shape.push_back(a == 1 ? b : a);
    }
    const int64_t count = product(result.shape);
    constexpr int64_t maxElements = 1 << 22;
    if (count > maxElements)
      return fail(formatv("the result would have {0} elements", count));
    for (int64_t i = 0; i < count; ++i)
      result.values.push_back(compute(left.values[sourceOf(i, result.shape, left.shape)],
                                      right.values[sourceOf(i, result.shape, right.shape)]));
    return result;
  }

  static constexpr unsigned maxNesting = 100;
  StringRef remaining;
  LookupVariable lookup;
  std::string message;
  unsigned nesting = 0;
};

} // namespace

llvm::Expected<ValueArray> evaluateExpression(StringRef text, LookupVariable lookup) {
  return Evaluator(text, lookup).run();
}

} // namespace tile::interp
