// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recursive-descent compiler and stack machine for the integer expressions of the manifest (grammar in the header).
//
// The compiler tracks the depth of the stack at every instruction and rejects expressions deeper than the machine's
// fixed stack, and nesting deeper than the parser should recurse; both limits are far above any handwritten expression.
#include "Runtime/Expression.h"

#include "Directives/Functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/ranges.h>

namespace tile::runtime {
namespace {

constexpr unsigned maxStack = 32;
constexpr unsigned maxNesting = 64;

bool isNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool isNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

template <typename T> T floorDivide(T a, T b) {
  const T quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

} // namespace

bool isIdentifier(std::string_view text) {
  return !text.empty() && isNameStart(text[0]) && std::all_of(text.begin(), text.end(), isNameChar);
}

std::string_view evaluationErrorText(EvaluationError error) {
  switch (error) {
  case EvaluationError::None:
    return "no error";
  case EvaluationError::DivisionByZero:
    return "division by zero";
  case EvaluationError::Overflow:
    return "the value does not fit 64 bits";
  case EvaluationError::NegativeOperand:
    return "next_power_of_2 of a negative number";
  }
  return "unknown error";
}

class ExpressionCompiler {
public:
  using Op = Expression::Op;

  ExpressionCompiler(std::string_view text, const ExpressionNames &names) : text(text), names(names) {}

  Result<Expression> run() {
    next();
    parseExpression();
    if (!failure && !token.empty())
      fail(fmt::format("unexpected '{}'", token));
    if (failure)
      return *failure;
    result.source = std::string(text);
    if (result.code.size() == 1 && result.code.front().op == Op::Load)
      result.loaded = result.slots.front();
    std::sort(result.slots.begin(), result.slots.end());
    result.slots.erase(std::unique(result.slots.begin(), result.slots.end()), result.slots.end());
    return std::move(result);
  }

private:
  void fail(std::string message) {
    if (!failure)
      failure = makeError(TILE_ERROR_MANIFEST, "in expression '{}', column {}: {}", text.substr(0, 200), tokenStart + 1,
                          message);
    token = {}; // ends every loop of the parser
    position = text.size();
  }

  void next() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
    tokenStart = position;
    if (position == text.size()) {
      token = {};
      return;
    }
    size_t end = position + 1;
    if (isNameStart(text[position]) || std::isdigit(static_cast<unsigned char>(text[position]))) {
      while (end < text.size() && isNameChar(text[end]))
        ++end;
    } else {
      constexpr std::array<std::string_view, 6> pairs = {"**", "//", "<=", ">=", "==", "!="};
      if (std::find(pairs.begin(), pairs.end(), text.substr(position, 2)) != pairs.end())
        ++end;
    }
    token = text.substr(position, end - position);
    position = end;
  }

  bool accept(std::string_view expected) {
    if (token != expected || failure)
      return false;
    next();
    return true;
  }

  void expect(std::string_view expected) {
    if (!accept(expected))
      fail(token.empty() ? fmt::format("expected '{}' before the end", expected)
                         : fmt::format("expected '{}', found '{}'", expected, token));
  }

  size_t emit(Op op, int64_t operand, int stackEffect) {
    depth += stackEffect;
    if (depth > static_cast<int>(maxStack))
      fail(fmt::format("needs more than {} intermediate values", maxStack));
    result.code.push_back({op, operand});
    return result.code.size() - 1;
  }

  void patch(size_t jump) { result.code[jump].operand = static_cast<int64_t>(result.code.size()); }

  // `x if c else y` must evaluate c before x, so the code of x is removed and appended after that of c.
  void parseExpression() {
    if (++nesting > maxNesting)
      return fail(fmt::format("nested deeper than {} levels", maxNesting));
    const size_t start = result.code.size();
    const int depthBefore = depth;
    parseOr();
    if (accept("if"))
      parseConditional(start, depthBefore);
    --nesting;
  }

  void parseConditional(size_t start, int depthBefore) {
    std::vector<Expression::Instruction> value(result.code.begin() + start, result.code.end());
    result.code.resize(start);
    depth = depthBefore;
    parseOr();
    const size_t toElse = emit(Op::JumpIfFalse, 0, -1);
    const int64_t shift = static_cast<int64_t>(result.code.size()) - static_cast<int64_t>(start);
    for (Expression::Instruction &instruction : value) {
      if (instruction.op >= Op::Jump)
        instruction.operand += shift;
      result.code.push_back(instruction);
    }
    const size_t toEnd = emit(Op::Jump, 0, 0);
    patch(toElse);
    expect("else");
    parseExpression();
    patch(toEnd);
  }

  void parseOr() {
    parseAnd();
    while (accept("or")) {
      const size_t jump = emit(Op::JumpIfTrueKeep, 0, -1);
      parseAnd();
      patch(jump);
    }
  }

  void parseAnd() {
    parseNot();
    while (accept("and")) {
      const size_t jump = emit(Op::JumpIfFalseKeep, 0, -1);
      parseNot();
      patch(jump);
    }
  }

  void parseNot() {
    unsigned count = 0;
    while (accept("not"))
      ++count;
    parseComparison();
    if (count > 0)
      emit(count % 2 == 1 ? Op::Not : Op::Truth, 0, 0);
  }

  void parseComparison() {
    static constexpr std::pair<std::string_view, Op> operators[] = {{"<", Op::Less},    {"<=", Op::LessEqual},
                                                                    {">", Op::Greater}, {">=", Op::GreaterEqual},
                                                                    {"==", Op::Equal},  {"!=", Op::NotEqual}};
    parseSum();
    for (const auto &[spelling, op] : operators) {
      if (!accept(spelling))
        continue;
      parseSum();
      emit(op, 0, -1);
      return;
    }
  }

  void parseSum() {
    parseTerm();
    while (!failure && (token == "+" || token == "-")) {
      const Op op = token == "+" ? Op::Add : Op::Subtract;
      next();
      parseTerm();
      emit(op, 0, -1);
    }
  }

  void parseTerm() {
    parseUnary();
    while (!failure && (token == "*" || token == "/" || token == "//" || token == "%")) {
      const Op op = token == "*" ? Op::Multiply : token == "%" ? Op::Modulo : Op::Divide;
      next();
      parseUnary();
      emit(op, 0, -1);
    }
  }

  void parseUnary() {
    unsigned negations = 0;
    while (!failure && (token == "-" || token == "+")) {
      negations += token == "-";
      next();
    }
    parsePrimary();
    if (accept("**")) { // binds tighter than a preceding sign, but not than a following one
      if (++nesting > maxNesting)
        return fail(fmt::format("nested deeper than {} levels", maxNesting));
      parseUnary();
      --nesting;
      emit(Op::Power, 0, -1);
    }
    for (; negations > 0 && !failure; --negations)
      emit(Op::Negate, 0, 0);
  }

  void parsePrimary() {
    if (failure)
      return;
    if (token.empty())
      return fail("expected a value before the end");
    if (accept("(")) {
      parseExpression();
      return expect(")");
    }
    if (std::isdigit(static_cast<unsigned char>(token[0])))
      return parseInteger();
    if (!isNameStart(token[0]))
      return fail(fmt::format("unexpected '{}'", token));
    if (token == "True" || token == "False") {
      emit(Op::Constant, token == "True", 1);
      return next();
    }
    const std::string_view name = token;
    const size_t nameStart = tokenStart;
    next();
    if (token == "(")
      return parseCall(name, nameStart);
    parseName(name, nameStart);
  }

  void parseInteger() {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error == std::errc::result_out_of_range)
      return fail(fmt::format("{} does not fit 64 bits", token));
    if (error != std::errc() || end != token.data() + token.size())
      return fail(fmt::format("'{}' is not an integer", token));
    const bool isWide = value > INT64_MAX;
    emit(isWide ? Op::WideConstant : Op::Constant, static_cast<int64_t>(isWide ? result.wideConstants.size() : value),
         1);
    if (isWide)
      result.wideConstants.push_back(value);
    next();
  }

  void parseName(std::string_view name, size_t nameStart) {
    for (const auto &[constant, value] : names.constants)
      if (constant == name) {
        emit(Op::Constant, value, 1);
        return;
      }
    for (size_t i = 0; i < names.variables.size(); ++i) {
      if (names.variables[i].name != name)
        continue;
      if (!names.variables[i].isInteger) {
        tokenStart = nameStart;
        return fail(fmt::format("'{}' is not an integer parameter", name));
      }
      result.slots.push_back(static_cast<unsigned>(i));
      emit(Op::Load, static_cast<int64_t>(i), 1);
      return;
    }
    tokenStart = nameStart;
    fail(fmt::format("'{}' is neither an integer parameter nor an integer constant of the kernel", name));
  }

  void parseCall(std::string_view name, size_t nameStart) {
    static constexpr struct {
      std::string_view name;
      Op op;
      unsigned arity;
      bool variadic;
    } functions[] = {{"cdiv", Op::Ceildiv, 2, false},
                     {"min", Op::Minimum, 2, true},
                     {"max", Op::Maximum, 2, true},
                     {"next_power_of_2", Op::NextPowerOf2, 1, false}};
    static_assert(directives::areListed(functions, directives::integerFunctions));
    for (const auto &function : functions) {
      if (function.name != name)
        continue;
      next();
      parseExpression();
      unsigned count = 1;
      for (; accept(","); ++count) {
        parseExpression();
        emit(function.op, 0, -1);
      }
      expect(")");
      if (!failure && (count < function.arity || (count > function.arity && !function.variadic)))
        return fail(fmt::format("{} takes {} argument{}, found {}", name, function.arity,
                                function.variadic     ? "s or more"
                                : function.arity == 1 ? ""
                                                      : "s",
                                count));
      if (function.arity == 1)
        emit(function.op, 0, 0);
      return;
    }
    tokenStart = nameStart;
    fail(fmt::format("unknown function '{}'; expected one of {}", name, fmt::join(directives::integerFunctions, ", ")));
  }

  std::string_view text;
  const ExpressionNames &names;
  Expression result;
  std::optional<Error> failure;
  std::string_view token;
  size_t position = 0;
  size_t tokenStart = 0;
  int depth = 0;
  unsigned nesting = 0;
};

Result<Expression> Expression::compile(std::string_view text, const ExpressionNames &names) {
  return ExpressionCompiler(text, names).run();
}

/// Computes base ** exponent by squaring; returns false on overflow.
template <typename T> static bool power(T base, T exponent, T &result) {
  result = 1;
  for (bool overflows = false; exponent > 0; exponent >>= 1) {
    if (exponent & 1 && (overflows || __builtin_mul_overflow(result, base, &result)))
      return false;
    overflows = overflows || __builtin_mul_overflow(base, base, &base);
  }
  return true;
}

/// Executes one arithmetic instruction on the top of the stack.
template <typename T> EvaluationError Expression::apply(Op op, T *stack, unsigned &depth) {
  T &top = stack[depth - 1];
  if (op == Op::Not || op == Op::Truth) {
    top = (top != 0) == (op == Op::Truth);
    return EvaluationError::None;
  }
  if (op == Op::Negate)
    return __builtin_sub_overflow(T(0), top, &top) ? EvaluationError::Overflow : EvaluationError::None;
  if (op == Op::NextPowerOf2) {
    if (top < 0)
      return EvaluationError::NegativeOperand;
    T power = 1;
    for (bool overflows = false; power < top;)
      if ((overflows = __builtin_mul_overflow(power, T(2), &power)))
        return EvaluationError::Overflow;
    top = power;
    return EvaluationError::None;
  }
  const T b = stack[--depth];
  T &a = stack[depth - 1];
  bool overflow = false;
  switch (op) {
  case Op::Add:
    overflow = __builtin_add_overflow(a, b, &a);
    break;
  case Op::Subtract:
    overflow = __builtin_sub_overflow(a, b, &a);
    break;
  case Op::Multiply:
    overflow = __builtin_mul_overflow(a, b, &a);
    break;
  case Op::Divide:
  case Op::Modulo:
  case Op::Ceildiv: {
    if (b == 0)
      return EvaluationError::DivisionByZero;
    if (b == -1) { // the quotient of the smallest integer overflows
      overflow = __builtin_sub_overflow(T(0), a, &a) && op != Op::Modulo;
      a = op == Op::Modulo ? T(0) : a;
      break;
    }
    const T quotient = floorDivide(a, b), remainder = a % b; // the remainder has the sign of a
    const bool hasOtherSign = remainder != 0 && (remainder < 0) != (b < 0);
    a = op == Op::Divide   ? quotient
        : op == Op::Modulo ? remainder + (hasOtherSign ? b : 0)
                           : quotient + (remainder != 0);
    break;
  }
  case Op::Power:
    if (b < 0)
      return EvaluationError::NegativeOperand;
    overflow = !power(a, b, a);
    break;
  case Op::Minimum:
    a = std::min(a, b);
    break;
  case Op::Maximum:
    a = std::max(a, b);
    break;
  case Op::Less:
    a = a < b;
    break;
  case Op::LessEqual:
    a = a <= b;
    break;
  case Op::Greater:
    a = a > b;
    break;
  case Op::GreaterEqual:
    a = a >= b;
    break;
  case Op::Equal:
    a = a == b;
    break;
  case Op::NotEqual:
    a = a != b;
    break;
  default:
    assert(false && "not an arithmetic instruction");
  }
  return overflow ? EvaluationError::Overflow : EvaluationError::None;
}

Evaluation Expression::evaluate(std::span<const int64_t> slots) const {
  if (loaded) // fast path: most sizes and strides are a parameter
    return {slots[*loaded], EvaluationError::None};
  int64_t value = 0;
  const EvaluationError error = run(slots, value);
  return {value, error};
}

WideEvaluation Expression::evaluateWide(std::span<const WideInteger> slots) const {
  WideInteger value = 0;
  const EvaluationError error = run(slots, value);
  return {value, error};
}

template <typename T> EvaluationError Expression::run(std::span<const T> values, T &result) const {
  std::array<T, maxStack> stack;
  unsigned depth = 0;
  for (size_t pc = 0; pc < code.size();) {
    const Instruction instruction = code[pc++];
    switch (instruction.op) {
    case Op::Constant:
      stack[depth++] = instruction.operand;
      break;
    case Op::WideConstant:
      if constexpr (sizeof(T) < sizeof(WideInteger))
        return EvaluationError::Overflow;
      stack[depth++] = static_cast<T>(wideConstants[static_cast<size_t>(instruction.operand)]);
      break;
    case Op::Load:
      stack[depth++] = values[static_cast<size_t>(instruction.operand)];
      break;
    case Op::Jump:
      pc = static_cast<size_t>(instruction.operand);
      break;
    case Op::JumpIfFalse:
      if (stack[--depth] == 0)
        pc = static_cast<size_t>(instruction.operand);
      break;
    case Op::JumpIfFalseKeep:
    case Op::JumpIfTrueKeep:
      if ((stack[depth - 1] != 0) == (instruction.op == Op::JumpIfTrueKeep))
        pc = static_cast<size_t>(instruction.operand);
      else
        --depth;
      break;
    default:
      if (EvaluationError error = apply(instruction.op, stack.data(), depth); error != EvaluationError::None)
        return error;
    }
  }
  assert(depth == 1 && "an expression leaves one value");
  result = stack[0];
  return EvaluationError::None;
}

} // namespace tile::runtime
