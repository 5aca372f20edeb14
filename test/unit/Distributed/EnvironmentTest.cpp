// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables that launchers leave in the environment.
#include "Distributed/Environment.h"

#include <gtest/gtest.h>
#include <map>

using namespace tile::dist;
using tile::runtime::Result;

namespace {

using Variables = std::map<std::string, std::string>;

Result<Launch> read(Variables variables) {
  const tile_dist_variable get = [](void *user, const char *name) -> const char * {
    const auto &all = *static_cast<Variables *>(user);
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second.c_str();
  };
  return readLaunch(get, &variables);
}

void expectLaunch(const Variables &variables, int rank, int size, int localRank, const char *address) {
  const Result<Launch> launch = read(variables);
  ASSERT_TRUE(launch) << launch.error().message;
  const Launch &found = const_cast<Result<Launch> &>(launch).operator*();
  EXPECT_EQ(found.rank, rank);
  EXPECT_EQ(found.size, size);
  EXPECT_EQ(found.localRank, localRank);
  EXPECT_EQ(found.address, address);
}

std::string failureOf(const Variables &variables) {
  const Result<Launch> launch = read(variables);
  return launch ? "" : launch.error().message;
}

TEST(EnvironmentTest, nothingIsOneRank) {
  expectLaunch({}, 0, 1, 0, "");
}
TEST(EnvironmentTest, torchrun) {
  expectLaunch(
      {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "gpu1"}, {"MASTER_PORT", "29500"}}, 5,
      8, 1, "gpu1:29501");
}
TEST(EnvironmentTest, openMpiOnOneHost) {
  expectLaunch({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}, 1,
               2, 1, "127.0.0.1:29400");
}
TEST(EnvironmentTest, mpichWithoutLocalRank) {
  expectLaunch({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, 1, 2, 1, "127.0.0.1:29400");
}
TEST(EnvironmentTest, slurm) {
  expectLaunch(
      {{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "1"}, {"SLURM_JOB_NODELIST", "gpu[03-07,9],a"}},
      9, 16, 1, "gpu03:29400");
}
TEST(EnvironmentTest, hostLists) {
  EXPECT_EQ(firstHost("one"), "one");
  EXPECT_EQ(firstHost("one,two"), "one");
  EXPECT_EQ(firstHost("gpu[12,14]"), "gpu12");
  EXPECT_EQ(firstHost("gpu[7]"), "gpu7");
  EXPECT_EQ(firstHost(""), "");
}
TEST(EnvironmentTest, wrongNumbers) {
  EXPECT_EQ(failureOf({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), "RANK is 'x'; expected a number");
  EXPECT_EQ(failureOf({{"RANK", "0"}}), "WORLD_SIZE is ''; expected a number");
  EXPECT_EQ(failureOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "-1"}}),
            "LOCAL_RANK is '-1'; expected a number");
  EXPECT_EQ(failureOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1x"}}),
            "MASTER_PORT is '1x'; expected a number");
  EXPECT_EQ(failureOf({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), "RANK is 2 but WORLD_SIZE is 2");
  EXPECT_EQ(failureOf({{"WORLD_SIZE", "2"}}), "WORLD_SIZE is 2 but RANK is not set");
  for (const char *port : {"0", "65535", "99999"})
    EXPECT_EQ(failureOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", port}}),
              std::string("MASTER_PORT is ") + port +
                  "; expected 1 to 65534, since rank 0 listens on the following port");
}
TEST(EnvironmentTest, shellOfASlurmJob) {
  expectLaunch({{"SLURM_NTASKS", "16"}, {"WORLD_SIZE", "1"}}, 0, 1, 0, "");
}

} // namespace
