// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the syntax trees of tensor expressions.
#include "Directives/ExpressionTree.h"
#include "Directives/Functions.h"
#include "Runner/Check/TensorFunctions.h"
#include "Runner/Inputs/Random.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tile::runner {
namespace {

using directives::ExpressionTree;
using Function = TensorNode::Function;

struct FunctionRow {
  std::string_view name;
  size_t arity;
  Function function;
};

constexpr FunctionRow elementwiseFunctions[] = {
    {"exp", 1, [](double x, double, double) { return std::exp(x); }},
    {"exp2", 1, [](double x, double, double) { return std::exp2(x); }},
    {"log", 1, [](double x, double, double) { return std::log(x); }},
    {"sqrt", 1, [](double x, double, double) { return std::sqrt(x); }},
    {"rsqrt", 1, [](double x, double, double) { return 1 / std::sqrt(x); }},
    {"abs", 1, [](double x, double, double) { return std::fabs(x); }},
    {"floor", 1, [](double x, double, double) { return std::floor(x); }},
    {"rand", 2, [](double seed, double offset, double) { return philoxUniform(seed, offset); }},
    {"tanh", 1, [](double x, double, double) { return std::tanh(x); }},
    {"erf", 1, [](double x, double, double) { return std::erf(x); }},
    {"sigmoid", 1, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"silu", 1, [](double x, double, double) { return x / (1 + std::exp(-x)); }},
    // The result is NaN if either operand is NaN.
    {"maximum", 2, [](double x, double y, double) { return std::isnan(x) || x > y ? x : y; }},
    {"minimum", 2, [](double x, double y, double) { return std::isnan(x) || x < y ? x : y; }},
    {"where", 3, [](double c, double x, double y) { return c != 0 ? x : y; }}};
static_assert(directives::areListed(elementwiseFunctions, directives::tensorFunctions,
                                    [](const FunctionRow &row) { return row.arity; }));

constexpr FunctionRow operators[] = {{"<=", 2, [](double x, double y, double) { return double(x <= y); }},
                                     {">=", 2, [](double x, double y, double) { return double(x >= y); }},
                                     {"==", 2, [](double x, double y, double) { return double(x == y); }},
                                     {"!=", 2, [](double x, double y, double) { return double(x != y); }},
                                     {"<", 2, [](double x, double y, double) { return double(x < y); }},
                                     {">", 2, [](double x, double y, double) { return double(x > y); }},
                                     {"and", 2, [](double x, double y, double) { return x != 0 ? y : x; }},
                                     {"or", 2, [](double x, double y, double) { return x != 0 ? x : y; }},
                                     {"not", 1, [](double x, double, double) { return double(x == 0); }},
                                     {"+", 2, [](double x, double y, double) { return x + y; }},
                                     {"-", 2, [](double x, double y, double) { return x - y; }},
                                     {"-", 1, [](double x, double, double) { return -x; }},
                                     {"*", 2, [](double x, double y, double) { return x * y; }},
                                     {"/", 2, [](double x, double y, double) { return x / y; }},
                                     {"//", 2, [](double x, double y, double) { return std::floor(x / y); }},
                                     {"%", 2, [](double x, double y, double) { return x - std::floor(x / y) * y; }},
                                     {"**", 2, [](double x, double y, double) { return std::pow(x, y); }}};

using NodePtr = std::unique_ptr<TensorNode>;

/// Finds the functions of an expression.
class Converter {
public:
  explicit Converter(std::string_view text) : text(text) {}

  Result<NodePtr> run() {
    const directives::ParsedExpression parsed = directives::parseExpression(text);
    if (!parsed)
      return runtime::makeError(TILE_ERROR_MANIFEST, "{}", parsed.error);
    NodePtr node = convert(parsed.tree);
    if (failure)
      return *failure;
    return node;
  }

private:
  NodePtr fail(const ExpressionTree &place, std::string_view message) {
    if (!failure)
      failure = runtime::makeError(TILE_ERROR_MANIFEST, "{}", directives::expressionError(text, place.begin, message));
    return std::make_unique<TensorNode>();
  }

  NodePtr make(TensorNode::Kind kind, std::string_view name, const ExpressionTree &tree) {
    NodePtr node = std::make_unique<TensorNode>();
    node->kind = kind;
    node->name = std::string(name);
    node->column = static_cast<unsigned>(tree.begin + 1);
    // All walks recurse along chains of operators.
    if (++nodeCount > directives::mostTensorOperations)
      fail(tree, fmt::format("more than {} operations", directives::mostTensorOperations));
    return node;
  }

  NodePtr makeElementwise(const FunctionRow &row, const ExpressionTree &tree) {
    NodePtr node = make(TensorNode::Kind::Elementwise, row.name, tree);
    node->function = row.function;
    node->operands = convertAll(tree);
    return node;
  }

  std::vector<NodePtr> convertAll(const ExpressionTree &tree) {
    std::vector<NodePtr> operands;
    for (const ExpressionTree &operand : tree.operands)
      if (!failure)
        operands.push_back(convert(operand));
    return operands;
  }

  NodePtr convert(const ExpressionTree &tree) {
    switch (tree.kind) {
    case ExpressionTree::Kind::Number:
      return convertNumber(tree);
    case ExpressionTree::Kind::Name:
      return make(TensorNode::Kind::Name, tree.text, tree);
    case ExpressionTree::Kind::Operator:
      return convertOperator(tree);
    case ExpressionTree::Kind::Call:
      return convertCall(tree);
    case ExpressionTree::Kind::List:
    case ExpressionTree::Kind::Tuple:
    case ExpressionTree::Kind::Element:
    case ExpressionTree::Kind::Slice:
      break;
    }
    return fail(tree, "expectations have no lists and no elements; index(), take() and part() select");
  }

  NodePtr convertNumber(const ExpressionTree &tree) {
    NodePtr node = make(TensorNode::Kind::Number, "", tree);
    const std::string &digits = tree.text;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), node->number).ec != std::errc())
      return fail(tree, fmt::format("{} does not fit 64 bits", digits));
    return node;
  }

  NodePtr convertOperator(const ExpressionTree &tree) {
    for (const FunctionRow &row : operators)
      if (row.name == tree.text && row.arity == tree.operands.size())
        return makeElementwise(row, tree);
    if (tree.text == "if") // if the condition is a constant, only the value that it selects is computed
      return makeElementwise(*findElementwise("where"), tree);
    NodePtr node = make(TensorNode::Kind::Matmul, tree.text, tree);
    node->operands = convertAll(tree);
    return node;
  }

  static const FunctionRow *findElementwise(std::string_view name) {
    const auto *row = std::find_if(std::begin(elementwiseFunctions), std::end(elementwiseFunctions),
                                   [&](const FunctionRow &known) { return known.name == name; });
    return row == std::end(elementwiseFunctions) ? nullptr : row;
  }

  bool expectArguments(const ExpressionTree &call, size_t arity) {
    const size_t found = call.operands.size();
    const directives::FunctionForm *form = directives::find(directives::tensorFunctions, call.text);
    const bool hasAxis = form && form->hasAxis;
    if (found != arity)
      fail(call, fmt::format("{} takes {} argument{}, found {}", call.text, arity, arity == 1 ? "" : "s", found));
    for (const ExpressionTree &argument : call.operands)
      if (!argument.keyword.empty() && !(hasAxis && argument.keyword == "axis" && &argument == &call.operands.back()))
        fail(argument, fmt::format("{} has no parameter '{}'", call.text, argument.keyword));
    return found == arity && !failure;
  }

  NodePtr convertCall(const ExpressionTree &call) {
    const std::string &name = call.text;
    const FunctionRow *row = findElementwise(name);
    const TensorFunction *function = row ? nullptr : findTensorFunction(name);
    const bool isReduction = name == "sum" || name == "max" || name == "mean";
    const bool isKnown = row || function || isReduction || name == "transpose" || name == "softmax" || name == "peers";
    if (!isKnown)
      return fail(call, fmt::format("unknown function '{}'", name));
    if (!expectArguments(call, row           ? row->arity
                               : function    ? function->arrays + function->integers
                               : isReduction ? 2
                                             : 1))
      return std::make_unique<TensorNode>();
    if (row)
      return makeElementwise(*row, call);
    if (name == "peers")
      return makePeers(call);
    if (isReduction)
      return makeReduction(call);
    NodePtr node = make(function            ? TensorNode::Kind::Call
                        : name == "softmax" ? TensorNode::Kind::Softmax
                                            : TensorNode::Kind::Transpose,
                        name, call);
    node->call = function;
    node->operands = convertAll(call);
    return node;
  }

  /// The contents of a buffer on all ranks form a separate buffer.
  NodePtr makePeers(const ExpressionTree &call) {
    if (!call.operands[0].isName())
      return fail(call, "peers takes the name of a buffer");
    return make(TensorNode::Kind::Name, peersName(call.operands[0].text), call);
  }

  NodePtr makeReduction(const ExpressionTree &call) {
    const bool isNegative = call.operands[1].isOperator("-") && call.operands[1].operands.size() == 1;
    NodePtr axis = convert(isNegative ? call.operands[1].operands[0] : call.operands[1]);
    if (axis->kind != TensorNode::Kind::Number || axis->number != std::floor(axis->number) ||
        axis->number > directives::largestAxis)
      return fail(call, fmt::format("the axis of {} must be a small integer", call.text));
    NodePtr node = make(TensorNode::Kind::Reduce, call.text, call);
    node->reduction = call.text == "sum"   ? TensorNode::Reduction::Sum
                      : call.text == "max" ? TensorNode::Reduction::Max
                                           : TensorNode::Reduction::Mean;
    node->axis = static_cast<int64_t>(isNegative ? -axis->number : axis->number);
    node->operands.push_back(convert(call.operands[0]));
    return node;
  }

  std::string_view text;
  std::optional<Error> failure;
  unsigned nodeCount = 0;
};

void collectNames(const TensorNode &node, std::vector<std::string> &names) {
  if (node.kind == TensorNode::Kind::Name && std::find(names.begin(), names.end(), node.name) == names.end())
    names.push_back(node.name);
  for (const NodePtr &operand : node.operands)
    collectNames(*operand, names);
}

} // namespace

std::string peersName(std::string_view buffer) {
  return fmt::format("peers({})", buffer);
}

std::optional<std::string> bufferOfPeers(std::string_view name) {
  constexpr std::string_view prefix = "peers(";
  if (!name.starts_with(prefix) || !name.ends_with(')'))
    return std::nullopt;
  return std::string(name.substr(prefix.size(), name.size() - prefix.size() - 1));
}

Result<TensorExpression> TensorExpression::parse(std::string_view text) {
  Result<NodePtr> tree = Converter(text).run();
  if (!tree)
    return tree.error();
  TensorExpression expression;
  expression.source = std::string(text);
  expression.tree = std::move(*tree);
  return expression;
}

std::vector<std::string> TensorExpression::names() const {
  std::vector<std::string> names;
  collectNames(*tree, names);
  return names;
}

} // namespace tile::runner
