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

/// Signedness with which the bits of a value are read.
enum class Sign { Signed, Unsigned };

class ConditionWriter {
public:
  explicit ConditionWriter(KernelOp kernel) : kernel(kernel) {}

  /// Returns the text of an i1 condition.
  Text condition(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !goesOn())
      return std::nullopt;
    return llvm::TypeSwitch<Operation *, Text>(op)
        .Case([&](arith::CmpIOp compare) { return comparison(compare); })
        .Case([&](arith::AndIOp both) {
          return join(alternative(condition(both.getLhs())), "and", alternative(condition(both.getRhs())));
        })
        .Case([&](arith::OrIOp either) {
          return join(alternative(condition(either.getLhs())), "or", alternative(condition(either.getRhs())));
        })
        .Default([](Operation *) { return Text(); });
  }

private:
  /// Limits the size of the text: a value that is doubled repeatedly is small in the IR but exponential as text.
  bool goesOn() { return values < mostValues && ++values < mostValues; }

  static Text join(const Text &left, StringRef word, const Text &right) {
    if (!left || !right)
      return std::nullopt;
    return *left + " " + word.str() + " " + *right;
  }
  /// Return an operand of arithmetic, or of `and` and `or`, in parentheses if it is compound.
  static Text operand(const Text &text) { return text && text->find(' ') != text->npos ? "(" + *text + ")" : text; }
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
    // A test for a zero remainder does not depend on the rounding of the quotient.
    if (auto remainder = left.getDefiningOp<arith::RemSIOp>(); remainder && isEquality && matchPattern(right, m_Zero()))
      return join(binary(remainder, "%", Sign::Signed), word, Text("0"));
    for (Sign sign : {Sign::Signed, Sign::Unsigned})
      if (isEquality || isUnsigned == (sign == Sign::Unsigned))
        if (Text text = join(number(left, sign), word, number(right, sign)))
          return text;
    return std::nullopt;
  }

  /// Returns the text of the integer that the bits of the value represent with this signedness.
  Text number(Value value, Sign sign) {
    if (!goesOn())
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

  Text binary(Operation *op, StringRef word, Sign sign) {
    return join(operand(number(op->getOperand(0), sign)), word, operand(number(op->getOperand(1), sign)));
  }

  /// Returns n & 15 as a remainder, which is non-negative in manifest expressions.
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

  static constexpr unsigned mostValues = 200;
  KernelOp kernel;
  unsigned values = 0; ///< number of values of the condition visited so far
};

} // namespace

std::vector<std::string> assumedConditions(KernelOp kernel) {
  std::vector<std::string> conditions;
  for (auto assume : kernel.getBody().front().getOps<AssumeOp>())
    if (Text text = ConditionWriter(kernel).condition(assume.getCondition()))
      conditions.push_back(*text);
  return conditions;
}

} // namespace tile::codegen
