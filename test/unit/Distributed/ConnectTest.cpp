// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invalid input to libtiledist, with ranks as threads on simulated devices: every rank ends with an error that gives
// the reason.
#include "RanksTest.h"

#include <chrono>

namespace {

using ConnectTest = RanksTest;

TEST_F(ConnectTest, ranksDescribeThemselves) {
  const auto results = run(3, 3, unchanged, [](int rank, tile_dist_comm *comm) {
    tile_dist_info info;
    const tile_status status = tile_dist_describe(comm, &info);
    EXPECT_EQ(info.rank, rank);
    EXPECT_EQ(info.size, 3);
    EXPECT_EQ(info.device, rank);
    EXPECT_EQ(info.peer_access, 1);
    EXPECT_EQ(info.nccl_version, 0);
    return status == TILE_OK ? tile_dist_barrier(comm) : status;
  });
  expectAll(results, "ok");
}
TEST_F(ConnectTest, twoRanksOnOneDevice) {
  expectAll(
      run(2, 2, [](int, tile_dist_options &own) { own.device = 3; }, nothing), "ranks 0 and 1 have the same device");
}
TEST_F(ConnectTest, aDeviceThatDoesNotExist) {
  const auto results = run(1, 1, [](int, tile_dist_options &own) { own.device = 99; }, nothing);
  EXPECT_EQ(results[0], "rank 0: connect: device 99 does not exist; this host has 8");
}
TEST_F(ConnectTest, aRankThatNeverConnects) {
  const auto start = std::chrono::steady_clock::now();
  const auto results = run(3, 2, unchanged, nothing);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  expectAll(results, "no answer from rank 2 within 300 ms");
}
TEST_F(ConnectTest, aRankThatLeaves) {
  const auto results = run(
      2, 2, unchanged, [](int rank, tile_dist_comm *comm) { return rank == 1 ? TILE_OK : tile_dist_barrier(comm); });
  EXPECT_EQ(results[0], "rank 0: barrier: no answer from rank 1 within 300 ms");
}
TEST_F(ConnectTest, withoutNccl) {
  const auto missing = [](int, tile_dist_options &own) {
    own.transport = TILE_DIST_NCCL;
    own.nccl_library = "/nowhere/libnccl.so.2";
  };
  expectAll(run(2, 2, missing, nothing), "NCCL not found: /nowhere/libnccl.so.2");
}
TEST_F(ConnectTest, anOldNccl) {
  const auto old = [](int, tile_dist_options &own) {
    own.transport = TILE_DIST_NCCL;
    own.nccl_library = FALSE_NCCL_OLD;
  };
  expectAll(run(2, 2, old, nothing), "is NCCL 2.10.3; 2.19.0 or later is needed");
}
TEST_F(ConnectTest, copiesReplaceAnOldNccl) {
  const auto any = [](int, tile_dist_options &own) {
    own.transport = TILE_DIST_ANY;
    own.nccl_library = FALSE_NCCL_OLD;
  };
  expectAll(run(2, 2, any, nothing), "ok");
}
TEST_F(ConnectTest, anNcclThatOneRankLacks) {
  const auto results = run(
      2, 2,
      [](int rank, tile_dist_options &own) {
        own.transport = TILE_DIST_NCCL;
        own.nccl_library = rank == 0 ? FALSE_NCCL_FAILING : FALSE_NCCL_OLD;
      },
      nothing);
  EXPECT_NE(results[0].find("rank 1 has no usable NCCL"), std::string::npos) << results[0];
  EXPECT_NE(results[1].find("is NCCL 2.10.3"), std::string::npos) << results[1];
}
TEST_F(ConnectTest, anNcclThatFails) {
  const auto failing = [](int, tile_dist_options &own) {
    own.transport = TILE_DIST_NCCL;
    own.nccl_library = FALSE_NCCL_FAILING;
  };
  expectAll(run(2, 2, failing, nothing), "connect: ncclCommInitRank: the network is down (NCCL error 2)");
}
TEST_F(ConnectTest, wrongArguments) {
  tile_dist_comm *comm = nullptr;
  tile_dist_group *group = nullptr;
  EXPECT_EQ(tile_dist_group_create(0, &group), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_group_create: size is 0; expected at least 1");
  EXPECT_EQ(tile_dist_connect("localhost:1", 0, 1, nullptr, &comm), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_connect: 'options' is a null pointer");
  options.transport = tile_dist_transport(7);
  EXPECT_EQ(tile_dist_connect("localhost:1", 0, 1, &options, &comm), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_dist_last_error(), "tile_dist_connect: options.transport 7 does not exist");
  EXPECT_EQ(tile_dist_run(nullptr, nullptr, nullptr, nullptr, nullptr), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_dist_plan_destroy(nullptr), TILE_OK);
}

/// Creates a plan without kernels, which fails when they are looked up, at the latest.
tile_status plan(tile_dist_comm *comm, tile_dist_operation operation, tile_dist_shape shape,
                 tile_dist_form form = TILE_DIST_AUTO) {
  tile_dist_kernels kernels = {};
  tile_dist_plan *made = nullptr;
  return tile_dist_plan_create(comm, operation, &shape, &kernels, form, &made);
}

TEST_F(ConnectTest, plansThatDiffer) {
  const auto results = run(2, 2, unchanged, [](int rank, tile_dist_comm *comm) {
    return plan(comm, TILE_DIST_ALL_GATHER_GEMM, {64, 8, rank == 0 ? 8 : 16, TILE_DIST_BF16});
  });
  EXPECT_EQ(results[0],
            "rank 0: plan_create all_gather_gemm: rank 1 has operation 0, form 0, type 1, 64 x 8 x 16; rank 0 "
            "has operation 0, form 0, type 1, 64 x 8 x 8: all ranks need the same plan");
  EXPECT_NE(results[1].find("rank 0 has operation 0, form 0, type 1, 64 x 8 x 8"), std::string::npos) << results[1];
}
TEST_F(ConnectTest, plansThatAreInvalid) {
  const auto planned = [&](tile_dist_operation operation, tile_dist_shape shape, tile_dist_form form) {
    return run(2, 2, unchanged, [=](int, tile_dist_comm *comm) { return plan(comm, operation, shape, form); });
  };
  constexpr auto gather = TILE_DIST_ALL_GATHER_GEMM;
  expectAll(planned(gather, {63, 8, 8, TILE_DIST_BF16}, TILE_DIST_AUTO),
            "m is 63; expected a multiple of the number of ranks, 2");
  expectAll(planned(gather, {64, 0, 8, TILE_DIST_BF16}, TILE_DIST_AUTO), "n is 0; expected 1 to 2^31 - 1");
  expectAll(planned(gather, {64, 8, 8, tile_dist_type(9)}, TILE_DIST_AUTO), "type 9 does not exist");
  expectAll(planned(gather, {64, 8, 8, TILE_DIST_BF16}, tile_dist_form(9)), "form 9 does not exist");
  expectAll(planned(tile_dist_operation(9), {64, 8, 8, TILE_DIST_BF16}, TILE_DIST_AUTO), "operation 9 does not exist");
  expectAll(planned(gather, {64, 8, 8, TILE_DIST_BF16}, TILE_DIST_AUTO), "kernels.gemm is a null pointer");
  constexpr auto reduce = TILE_DIST_ALL_REDUCE;
  expectAll(planned(reduce, {64, 8, 8, TILE_DIST_F32}, TILE_DIST_AUTO),
            "k is 8; expected 0, since all_reduce multiplies nothing");
  expectAll(planned(reduce, {2, 12, 0, TILE_DIST_F32}, TILE_DIST_AUTO),
            "m * n is 24; expected a multiple of 16, 8 for each rank");
  expectAll(planned(reduce, {2, 8, 0, TILE_DIST_F32}, TILE_DIST_AUTO), "kernels.sum is a null pointer");
}
TEST_F(ConnectTest, aRankWithoutAPlan) {
  const auto results = run(2, 2, unchanged, [](int rank, tile_dist_comm *comm) {
    return rank == 1 ? TILE_OK : plan(comm, TILE_DIST_ALL_GATHER_GEMM, {64, 8, 8, TILE_DIST_BF16});
  });
  EXPECT_NE(results[0].find("no answer from rank 1 within 300 ms"), std::string::npos) << results[0];
}

} // namespace
