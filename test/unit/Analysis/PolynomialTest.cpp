// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the algebra of polynomials by laws on small examples, and overflow of coefficients.
#include "Analysis/Addresses/Polynomial.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

class PolynomialTest : public testing::Test {
protected:
  Polynomial factor(unsigned index) {
    while (block.getNumArguments() <= index)
      block.addArgument(IntegerType::get(&context, 32), UnknownLoc::get(&context));
    return Polynomial(block.getArgument(index));
  }
  std::string print(const Polynomial &number) {
    return number.toString(
        [](Value value) { return std::string(1, char('x' + cast<BlockArgument>(value).getArgNumber())); });
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  Block block;
  Polynomial x = factor(0), y = factor(1), z = factor(2);
};

TEST_F(PolynomialTest, Prints) {
  EXPECT_EQ(print(0), "0");
  EXPECT_EQ(print(Polynomial(0) - 3), "-3");
  EXPECT_EQ(print(x - y * 128 + 1), "x - 128*y + 1");
  EXPECT_EQ(print(x * x * -2 + y * z), "-2*x*x + y*z");
}

TEST_F(PolynomialTest, ComparesByMeaning) {
  EXPECT_TRUE((x + y) * (x - y) == x * x - y * y);
  EXPECT_TRUE((x + 1) * 16 - 16 == x * 16);
  EXPECT_TRUE(x * y == y * x);
  EXPECT_FALSE(x * y == y * y);
  EXPECT_TRUE((x - x).isZero());
}

TEST_F(PolynomialTest, KnowsConstants) {
  EXPECT_EQ(Polynomial(7).getConstant(), 7);
  EXPECT_EQ((x - x + 3).getConstant(), 3);
  EXPECT_EQ((x + 3).getConstant(), std::nullopt);
  EXPECT_EQ((x + 3).getConstantTerm(), 3);
  EXPECT_EQ(x.getSingleFactor(), block.getArgument(0));
  EXPECT_EQ((x * 2).getSingleFactor(), Value());
  EXPECT_EQ((x * x).getSingleFactor(), Value());
}

TEST_F(PolynomialTest, DividesByATerm) {
  auto [quotient, remainder] = (x * y * 32 + x * 7 + y * 16 + 16).divide(y * 16);
  EXPECT_EQ(print(quotient), "2*x + 1");
  EXPECT_EQ(print(remainder), "7*x + 16");
  auto [none, all] = (x * 2).divide(x + 1);
  EXPECT_TRUE(none.isZero() && all == x * 2);
  auto [zero, same] = x.divide(0);
  EXPECT_TRUE(zero.isZero() && same == x);
  auto [quarter, square] = (x * x).divide(x * x * x);
  EXPECT_TRUE(quarter.isZero() && square == x * x);
}

TEST_F(PolynomialTest, PartitionsByFactors) {
  auto [without, with] = (x * y + y + 5 - z).partition([&](Value value) { return value != block.getArgument(0); });
  EXPECT_EQ(print(without), "y + 5 - z");
  EXPECT_EQ(print(with), "x*y");
}

TEST_F(PolynomialTest, OverflowIsNotExact) {
  Polynomial large = Polynomial(std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(large.isExact());
  EXPECT_FALSE((large + 1).isExact());
  EXPECT_FALSE((large * x * 2).isExact());
  EXPECT_FALSE((large + 1 - large - 1).isZero());
  EXPECT_FALSE((large * 2).getConstant());
  Polynomial sum;
  for (unsigned i = 0; i < 100; ++i)
    sum = sum + factor(i);
  EXPECT_FALSE(sum.isExact());
  Polynomial power = x;
  for (unsigned i = 0; i < 100; ++i)
    power = power * power;
  EXPECT_FALSE(power.isExact());
  EXPECT_FALSE(sum == sum);
}

} // namespace
