// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchanges between ranks that are threads.
#include "Distributed/HostGroup.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tile::dist;
using tile::runtime::Error;
using tile::runtime::Result;

namespace {

using namespace std::chrono_literals;

/// Runs `body` in a thread for each rank, and returns the results of the exchanges.
template <typename Body> std::vector<Result<std::string>> exchangeAll(ThreadMeeting &meeting, const Body &body) {
  std::vector<Result<std::string>> results(meeting.messages.size(), std::string());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < int(results.size()); ++rank)
    threads.emplace_back([&, rank] {
      Result<std::unique_ptr<HostGroup>> group = joinThreads(meeting, rank, 200ms);
      if (group)
        results[size_t(rank)] = body(**group);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

TEST(ThreadGroupTest, everyRankGetsAllMessages) {
  ThreadMeeting meeting(3);
  const auto results = exchangeAll(meeting, [](HostGroup &group) {
    for (int i = 0; i < 100; ++i)
      if (Result<std::string> all = group.exchange("round", std::string(1, char('a' + group.rank))); !all)
        return all;
    return group.exchange("last", std::to_string(group.rank));
  });
  for (Result<std::string> result : results)
    EXPECT_EQ(*result, "012");
}
TEST(ThreadGroupTest, aMissingRankIsNamed) {
  ThreadMeeting meeting(3);
  const auto results = exchangeAll(meeting, [](HostGroup &group) {
    return group.rank == 1 ? Result<std::string>("") : group.exchange("barrier", "");
  });
  EXPECT_FALSE(results[0]);
  EXPECT_FALSE(results[2]);
  // One of them has reached its deadline; the other one may have been informed of it.
  const std::string text = results[0].error().message + results[2].error().message;
  EXPECT_NE(text.find("barrier: no answer from rank 1 within 200 ms"), std::string::npos) << text;
}
TEST(ThreadGroupTest, differentCallsAreNamed) {
  ThreadMeeting meeting(2);
  const auto results = exchangeAll(
      meeting, [](HostGroup &group) { return group.exchange(group.rank == 0 ? "barrier" : "plan_create", ""); });
  const std::string text = (results[0] ? results[1] : results[0]).error().message;
  EXPECT_NE(text.find("all ranks must make the same calls in the same order"), std::string::npos) << text;
}
TEST(ThreadGroupTest, theOthersAreToldOfAFailure) {
  ThreadMeeting meeting(3);
  std::vector<std::string> told(3);
  exchangeAll(meeting, [&](HostGroup &group) {
    group.watch([&told, rank = group.rank](const Error &error) { told[size_t(rank)] += error.message; });
    Result<std::string> met = group.exchange("watched", "");
    if (group.rank == 1)
      group.abandon(Error{TILE_ERROR_INVALID_ARGUMENT, "rank 1: no"});
    Result<std::string> ended = group.exchange("ended", "");
    EXPECT_FALSE(ended);
    return met;
  });
  EXPECT_EQ(told, (std::vector<std::string>{"another rank has failed: rank 1: no", "",
                                            "another rank has failed: rank 1: no"}));
}
TEST(ThreadGroupTest, wrongRanks) {
  ThreadMeeting meeting(2);
  EXPECT_EQ(joinThreads(meeting, 2, 1s).error().message, "rank 2 does not exist; the group has 2 ranks");
  EXPECT_EQ(joinThreads(meeting, -1, 1s).error().code, TILE_ERROR_INVALID_ARGUMENT);
  Result<std::unique_ptr<HostGroup>> first = joinThreads(meeting, 0, 1s);
  EXPECT_EQ(joinThreads(meeting, 0, 1s).error().message, "rank 0 is connected already");
}

} // namespace
