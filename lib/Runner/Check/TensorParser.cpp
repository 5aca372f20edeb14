// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lexer and parser of tensor expressions; the grammar is in TensorExpr.h.
#include "Directives/Functions.h"
#include "Runner/Check/TensorFunctions.h"
#include "Runner/Inputs/Random.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace tile::runner {
namespace {

using Function = TensorNode::Function;

constexpr unsigned maxNesting = 64; // limits the recursion of the parser and of all tree walks

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
static_assert(directives::areListed(elementwiseFunctions, directives::tensorFunctions));

constexpr FunctionRow comparisons[] = {{"<=", 2, [](double x, double y, double) { return double(x <= y); }},
                                       {">=", 2, [](double x, double y, double) { return double(x >= y); }},
                                       {"==", 2, [](double x, double y, double) { return double(x == y); }},
                                       {"!=", 2, [](double x, double y, double) { return double(x != y); }},
                                       {"<", 2, [](double x, double y, double) { return double(x < y); }},
                                       {">", 2, [](double x, double y, double) { return double(x > y); }}};

constexpr FunctionRow arithmetic[] = {{"+", 2, [](double x, double y, double) { return x + y; }},
                                      {"-", 2, [](double x, double y, double) { return x - y; }},
                                      {"*", 2, [](double x, double y, double) { return x * y; }},
                                      {"/", 2, [](double x, double y, double) { return x / y; }}};

constexpr FunctionRow power = {"**", 2, [](double x, double y, double) { return std::pow(x, y); }};

constexpr Function negate = [](double x, double, double) { return -x; };

using NodePtr = std::unique_ptr<TensorNode>;

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) { next(); }

  Result<NodePtr> run() {
    NodePtr node = parseComparison();
    if (!failure && !token.empty())
      fail(fmt::format("unexpected '{}'", token));
    if (failure)
      return *failure;
    return node;
  }

private:
  NodePtr fail(std::string message) {
    if (!failure)
      failure = runtime::makeError(TILE_ERROR_MANIFEST, "in expression '{}', column {}: {}", text.substr(0, 200),
                                   tokenStart + 1, message);
    token = {};
    position = text.size();
    return std::make_unique<TensorNode>();
  }

  void next() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
    tokenStart = position;
    size_t end = std::min(position + 1, text.size());
    if (position < text.size()) {
      if (isNumberStart())
        end = numberEnd();
      else if (isNameChar(text[position]))
        while (end < text.size() && isNameChar(text[end]))
          ++end;
      else if (end < text.size() && text[position] == '*' && text[end] == '*')
        ++end;
      else if (end < text.size() && text[end] == '=' && std::string_view("<>=!").find(text[position]) != text.npos)
        ++end;
    }
    token = text.substr(position, end - position);
    position = end;
  }

  static bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
  static bool isNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  bool isNumberStart() const {
    return isDigit(text[position]) ||
           (text[position] == '.' && position + 1 < text.size() && isDigit(text[position + 1]));
  }
  size_t numberEnd() const {
    size_t end = position;
    while (end < text.size() && (isDigit(text[end]) || text[end] == '.'))
      ++end;
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+'))
        ++exponent;
      if (exponent < text.size() && isDigit(text[exponent])) {
        end = exponent;
        while (end < text.size() && isDigit(text[end]))
          ++end;
      }
    }
    return end;
  }

  bool accept(std::string_view expected) {
    if (failure || token != expected)
      return false;
    next();
    return true;
  }

  NodePtr makeNode(TensorNode::Kind kind, std::string_view name, size_t column) {
    NodePtr node = std::make_unique<TensorNode>();
    node->kind = kind;
    node->name = std::string(name);
    node->column = static_cast<unsigned>(column + 1);
    // Chains of left-associative operators deepen the tree without recursion in the parser, so their length is limited
    // as well.
    if (++nodeCount > 1000)
      fail("more than 1000 operations");
    return node;
  }

  NodePtr makeElementwise(const FunctionRow &row, size_t column, NodePtr x, NodePtr y = nullptr) {
    NodePtr node = makeNode(TensorNode::Kind::Elementwise, row.name, column);
    node->function = row.function;
    node->operands.push_back(std::move(x));
    if (y)
      node->operands.push_back(std::move(y));
    return node;
  }

  NodePtr parseComparison() {
    if (++nesting > maxNesting)
      return fail(fmt::format("nested deeper than {} levels", maxNesting));
    NodePtr left = parseSum();
    for (const FunctionRow &row : comparisons) {
      const size_t column = tokenStart;
      if (!accept(row.name))
        continue;
      left = makeElementwise(row, column, std::move(left), parseSum());
      break;
    }
    --nesting;
    return left;
  }

  NodePtr parseSum() {
    NodePtr left = parseTerm();
    while (!failure && (token == "+" || token == "-")) {
      const FunctionRow &row = arithmetic[token == "-"];
      const size_t column = tokenStart;
      next();
      left = makeElementwise(row, column, std::move(left), parseTerm());
    }
    return left;
  }

  NodePtr parseTerm() {
    NodePtr left = parseUnary();
    while (!failure && (token == "*" || token == "/" || token == "@")) {
      const std::string_view op = token;
      const size_t column = tokenStart;
      next();
      if (op != "@") {
        left = makeElementwise(arithmetic[op == "*" ? 2 : 3], column, std::move(left), parseUnary());
        continue;
      }
      NodePtr node = makeNode(TensorNode::Kind::Matmul, "@", column);
      node->operands.push_back(std::move(left));
      node->operands.push_back(parseUnary());
      left = std::move(node);
    }
    return left;
  }

  NodePtr parseUnary() {
    const size_t column = tokenStart;
    bool isNegative = false;
    while (!failure && (token == "-" || token == "+")) {
      isNegative ^= token == "-";
      next();
    }
    NodePtr operand = parsePrimary();
    // `**` binds more tightly than a sign before it, but less tightly than a sign after it.
    if (const size_t place = tokenStart; accept("**")) {
      if (++nesting > maxNesting)
        return fail(fmt::format("nested deeper than {} levels", maxNesting));
      operand = makeElementwise(power, place, std::move(operand), parseUnary());
      --nesting;
    }
    return isNegative ? makeElementwise({"-", 1, negate}, column, std::move(operand)) : std::move(operand);
  }

  NodePtr parsePrimary() {
    if (token.empty())
      return fail("expected a value before the end");
    const size_t column = tokenStart;
    if (accept("(")) {
      NodePtr inner = parseComparison();
      if (!failure && !accept(")"))
        return fail(token.empty() ? "expected ')' before the end" : fmt::format("expected ')', found '{}'", token));
      return inner;
    }
    const std::string_view spelling = token;
    if (isDigit(spelling[0]) || spelling[0] == '.') {
      double value = 0;
      const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
      if (error != std::errc() || end != spelling.data() + spelling.size())
        return fail(fmt::format("'{}' is not a number", spelling));
      NodePtr node = makeNode(TensorNode::Kind::Number, "", column);
      node->number = value;
      next();
      return node;
    }
    if (!isNameChar(spelling[0]))
      return fail(fmt::format("unexpected '{}'", spelling));
    next();
    if (accept("("))
      return parseCall(spelling, column);
    return makeNode(TensorNode::Kind::Name, spelling, column);
  }

  std::vector<NodePtr> parseArguments() {
    std::vector<NodePtr> arguments;
    do
      arguments.push_back(parseComparison());
    while (accept(","));
    if (!failure && !accept(")"))
      fail(token.empty() ? "expected ')' before the end" : fmt::format("expected ')', found '{}'", token));
    return arguments;
  }

  NodePtr parseCall(std::string_view name, size_t column) {
    std::vector<NodePtr> arguments = parseArguments();
    if (failure)
      return std::make_unique<TensorNode>();
    tokenStart = column; // error messages about the call point to the function's name
    const auto expectArity = [&](size_t arity) {
      if (arguments.size() != arity)
        fail(fmt::format("{} takes {} argument{}, found {}", name, arity, arity == 1 ? "" : "s", arguments.size()));
      return arguments.size() == arity;
    };
    for (const FunctionRow &row : elementwiseFunctions) {
      if (row.name != name)
        continue;
      if (!expectArity(row.arity))
        return std::make_unique<TensorNode>();
      NodePtr node = makeNode(TensorNode::Kind::Elementwise, name, column);
      node->function = row.function;
      node->operands = std::move(arguments);
      return node;
    }
    if (const TensorFunction *function = findTensorFunction(name)) {
      if (!expectArity(function->arrays + function->integers))
        return std::make_unique<TensorNode>();
      NodePtr node = makeNode(TensorNode::Kind::Call, name, column);
      node->call = function;
      node->operands = std::move(arguments);
      return node;
    }
    if (name == "transpose" || name == "softmax") {
      if (!expectArity(1))
        return std::make_unique<TensorNode>();
      NodePtr node =
          makeNode(name == "softmax" ? TensorNode::Kind::Softmax : TensorNode::Kind::Transpose, name, column);
      node->operands = std::move(arguments);
      return node;
    }
    if (name == "peers")
      return expectArity(1) ? makePeers(column, *arguments[0]) : std::make_unique<TensorNode>();
    if (name == "sum" || name == "max" || name == "mean")
      return expectArity(2) ? makeReduction(name, column, std::move(arguments)) : std::make_unique<TensorNode>();
    return fail(fmt::format("unknown function '{}'", name));
  }

  /// The buffers of all ranks together are a separate buffer with its own name.
  NodePtr makePeers(size_t column, const TensorNode &buffer) {
    if (buffer.kind != TensorNode::Kind::Name)
      return fail("peers takes the name of a buffer");
    return makeNode(TensorNode::Kind::Name, peersName(buffer.name), column);
  }

  NodePtr makeReduction(std::string_view name, size_t column, std::vector<NodePtr> arguments) {
    const TensorNode *axis = arguments[1].get();
    const bool isNegative =
        axis->kind == TensorNode::Kind::Elementwise && axis->operands.size() == 1 && axis->name == "-";
    if (isNegative)
      axis = axis->operands[0].get();
    if (axis->kind != TensorNode::Kind::Number || axis->number != std::floor(axis->number) || axis->number > 8)
      return fail(fmt::format("the axis of {} must be a small integer", name));
    NodePtr node = makeNode(TensorNode::Kind::Reduce, name, column);
    node->reduction = name == "sum"   ? TensorNode::Reduction::Sum
                      : name == "max" ? TensorNode::Reduction::Max
                                      : TensorNode::Reduction::Mean;
    node->axis = static_cast<int64_t>(isNegative ? -axis->number : axis->number);
    node->operands.push_back(std::move(arguments[0]));
    return node;
  }

  std::string_view text;
  std::string_view token;
  std::optional<Error> failure;
  size_t position = 0;
  size_t tokenStart = 0;
  unsigned nesting = 0;
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
  Result<NodePtr> tree = Parser(text).run();
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
