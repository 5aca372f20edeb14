// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchanges between ranks that are connected by TCP; threads stand for processes.
#include "Distributed/HostGroup.h"
#include "Distributed/Socket.h"

#include "FreePort.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tile::dist;
using tile::runtime::Result;

namespace {

using namespace std::chrono_literals;

struct Member {
  int rank, size;
};

/// Lets every member join and run `body`, and returns the results.
template <typename Body> std::vector<Result<std::string>> runAll(const std::vector<Member> &members, const Body &body) {
  const std::string address = freeAddress();
  std::vector<Result<std::string>> results(members.size(), std::string());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < members.size(); ++i)
    threads.emplace_back([&, i] {
      Result<std::unique_ptr<HostGroup>> group = joinProcesses(address, members[i].rank, members[i].size, 1000ms);
      results[i] = group ? body(**group) : Result<std::string>(group.error());
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

Result<std::string> tellRank(HostGroup &group) {
  return group.exchange("ranks", std::to_string(group.rank));
}

bool contains(const Result<std::string> &result, const char *text) {
  return !result && result.error().message.find(text) != std::string::npos;
}

TEST(ProcessGroupTest, everyRankGetsAllMessages) {
  for (Result<std::string> result : runAll({{0, 4}, {1, 4}, {2, 4}, {3, 4}}, tellRank))
    EXPECT_EQ(result ? *result : result.error().message, "0123");
}
TEST(ProcessGroupTest, oneRankNeedsNoAddress) {
  Result<std::unique_ptr<HostGroup>> group = joinProcesses("", 0, 1, 1s);
  ASSERT_TRUE(group);
  EXPECT_EQ(*(*group)->exchange("alone", "x"), "x");
}
TEST(ProcessGroupTest, wrongWorldSize) {
  const auto results = runAll({{0, 2}, {1, 3}}, tellRank);
  for (const Result<std::string> &result : results)
    EXPECT_TRUE(contains(result, "rank 1 was started with 3 ranks, rank 0 with 2"));
}
TEST(ProcessGroupTest, twoRanksOfTheSameNumber) {
  const auto results = runAll({{0, 3}, {1, 3}, {1, 3}}, tellRank);
  EXPECT_TRUE(contains(results[0], "rank 1 was started twice or does not exist"));
  EXPECT_TRUE(!results[1] && !results[2]);
}
TEST(ProcessGroupTest, rankThatDoesNotExist) {
  EXPECT_EQ(joinProcesses("localhost:1", 2, 2, 1s).error().message, "rank 2 of 2 ranks does not exist");
  EXPECT_EQ(joinProcesses("localhost:1", 0, 0, 1s).error().code, TILE_ERROR_INVALID_ARGUMENT);
}
TEST(ProcessGroupTest, aRankThatNeverConnects) {
  const auto results = runAll({{0, 3}, {1, 3}}, tellRank);
  EXPECT_TRUE(contains(results[0], "rank 0: connect: 2 of 3 ranks have connected"));
  EXPECT_TRUE(contains(results[1], "rank 1: "));
}
TEST(ProcessGroupTest, aRankThatEnds) {
  const auto results = runAll({{0, 3}, {1, 3}, {2, 3}}, [](HostGroup &group) {
    return group.rank == 2 ? Result<std::string>("") : tellRank(group);
  });
  EXPECT_TRUE(contains(results[0], "rank 0: ranks: rank 2: "));
  EXPECT_TRUE(contains(results[1], "rank 2: "));
}
TEST(ProcessGroupTest, differentCalls) {
  const auto results = runAll(
      {{0, 2}, {1, 2}}, [](HostGroup &group) { return group.exchange(group.rank == 0 ? "barrier" : "plan", ""); });
  for (const Result<std::string> &result : results)
    EXPECT_TRUE(contains(result, "rank 0 is in 'barrier' but rank 1 in 'plan'"));
}
TEST(ProcessGroupTest, strangersAreIgnored) {
  const std::string address = freeAddress();
  std::thread stranger([&] {
    Result<Socket> socket = connectTo(address, std::chrono::steady_clock::now() + 1s);
    if (socket)
      (void)socket->send("GET / HTTP/1.1", std::chrono::steady_clock::now() + 1s);
  });
  std::thread second([&] {
    std::this_thread::sleep_for(100ms);
    Result<std::unique_ptr<HostGroup>> group = joinProcesses(address, 1, 2, 2s);
    EXPECT_TRUE(group);
  });
  Result<std::unique_ptr<HostGroup>> group = joinProcesses(address, 0, 2, 2s);
  EXPECT_TRUE(group) << group.error().message;
  stranger.join();
  second.join();
}

} // namespace
