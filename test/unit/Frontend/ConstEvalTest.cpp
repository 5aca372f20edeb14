// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile-time arithmetic is Python's.

#include "Frontend/Values/ConstEval.h"
#include "Frontend/Syntax/Literals.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile::frontend;

namespace {

Value integer(long long value) {
  return Int128(value);
}

std::string show(const EvalResult &result) {
  return result.value ? repr(*result.value) : "error: " + result.error;
}
std::string op(BinaryOp op, Value a, Value b) {
  return show(evaluate(op, a, b));
}

TEST(ConstEval, DivisionRoundsDown) {
  EXPECT_EQ(op(BinaryOp::FloorDiv, integer(-7), integer(2)), "-4");
  EXPECT_EQ(op(BinaryOp::FloorDiv, integer(7), integer(-2)), "-4");
  EXPECT_EQ(op(BinaryOp::FloorDiv, integer(-7), integer(-2)), "3");
  EXPECT_EQ(op(BinaryOp::Mod, integer(-7), integer(2)), "1");
  EXPECT_EQ(op(BinaryOp::Mod, integer(7), integer(-2)), "-1");
  EXPECT_EQ(op(BinaryOp::Mod, -7.5, 2.0), "0.5");
  EXPECT_EQ(op(BinaryOp::FloorDiv, -7.5, 2.0), "-4.0");
  EXPECT_EQ(op(BinaryOp::Div, integer(7), integer(2)), "3.5");
  EXPECT_EQ(op(BinaryOp::Div, integer(1), integer(0)), "error: division by zero");
  EXPECT_EQ(op(BinaryOp::Mod, 1.0, 0.0), "error: division by zero");
}

TEST(ConstEval, NegativeFloorDivisionWarns) {
  EXPECT_FALSE(evaluate(BinaryOp::FloorDiv, integer(-7), integer(2)).warning.empty());
  EXPECT_TRUE(evaluate(BinaryOp::FloorDiv, integer(7), integer(2)).warning.empty());
}

TEST(ConstEval, OverflowIsAnError) {
  Value largest = maxInt128;
  EXPECT_EQ(op(BinaryOp::Add, largest, integer(1)), "error: the result needs more than 127 bits");
  EXPECT_EQ(op(BinaryOp::Mult, largest, integer(2)), "error: the result needs more than 127 bits");
  Value smallest = Int128(-maxInt128 - 1);
  EXPECT_EQ(op(BinaryOp::FloorDiv, smallest, integer(-1)), "error: the result needs more than 127 bits");
  EXPECT_EQ(op(BinaryOp::Mod, smallest, integer(-1)), "0");
  EXPECT_EQ(show(evaluate(UnaryOp::Minus, smallest)), "error: the result needs more than 127 bits");
  EXPECT_EQ(op(BinaryOp::LShift, integer(1), integer(127)), "error: the result needs more than 127 bits");
  EXPECT_EQ(op(BinaryOp::LShift, integer(1), integer(126)), "85070591730234615865843651857942052864");
  EXPECT_EQ(op(BinaryOp::RShift, integer(-1), integer(500)), "-1");
  EXPECT_EQ(op(BinaryOp::LShift, integer(1), integer(-1)), "error: negative shift count -1");
}

TEST(ConstEval, Powers) {
  EXPECT_EQ(op(BinaryOp::Pow, integer(2), integer(10)), "1024");
  EXPECT_EQ(op(BinaryOp::Pow, integer(2), integer(-1)), "0.5");
  EXPECT_EQ(op(BinaryOp::Pow, integer(0), integer(0)), "1");
  EXPECT_EQ(op(BinaryOp::Pow, integer(-1), integer(1000000001)), "-1");
  EXPECT_EQ(op(BinaryOp::Pow, integer(0), integer(-1)), "error: zero to a negative power");
  EXPECT_EQ(op(BinaryOp::Pow, integer(3), integer(100000000)), "error: the result needs more than 127 bits");
  EXPECT_EQ(op(BinaryOp::Pow, -8.0, 0.5), "error: a negative number to a fractional power");
}

TEST(ConstEval, BooleansAreIntegers) {
  EXPECT_EQ(op(BinaryOp::Add, true, true), "2");
  EXPECT_EQ(op(BinaryOp::BitAnd, true, false), "False");
  EXPECT_EQ(op(BinaryOp::BitOr, true, integer(2)), "3");
  EXPECT_EQ(show(evaluate(UnaryOp::Minus, Value(true))), "-1");
  EXPECT_EQ(show(evaluate(UnaryOp::Invert, integer(5))), "-6");
}

TEST(ConstEval, Comparisons) {
  auto compare = [](CompareOp op, Value a, Value b) { return show(evaluate(op, a, b)); };
  EXPECT_EQ(compare(CompareOp::Eq, integer(1), 1.0), "True");
  EXPECT_EQ(compare(CompareOp::Lt, std::string("a"), std::string("b")), "True");
  EXPECT_EQ(compare(CompareOp::Eq, std::string("1"), integer(1)), "False");
  EXPECT_EQ(compare(CompareOp::Is, NoneValue{}, NoneValue{}), "True");
  EXPECT_EQ(compare(CompareOp::IsNot, integer(0), NoneValue{}), "True");
  EXPECT_EQ(compare(CompareOp::Is, DType(Scalar::Int64), DType(Scalar::Int64)), "True");
  EXPECT_EQ(compare(CompareOp::NotEq, DType(Scalar::Int64), DType(Scalar::UInt64)), "True");
  EXPECT_NE(compare(CompareOp::Lt, NoneValue{}, integer(1)).find("error"), std::string::npos);
}

TEST(ConstEval, TruthAndTypes) {
  EXPECT_EQ(truth(std::string("")), false);
  EXPECT_EQ(truth(Value(NoneValue{})), false);
  EXPECT_EQ(truth(Value(0.5)), true);
  EXPECT_FALSE(truth(Value(DType(Scalar::Int8))));
  EXPECT_EQ(scalarType(integer(2147483647)), DType(Scalar::Int32));
  EXPECT_EQ(scalarType(integer(2147483648)), DType(Scalar::UInt32));
  EXPECT_EQ(scalarType(integer(4294967296)), DType(Scalar::Int64));
  EXPECT_EQ(scalarType(Value(Int128(1) << 63)), DType(Scalar::UInt64));
  EXPECT_FALSE(scalarType(Value(Int128(1) << 64)));
  EXPECT_EQ(scalarType(Value(1e-40)), DType(Scalar::Float64));
  EXPECT_EQ(scalarType(Value(0.0)), DType(Scalar::Float32));
  EXPECT_EQ(scalarType(Value(HUGE_VAL)), DType(Scalar::Float32));
}

} // namespace
