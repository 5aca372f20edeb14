// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiler and stack machine for the integer expressions of the manifest.
//
// The compiler tracks the depth of the stack at every instruction and rejects expressions deeper than the machine's
// fixed stack, a limit far above any handwritten expression.
#include "Runtime/Expression.h"

#include "Directives/ExpressionTree.h"
#include "Directives/Functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/ranges.h>

namespace tile::runtime {

using directives::ExpressionTree;

namespace {

constexpr unsigned maxStack = 32;

template <typename T> T floorDivide(T a, T b) {
  const T quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

} // namespace

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
    const directives::ParsedExpression parsed = directives::parseExpression(text);
    if (!parsed)
      return makeError(TILE_ERROR_MANIFEST, "{}", parsed.error);
    compile(parsed.tree);
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
  void fail(const ExpressionTree &place, std::string_view message) {
    if (!failure)
      failure = makeError(TILE_ERROR_MANIFEST, "{}", directives::expressionError(text, place.begin, message));
  }

  size_t emit(const ExpressionTree &place, Op op, int64_t operand, int stackEffect) {
    depth += stackEffect;
    if (depth > static_cast<int>(maxStack))
      fail(place, fmt::format("needs more than {} intermediate values", maxStack));
    result.code.push_back({op, operand});
    return result.code.size() - 1;
  }

  void patch(size_t jump) { result.code[jump].operand = static_cast<int64_t>(result.code.size()); }

  void compile(const ExpressionTree &tree) {
    if (failure)
      return;
    switch (tree.kind) {
    case ExpressionTree::Kind::Number:
      return compileInteger(tree);
    case ExpressionTree::Kind::Name:
      return compileName(tree);
    case ExpressionTree::Kind::Operator:
      return compileOperator(tree);
    case ExpressionTree::Kind::Call:
      return compileCall(tree);
    case ExpressionTree::Kind::List:
    case ExpressionTree::Kind::Tuple:
    case ExpressionTree::Kind::Element:
    case ExpressionTree::Kind::Slice:
      return fail(tree, "integers have no lists and no elements");
    }
  }

  void compileOperator(const ExpressionTree &tree) {
    static constexpr struct {
      std::string_view sign;
      Op op;
    } binary[] = {{"+", Op::Add},        {"-", Op::Subtract}, {"*", Op::Multiply},      {"/", Op::Divide},
                  {"//", Op::Divide},    {"%", Op::Modulo},   {"**", Op::Power},        {"<", Op::Less},
                  {"<=", Op::LessEqual}, {">", Op::Greater},  {">=", Op::GreaterEqual}, {"==", Op::Equal},
                  {"!=", Op::NotEqual}};
    if (tree.text == "if")
      return compileConditional(tree);
    compile(tree.operands[0]);
    if (tree.operands.size() == 1) {
      emit(tree, tree.text == "not" ? Op::Not : Op::Negate, 0, 0);
      return;
    }
    if (tree.text == "and" || tree.text == "or") {
      const size_t jump = emit(tree, tree.text == "or" ? Op::JumpIfTrueKeep : Op::JumpIfFalseKeep, 0, -1);
      compile(tree.operands[1]);
      return patch(jump);
    }
    const auto *row =
        std::find_if(std::begin(binary), std::end(binary), [&](const auto &known) { return known.sign == tree.text; });
    if (row == std::end(binary))
      return fail(tree, fmt::format("'{}' is not an operator of integers", tree.text));
    compile(tree.operands[1]);
    emit(tree, row->op, 0, -1);
  }

  void compileConditional(const ExpressionTree &tree) {
    compile(tree.operands[0]);
    const size_t toElse = emit(tree, Op::JumpIfFalse, 0, -1);
    const int depthBefore = depth;
    compile(tree.operands[1]);
    const size_t toEnd = emit(tree, Op::Jump, 0, 0);
    patch(toElse);
    depth = depthBefore;
    compile(tree.operands[2]);
    patch(toEnd);
  }

  void compileInteger(const ExpressionTree &tree) {
    const std::string &digits = tree.text;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      return fail(tree, fmt::format("{} does not fit 64 bits", digits));
    if (error != std::errc() || end != digits.data() + digits.size())
      return fail(tree, fmt::format("'{}' is not an integer", digits));
    const bool isWide = value > INT64_MAX;
    emit(tree, isWide ? Op::WideConstant : Op::Constant,
         static_cast<int64_t>(isWide ? result.wideConstants.size() : value), 1);
    if (isWide)
      result.wideConstants.push_back(value);
  }

  void compileName(const ExpressionTree &tree) {
    const std::string &name = tree.text;
    if (name == "True" || name == "False") {
      emit(tree, Op::Constant, name == "True", 1);
      return;
    }
    for (const auto &[constant, value] : names.constants)
      if (constant == name) {
        emit(tree, Op::Constant, value, 1);
        return;
      }
    for (size_t i = 0; i < names.variables.size(); ++i) {
      if (names.variables[i].name != name)
        continue;
      if (!names.variables[i].isInteger)
        return fail(tree, fmt::format("'{}' is not an integer parameter", name));
      result.slots.push_back(static_cast<unsigned>(i));
      emit(tree, Op::Load, static_cast<int64_t>(i), 1);
      return;
    }
    fail(tree, fmt::format("'{}' is neither an integer parameter nor an integer constant of the kernel", name));
  }

  void compileCall(const ExpressionTree &tree) {
    static constexpr struct {
      std::string_view name;
      Op op;
      unsigned arity;
      bool variadic;
    } functions[] = {{"cdiv", Op::Ceildiv, 2, false},
                     {"min", Op::Minimum, 2, true},
                     {"max", Op::Maximum, 2, true},
                     {"next_power_of_2", Op::NextPowerOf2, 1, false}};
    static_assert(directives::areListed(functions, directives::integerFunctions, [](auto &row) { return row.arity; }));
    const auto *function = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const auto &known) { return known.name == tree.text; });
    if (function == std::end(functions))
      return fail(tree, fmt::format("unknown function '{}'; expected one of {}", tree.text,
                                    fmt::join(directives::namesOf(directives::integerFunctions), ", ")));
    const size_t count = tree.operands.size();
    if (count < function->arity || (count > function->arity && !function->variadic))
      return fail(tree, fmt::format("{} takes {} argument{}, found {}", tree.text, function->arity,
                                    function->variadic     ? "s or more"
                                    : function->arity == 1 ? ""
                                                           : "s",
                                    count));
    for (const ExpressionTree &argument : tree.operands) {
      if (!argument.keyword.empty())
        return fail(argument, fmt::format("{} has no parameter '{}'", tree.text, argument.keyword));
      compile(argument);
      if (&argument != &tree.operands.front())
        emit(tree, function->op, 0, -1);
    }
    if (function->arity == 1)
      emit(tree, function->op, 0, 0);
  }

  std::string_view text;
  const ExpressionNames &names;
  Expression result;
  std::optional<Error> failure;
  int depth = 0;
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
  if (op == Op::Not) {
    top = top == 0;
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
