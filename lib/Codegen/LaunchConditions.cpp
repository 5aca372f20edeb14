// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/LaunchConditions.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <optional>

using namespace mlir;

namespace tile::codegen {
namespace {

using Text = std::optional<std::string>;

/// How the bits of a value are interpreted.
enum class Sign { Signed, Unsigned };

class ConditionWriter {
public:
  explicit ConditionWriter(KernelOp kernel) : kernel(kernel) {}

  /// Returns, as text, the condition that a scalar is a multiple of a constant.
  Text multiple(Value value, int64_t divisor) {
    return join(binary(number(value, Sign::Signed), "%", std::to_string(divisor)), "==", Text("0"));
  }

  /// Returns, as text, the condition that an i1 is true.
  Text condition(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return join(parameter(argument, Sign::Unsigned), "!=", Text("0"));
    Operation *op = value.getDefiningOp();
    if (!op || !shouldContinue())
      return std::nullopt;
    return llvm::TypeSwitch<Operation *, Text>(op)
        .Case([&](arith::CmpIOp compare) { return comparison(compare); })
        .Case([&](arith::AndIOp both) {
          return join(alternative(condition(both.getLhs())), "and", alternative(condition(both.getRhs())));
        })
        .Case([&](arith::OrIOp either) {
          return join(alternative(condition(either.getLhs())), "or", alternative(condition(either.getRhs())));
        })
        .Case([&](arith::XOrIOp other) {
          const Text text = condition(other.getLhs());
          return text && matchPattern(other.getRhs(), m_One()) ? Text("not (" + *text + ")") : Text();
        })
        .Default([](Operation *) { return Text(); });
  }

private:
  /// Limits the size of the text: if a value is doubled repeatedly, the IR is small, but the text grows exponentially.
  bool shouldContinue() { return values < maxValues && ++values < maxValues; }

  static Text join(const Text &left, StringRef word, const Text &right) {
    if (!left || !right)
      return std::nullopt;
    return *left + " " + word.str() + " " + *right;
  }
  /// The following functions return `text` as an operand of arithmetic, of a comparison, and of `and` or `or`,
  /// respectively. They add parentheses if the operator in `text` might bind less tightly.
  static Text operand(const Text &text) { return text && text->find(' ') != text->npos ? "(" + *text + ")" : text; }
  static Text side(const Text &text) { return text && text->find(" if ") != text->npos ? "(" + *text + ")" : text; }
  static Text alternative(const Text &text) {
    const bool isCompound = text && (text->find(" and ") != text->npos || text->find(" or ") != text->npos);
    return isCompound ? "(" + *text + ")" : text;
  }

  Text comparison(arith::CmpIOp compare) {
    static constexpr StringLiteral words[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
    const auto predicate = compare.getPredicate();
    const StringRef word = words[unsigned(predicate)];
    const bool isEquality = predicate <= arith::CmpIPredicate::ne;
    const bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
    Value left = compare.getLhs(), right = compare.getRhs();
    // Whether a remainder is zero does not depend on how the quotient is rounded, so the operand needs no special
    // treatment.
    auto remainder = withoutExtensions(left).getDefiningOp<arith::RemSIOp>();
    if (remainder && isEquality && matchPattern(withoutExtensions(right), m_Zero()))
      return join(binary(remainder, "%", Sign::Signed), word, Text("0"));
    for (Sign sign : {Sign::Signed, Sign::Unsigned})
      if (isEquality || isUnsigned == (sign == Sign::Unsigned))
        if (Text text = join(side(number(left, sign)), word, side(number(right, sign))))
          return text;
    return std::nullopt;
  }

  /// Returns a value that is zero if and only if `value` is zero.
  static Value withoutExtensions(Value value) {
    while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  /// Returns, as text, the integer that the bits of `value` represent with this signedness.
  Text number(Value value, Sign sign) {
    if (!shouldContinue())
      return std::nullopt;
    const bool isUnsigned = sign == Sign::Unsigned;
    llvm::APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      if (isUnsigned ? !constant.isIntN(63) : !constant.isSignedIntN(64))
        return std::nullopt;
      llvm::SmallString<24> digits;
      constant.toString(digits, 10, !isUnsigned);
      return std::string(digits);
    }
    if (auto argument = dyn_cast<BlockArgument>(value))
      return parameter(argument, sign);
    return llvm::TypeSwitch<Operation *, Text>(value.getDefiningOp())
        .Case([&](HintOp hint) { return number(hint.getSrc(), sign); })
        .Case([&](arith::SelectOp select) {
          const Text taken = join(operand(number(select.getTrueValue(), sign)), "if", condition(select.getCondition()));
          return join(taken, "else", operand(number(select.getFalseValue(), sign)));
        })
        .Case([&](arith::MaxSIOp larger) { return function("max", larger, sign, Sign::Signed); })
        .Case([&](arith::MinSIOp smaller) { return function("min", smaller, sign, Sign::Signed); })
        .Case([&](arith::MaxUIOp larger) { return function("max", larger, sign, Sign::Unsigned); })
        .Case([&](arith::MinUIOp smaller) { return function("min", smaller, sign, Sign::Unsigned); })
        .Case<arith::DivSIOp>([&](auto quotient) { return isUnsigned ? Text() : truncated(quotient, "//"); })
        .Case<arith::RemSIOp>([&](auto remainder) { return isUnsigned ? Text() : truncated(remainder, "%"); })
        .Case([&](arith::ShLIOp shift) { return shifted(shift, "*", sign); })
        .Case([&](arith::ShRSIOp shift) { return isUnsigned ? Text() : shifted(shift, "//", sign); })
        .Case([&](arith::ShRUIOp shift) { return shifted(shift, "//", Sign::Unsigned); })
        .Case([&](arith::ExtSIOp widen) { return isUnsigned ? Text() : number(widen.getIn(), Sign::Signed); })
        .Case([&](arith::ExtUIOp widen) { return number(widen.getIn(), Sign::Unsigned); })
        .Case([&](arith::AddIOp sum) { return binary(sum, "+", sign); })
        .Case([&](arith::SubIOp difference) { return isUnsigned ? Text() : binary(difference, "-", sign); })
        .Case([&](arith::MulIOp product) { return binary(product, "*", sign); })
        .Case([&](arith::RemUIOp remainder) { return binary(remainder, "%", Sign::Unsigned); })
        .Case([&](arith::DivUIOp quotient) { return binary(quotient, "//", Sign::Unsigned); })
        .Case([&](arith::AndIOp mask) { return lowBits(mask, sign); })
        .Default([](Operation *) { return Text(); });
  }

  static Text binary(const Text &left, StringRef word, const Text &right) {
    return join(operand(left), word, operand(right));
  }
  Text binary(Operation *op, StringRef word, Sign sign) {
    return binary(number(op->getOperand(0), sign), word, number(op->getOperand(1), sign));
  }
  Text function(StringRef name, Operation *op, Sign sign, Sign own) {
    if (sign != own)
      return std::nullopt;
    const Text left = number(op->getOperand(0), sign), right = number(op->getOperand(1), sign);
    return left && right ? Text(name.str() + "(" + *left + ", " + *right + ")") : Text();
  }
  /// Returns a quotient or a remainder that is rounded towards zero, for a positive constant divisor; the operators of
  /// manifest expressions round down.
  Text truncated(Operation *op, StringRef word) {
    llvm::APInt divisor;
    const Text value = operand(number(op->getOperand(0), Sign::Signed));
    if (!value || !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive())
      return std::nullopt;
    const std::string by = " " + word.str() + " " + std::to_string(divisor.getSExtValue());
    return *value + by + " if " + *value + " >= 0 else 0 - (0 - " + *value + ")" + by;
  }
  /// Returns a shift by a constant as a multiplication or a division.
  Text shifted(Operation *op, StringRef word, Sign sign) {
    constexpr unsigned most = 31;
    llvm::APInt bits;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&bits)) || bits.ugt(most))
      return std::nullopt;
    return binary(number(op->getOperand(0), sign), word, std::to_string(int64_t(1) << bits.getZExtValue()));
  }

  /// Returns a mask such as n & 15 as a remainder, which is never negative in manifest expressions.
  Text lowBits(arith::AndIOp mask, Sign sign) {
    llvm::APInt bits;
    if (!matchPattern(mask.getRhs(), m_ConstantInt(&bits)) || !bits.isMask() || bits.getActiveBits() > 32)
      return std::nullopt;
    return join(operand(number(mask.getLhs(), sign)), "%", std::to_string(bits.getZExtValue() + 1));
  }

  Text parameter(BlockArgument argument, Sign sign) {
    if (argument.getOwner() != &kernel.getBody().front() || !argument.getType().isIntOrIndex())
      return std::nullopt;
    const unsigned index = argument.getArgNumber();
    const bool isUnsigned = kernel.getArgAttr(index, unsignedAttrName) != nullptr || argument.getType().isInteger(1);
    auto name = kernel.getArgAttrOfType<StringAttr>(index, argNameAttrName);
    if (!name || isUnsigned != (sign == Sign::Unsigned))
      return std::nullopt;
    return name.str();
  }

  static constexpr unsigned maxValues = 200;
  KernelOp kernel;
  unsigned values = 0; ///< number of values that have been visited for the condition
};

} // namespace

/// Calls `function` for each operand of a conjunction, recursively; a condition that is not a conjunction is passed
/// unchanged.
static void forConjuncts(Value condition, llvm::function_ref<void(Value)> function) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    forConjuncts(both.getLhs(), function);
    forConjuncts(both.getRhs(), function);
  } else {
    function(condition);
  }
}

std::vector<std::string> assumedConditions(KernelOp kernel) {
  std::vector<std::string> conditions;
  const auto add = [&](const Text &text) {
    if (text)
      conditions.push_back(*text);
  };
  for (Operation &op : kernel.getBody().front()) {
    if (auto assume = dyn_cast<AssumeOp>(op))
      forConjuncts(assume.getCondition(), [&](Value condition) { add(ConditionWriter(kernel).condition(condition)); });
    auto hint = dyn_cast<HintOp>(op);
    if (hint && hint.getType().isIntOrIndex() && hint.getDivisibility())
      add(ConditionWriter(kernel).multiple(hint.getSrc(), hint.getDivisibility()->front()));
  }
  return conditions;
}

} // namespace tile::codegen
