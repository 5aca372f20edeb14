// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When two kernels have equal values, and why others have not.
#include "Order/RecordOrder.h"

#include <gtest/gtest.h>

using namespace tile;
using order::KernelOrder;
using runtime::Order;

namespace {

std::string ptx(const std::string &instruction) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n  .reg .f32 %f<9>;\n"
         "  .reg .b64 %rd<3>;\n  ld.param.u64 %rd1, [x];\n  ld.global.f32 %f1, [%rd1];\n  ld.global.f32 %f2, "
         "[%rd1+4];\n  " +
         instruction + ";\n  st.global.f32 [%rd1], %f3;\n  ret;\n}\n";
}

const KernelOrder kernel{"program", {"3:4: sum"}, {"0:4 sum"}, false};

Order record(const std::string &instruction, KernelOrder its = kernel, const std::string &assembler = "V13.0.88 -O3") {
  return order::recordOrder(its, ptx(instruction), "k", "sm_90a", assembler);
}

const std::string add = "add.f32 %f3, %f1, %f2", multiplyAdd = "mul.f32 %f4, %f1, %f2;\n  add.f32 %f3, %f4, %f1",
                  exponential = "ex2.approx.f32 %f3, %f1", atomic = "red.global.add.f32 [%rd1], %f2";

TEST(RecordOrder, TheAssemblerCountsWhereItDecides) {
  EXPECT_EQ(record(add).value, record(add, kernel, "V12.8.61 -O3").value);
  EXPECT_EQ(record(add).value, record(add, kernel, "").value);
  for (const std::string &decided : {multiplyAdd, exponential}) {
    EXPECT_EQ(record(decided).value, record(decided).value);
    EXPECT_NE(record(decided).value, record(decided, kernel, "V12.8.61 -O3").value);
    const Order unknown = record(decided, kernel, "");
    EXPECT_EQ(unknown.value, "");
    EXPECT_EQ(unknown.unknown,
              std::vector<std::string>{"the assembler, which approximates or contracts, is not known"});
  }
}

TEST(RecordOrder, AtomicsHaveNoValue) {
  const Order order = record(atomic);
  EXPECT_EQ(order.value, "");
  ASSERT_EQ(order.unknown.size(), 1u);
  EXPECT_EQ(order.unknown.front().substr(0, 29), "unordered: red.global.add.f32");
  EXPECT_NE(explainDifference(order, order), ""); // such an order does not even equal itself
}

// Tensor cores of another generation add in another way.
TEST(RecordOrder, TheTargetCounts) {
  EXPECT_NE(record(add).value, order::recordOrder(kernel, ptx(add), "k", "sm_80", "V13.0.88 -O3").value);
}

TEST(RecordOrder, NegativeNothingIsKnown) {
  KernelOrder lowered = kernel;
  lowered.program.clear();
  EXPECT_EQ(record(add, lowered).unknown, std::vector<std::string>{"the input was not a tile program"});
  const Order broken = record("undefined.f32 %f3, %f9999");
  EXPECT_EQ(broken.value, "");
  ASSERT_EQ(broken.unknown.size(), 1u);
  EXPECT_EQ(broken.unknown.front().substr(0, 26), "the PTX is not understood:");
}

TEST(RecordOrder, Explanations) {
  const Order first = record(add);
  EXPECT_EQ(explainDifference(first, first), "");
  EXPECT_EQ(explainDifference(first, {}), "the second records no order");
  KernelOrder other = kernel;
  other.program = "another";
  EXPECT_EQ(explainDifference(first, record(add, other)),
            "the tile programs differ: the source, the block sizes or other constants");
  other = kernel;
  other.steps = {"3:4: sum of 2"};
  other.keys = {"0:4 sum of 2"};
  EXPECT_EQ(explainDifference(first, record(add, other)), "'3:4: sum' is '3:4: sum of 2' in the second");
  other.steps = {};
  EXPECT_EQ(explainDifference(first, record(add, other)), "only the first has '3:4: sum'");
  other = kernel;
  other.keys = {"0:4 sum of others"};
  EXPECT_EQ(explainDifference(first, record(add, other)), "the elements that a thread adds up differ");
  EXPECT_EQ(explainDifference(first, record("add.rz.f32 %f3, %f1, %f2")), "the floating-point instructions differ");
  EXPECT_EQ(explainDifference(record(atomic), first).substr(0, 33), "the order of the first is unknown");
}

// Which CTA computes which steps is not described, so the code counts.
TEST(RecordOrder, SharedStepsCountByTheirCode) {
  KernelOrder shared = kernel;
  shared.isShared = true;
  EXPECT_EQ(record(add, shared).value, record(add, shared).value);
  EXPECT_NE(record(add, shared).value, record(add).value);
  EXPECT_NE(record("mov.b64 %rd2, %rd1;\n  " + add, shared).value, record(add, shared).value);
  EXPECT_EQ(record("mov.b64 %rd2, %rd1;\n  " + add).value, record(add).value);
}

} // namespace
