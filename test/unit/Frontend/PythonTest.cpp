// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of constants give Python's results.

#include "Frontend/Values/Python.h"
#include "Frontend/Values/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile::frontend;

namespace {

Value integer(long long value) {
  return Int128(value);
}

TEST(Python, Functions) {
  auto call = [](std::string_view name, std::vector<Value> arguments) {
    std::optional<Value> result = callPython(name, arguments);
    return result ? repr(*result) : "none";
  };
  EXPECT_EQ(call("min", {integer(3), 2.5, integer(4)}), "2.5");
  EXPECT_EQ(call("max", {integer(3), true}), "3");
  EXPECT_EQ(call("abs", {-2.5}), "2.5");
  EXPECT_EQ(call("cdiv", {integer(7), integer(2)}), "4");
  EXPECT_EQ(call("cdiv", {integer(7), integer(0)}), "none");
  EXPECT_EQ(call("next_power_of_2", {integer(17)}), "32");
  EXPECT_EQ(call("next_power_of_2", {integer(16)}), "16");
  EXPECT_EQ(call("math.log2", {integer(8)}), "3.0");
  EXPECT_EQ(call("round", {2.5}), "2");
  EXPECT_EQ(call("nothing", {integer(1)}), "none");
  EXPECT_EQ(call("min", {}), "none");
  EXPECT_EQ(call("cdiv", {integer(7)}), "none");
}

TEST(Python, Conversions) {
  EXPECT_EQ(repr(*toInteger(-2.9).value), "-2");
  EXPECT_EQ(toInteger(HUGE_VAL).error, "cannot convert the float inf to an integer");
  EXPECT_EQ(repr(*toFloat(std::string("-inf")).value), "-inf");
  EXPECT_EQ(toFloat(std::string("x")).error, "cannot convert the string 'x' to a float");
  EXPECT_EQ(applyReal(std::log2, integer(-1), "log2").error, "log2 is not defined for the integer -1");
}

} // namespace
