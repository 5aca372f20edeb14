// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The promotion table, case by case.

#include "Frontend/Syntax/Types.h"

#include <gtest/gtest.h>

using namespace tile::frontend;

namespace {

std::string common(const char *left, const char *right, bool isDivision = false) {
  auto operand = [](std::string_view text) {
    bool isWeak = text.starts_with("weak ");
    return OperandType{*dtypeByName(isWeak ? text.substr(5) : text), isWeak};
  };
  std::string error;
  std::optional<DType> type = promote(operand(left), operand(right), isDivision, error);
  return type ? toString(*type) : "error";
}

TEST(Promotion, WeakOperandsFollow) {
  EXPECT_EQ(common("fp16", "weak fp32"), "fp16");
  EXPECT_EQ(common("weak int32", "int8"), "int8");
  EXPECT_EQ(common("int8", "weak fp32"), "fp32");
  EXPECT_EQ(common("weak int1", "uint8"), "uint8");
  EXPECT_EQ(common("int1", "weak int32"), "int32");
  EXPECT_EQ(common("fp16", "weak int32", true), "fp32");
  EXPECT_EQ(common("bf16", "weak fp32", true), "fp32");
  EXPECT_EQ(common("fp8e5", "weak fp32"), "fp8e5");
}

TEST(Promotion, Floats) {
  EXPECT_EQ(common("fp64", "fp16"), "fp64");
  EXPECT_EQ(common("fp16", "fp32"), "fp32");
  EXPECT_EQ(common("fp16", "bf16"), "fp16");
  EXPECT_EQ(common("fp16", "int64"), "fp16");
  EXPECT_EQ(common("fp16", "fp16", true), "fp32");
  EXPECT_EQ(common("bf16", "bf16"), "bf16");
  EXPECT_EQ(common("bf16", "bf16", true), "fp32");
  EXPECT_EQ(common("bf16", "int32"), "fp32");
  EXPECT_EQ(common("bf16", "fp8e5"), "fp32");
  EXPECT_EQ(common("fp8e5", "fp8e5"), "fp8e5");
  EXPECT_EQ(common("fp8e5", "fp8e4nv"), "fp16");
  EXPECT_EQ(common("fp8e5", "int32"), "error");
}

TEST(Promotion, Integers) {
  EXPECT_EQ(common("int32", "int64"), "int64");
  EXPECT_EQ(common("int32", "uint32"), "uint32");
  EXPECT_EQ(common("uint32", "int64"), "int64");
  EXPECT_EQ(common("int8", "uint16"), "uint16");
  EXPECT_EQ(common("uint8", "int32"), "int32");
  EXPECT_EQ(common("int32", "uint32", true), "error");
  EXPECT_EQ(common("int1", "int1"), "int1");
}

TEST(Types, NamesAndRanges) {
  for (const char *name : {"fp16", "f16", "float16", "half"})
    EXPECT_EQ(dtypeByName(name), DType(Scalar::Float16));
  EXPECT_EQ(dtypeByName("f8e4m3"), dtypeByName("float8e4nv"));
  EXPECT_FALSE(dtypeByName("fp12"));
  EXPECT_TRUE(minValue(Scalar::Int8) == -128 && maxValue(Scalar::Int8) == 127);
  EXPECT_TRUE(minValue(Scalar::Int1) == 0 && maxValue(Scalar::Int1) == 1);
  EXPECT_TRUE(maxValue(Scalar::UInt64) == (static_cast<__int128>(1) << 64) - 1);
  EXPECT_EQ(shortName(DType(Scalar::BFloat16, true)), "ptr<bf16>");
}

} // namespace
