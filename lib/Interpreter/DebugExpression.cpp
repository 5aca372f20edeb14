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
using tile::directives::ExpressionTree;

namespace tile::interp {

std::string explainUnknownFunction(StringRef name) {
  const bool isKnown = llvm::is_contained({"sum", "min", "max", "mean", "abs"}, name);
  return isKnown ? "" : formatv("unknown function '{0}'; expected sum, min, max, mean or abs", name).str();
}

namespace {

using Binary = double (*)(double, double);

struct Operator {
  StringRef name;
  Binary compute;
};

constexpr Operator operators[] = {{"or", [](double a, double b) { return double(a != 0 || b != 0); }},
                                  {"and", [](double a, double b) { return double(a != 0 && b != 0); }},
                                  {"<=", [](double a, double b) { return double(a <= b); }},
                                  {">=", [](double a, double b) { return double(a >= b); }},
                                  {"==", [](double a, double b) { return double(a == b); }},
                                  {"!=", [](double a, double b) { return double(a != b); }},
                                  {"<", [](double a, double b) { return double(a < b); }},
                                  {">", [](double a, double b) { return double(a > b); }},
                                  {"+", [](double a, double b) { return a + b; }},
                                  {"-", [](double a, double b) { return a - b; }},
                                  {"*", [](double a, double b) { return a * b; }},
                                  {"//", [](double a, double b) { return std::floor(a / b); }},
                                  {"/", [](double a, double b) { return a / b; }},
                                  {"%", [](double a, double b) { return a - b * std::floor(a / b); }},
                                  {"**", [](double a, double b) { return std::pow(a, b); }}};

std::string textOf(ArrayRef<int64_t> shape) {
  return formatv("[{0:$[, ]}]", llvm::make_range(shape.begin(), shape.end()));
}

class Evaluator {
public:
  explicit Evaluator(LookupVariable lookup) : lookup(lookup) {}

  llvm::Expected<ValueArray> run(const ExpressionTree &tree) {
    ValueArray result = evaluate(tree);
    if (!message.empty())
      return llvm::createStringError(message);
    return result;
  }

private:
  /// Keeps the first message; evaluation continues with zeros.
  ValueArray fail(const std::string &text) {
    if (message.empty())
      message = text;
    return {{}, {0.0}};
  }

  ValueArray evaluate(const ExpressionTree &tree) {
    switch (tree.kind) {
    case ExpressionTree::Kind::Number: {
      double number = 0;
      return StringRef(tree.text).getAsDouble(number) ? fail(formatv("{0} does not fit 64 bits", tree.text))
                                                      : ValueArray{{}, {number}};
    }
    case ExpressionTree::Kind::Name: {
      std::optional<ValueArray> value = lookup(tree.text);
      return value ? std::move(*value) : fail(formatv("'{0}' has no numeric value here", tree.text));
    }
    case ExpressionTree::Kind::Operator:
      return apply(tree);
    case ExpressionTree::Kind::Call:
      if (tree.operands.size() != 1)
        return fail(formatv("{0} takes 1 argument, found {1}", tree.text, tree.operands.size()));
      return call(tree.text, evaluate(tree.operands[0]));
    case ExpressionTree::Kind::Element:
      return element(tree);
    case ExpressionTree::Kind::List:
    case ExpressionTree::Kind::Tuple:
    case ExpressionTree::Kind::Slice:
      break;
    }
    return fail(formatv("'{0}' has no value", tree.print()));
  }

  ValueArray apply(const ExpressionTree &tree) {
    if (tree.text == "if") {
      const ValueArray condition = evaluate(tree.operands[0]);
      if (!condition.shape.empty())
        return fail(formatv("the condition '{0}' is not a scalar", tree.operands[0].print()));
      return evaluate(tree.operands[condition.values[0] != 0 ? 1 : 2]);
    }
    const bool isComparison = tree.text == "==" || tree.text == "!=";
    if (isComparison && tree.operands[1].kind == ExpressionTree::Kind::Tuple)
      return compareTuple(tree);
    ValueArray left = evaluate(tree.operands[0]);
    if (tree.operands.size() == 1 && tree.text == "not")
      return each(std::move(left), [](double a) { return double(a == 0); });
    if (tree.operands.size() == 1)
      return each(std::move(left), [](double a) { return -a; });
    const auto *row = llvm::find_if(operators, [&](const Operator &known) { return known.name == tree.text; });
    if (row == std::end(operators))
      return fail(formatv("'{0}' is not an operator here", tree.text));
    return combine(left, evaluate(tree.operands[1]), row->compute);
  }

  /// Compares the first elements of an array with the elements of a tuple.
  ValueArray compareTuple(const ExpressionTree &tree) {
    const ValueArray left = evaluate(tree.operands[0]);
    const std::vector<ExpressionTree> &elements = tree.operands[1].operands;
    if (elements.size() > left.values.size())
      return fail(formatv("{0} values are compared with {1}", left.values.size(), elements.size()));
    bool isEqual = true;
    for (auto [value, element] : llvm::zip_first(elements, left.values)) {
      const ValueArray right = evaluate(value);
      isEqual &= right.shape.empty() && right.values[0] == element;
    }
    return {{}, {double(isEqual == (tree.text == "=="))}};
  }

  ValueArray element(const ExpressionTree &tree) {
    SmallVector<std::optional<int64_t>> indices; // nullopt: ':'
    for (const ExpressionTree &index : llvm::drop_begin(tree.operands)) {
      if (index.kind == ExpressionTree::Kind::Slice) {
        indices.push_back(std::nullopt);
        continue;
      }
      const ValueArray value = evaluate(index);
      if (!value.shape.empty() || value.values[0] != std::floor(value.values[0]))
        return fail("an index must be an integer or ':'");
      indices.push_back(static_cast<int64_t>(value.values[0]));
    }
    return elements(evaluate(tree.operands[0]), indices);
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
    return fail(explainUnknownFunction(name));
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

  LookupVariable lookup;
  std::string message;
};

} // namespace

llvm::Expected<ValueArray> evaluateExpression(const ExpressionTree &tree, LookupVariable lookup) {
  return Evaluator(lookup).run(tree);
}

llvm::Expected<ValueArray> evaluateExpression(StringRef text, LookupVariable lookup) {
  const directives::ParsedExpression parsed = directives::parseExpression(text);
  if (!parsed)
    return llvm::createStringError(parsed.error);
  return evaluateExpression(parsed.tree, lookup);
}

} // namespace tile::interp
