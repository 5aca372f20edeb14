// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans of mixtures of experts that are rejected. test/Distributed runs valid ones.
#include "RanksTest.h"

namespace {

class MoePlanTest : public RanksTest {
protected:
  static constexpr tile_dist_moe_shape usual = {16, 64, 32, 4, 2, 0, TILE_DIST_BF16};

  /// Creates a plan without kernels on two ranks, and returns their messages.
  std::vector<std::string> plan(const std::function<void(int, tile_dist_moe_shape &)> &change,
                                tile_dist_form form = TILE_DIST_AUTO) {
    return run(2, 2, unchanged, [&](int rank, tile_dist_comm *comm) {
      tile_dist_moe_shape shape = usual;
      change(rank, shape);
      const tile_dist_moe_kernels kernels = {};
      tile_dist_plan *made = nullptr;
      return tile_dist_moe_plan_create(comm, &shape, &kernels, form, &made);
    });
  }
};

TEST_F(MoePlanTest, shapesThatDiffer) {
  const auto results = plan([](int rank, tile_dist_moe_shape &shape) { shape.tokens = 16 + rank; });
  EXPECT_EQ(
      results[0],
      "rank 0: moe_plan_create: rank 1 has form 0, type 1, 17 tokens, hidden 64, width 32, 4 experts, top_k 2, "
      "capacity 0; rank 0 has form 0, type 1, 16 tokens, hidden 64, width 32, 4 experts, top_k 2, capacity 0: all "
      "ranks need the same plan");
  EXPECT_NE(results[1].find("rank 0 has form 0, type 1, 16 tokens"), std::string::npos) << results[1];
}
TEST_F(MoePlanTest, shapesThatAreInvalid) {
  using Shape = tile_dist_moe_shape;
  expectAll(plan([](int, Shape &shape) { shape.experts = 5; }),
            "experts is 5; expected a multiple of the number of ranks, 2");
  expectAll(plan([](int, Shape &shape) { shape.hidden = 60; }), "hidden is 60; expected a multiple of 8");
  expectAll(plan([](int, Shape &shape) { shape.width = 4; }), "width is 4; expected a multiple of 8");
  expectAll(plan([](int, Shape &shape) { shape.tokens = 0; }), "tokens is 0; expected 1 to 2^31 - 1");
  expectAll(plan([](int, Shape &shape) { shape.top_k = 6; }), "top_k is 6; expected at most the number of experts, 4");
  expectAll(plan([](int, Shape &shape) { shape.capacity = -1; }), "capacity is -1; expected at least 0");
  expectAll(plan([](int, Shape &shape) { shape.tokens = int64_t(1) << 29; }),
            "2 ranks with 536870912 tokens and top_k 2: expected less than 2^31 pairs");
  expectAll(plan([](int, Shape &shape) { shape.type = tile_dist_type(9); }), "type 9 does not exist");
  expectAll(plan([](int, Shape &) {}, tile_dist_form(9)), "form 9 does not exist");
  expectAll(plan([](int, Shape &) {}), "kernels.route is a null pointer; this form needs it");
}
TEST_F(MoePlanTest, anInvalidShapeOfOneRank) {
  const auto results = plan([](int rank, tile_dist_moe_shape &shape) { shape.top_k = rank == 0 ? 2 : 0; });
  EXPECT_EQ(results[0], "rank 0: moe_plan_create: the plan of rank 1 is invalid");
  EXPECT_EQ(results[1], "rank 1: moe_plan_create: top_k is 0; expected 1 to 2^31 - 1");
}
TEST_F(MoePlanTest, aRankWithAnotherPlan) {
  const auto results = run(2, 2, unchanged, [](int rank, tile_dist_comm *comm) {
    tile_dist_plan *made = nullptr;
    const tile_dist_moe_shape shape = usual;
    const tile_dist_moe_kernels ofExperts = {};
    const tile_dist_shape gemm = {64, 8, 8, TILE_DIST_BF16};
    const tile_dist_kernels ofGemm = {};
    return rank == 0 ? tile_dist_moe_plan_create(comm, &shape, &ofExperts, TILE_DIST_AUTO, &made)
                     : tile_dist_plan_create(comm, TILE_DIST_ALL_GATHER_GEMM, &gemm, &ofGemm, TILE_DIST_AUTO, &made);
  });
  expectAll(results, "moe_plan_create");
}
TEST_F(MoePlanTest, backwardPassOfOneRank) {
  const auto results = run(2, 2, unchanged, [](int rank, tile_dist_comm *comm) {
    const tile_dist_moe_shape shape = usual;
    tile_dist_moe_kernels kernels = {};
    // The call fails before it uses this handle.
    kernels.expand_gradient = rank == 0 ? nullptr : reinterpret_cast<tile_kernel *>(8);
    tile_dist_plan *made = nullptr;
    return tile_dist_moe_plan_create(comm, &shape, &kernels, TILE_DIST_AUTO, &made);
  });
  expectAll(results, "capacity 0, kernels for a backward pass");
  expectAll(results, "all ranks need the same plan");
}
TEST_F(MoePlanTest, nullPointers) {
  tile_dist_plan *made = nullptr;
  tile_dist_moe_info info;
  const tile_dist_moe_operands operands = {};
  EXPECT_EQ(tile_dist_moe_plan_create(nullptr, &usual, nullptr, TILE_DIST_AUTO, &made), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_moe_plan_create: 'comm' is a null pointer");
  EXPECT_EQ(tile_dist_moe_run(nullptr, nullptr, &operands), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_moe_run: 'plan' is a null pointer");
  const tile_dist_moe_gradients gradients = {};
  EXPECT_EQ(tile_dist_moe_backward(nullptr, nullptr, &gradients), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_moe_backward: 'plan' is a null pointer");
  EXPECT_EQ(tile_dist_moe_describe(nullptr, &info), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_moe_describe: 'plan' is a null pointer");
}

} // namespace
