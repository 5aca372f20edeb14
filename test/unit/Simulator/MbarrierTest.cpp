// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the phase arithmetic of mbarriers, and groups of asynchronous operations, in isolation.
#include "Simulator/Exec/Async/MbarrierState.h"

#include <gtest/gtest.h>

using namespace tile::sim;

namespace {

Mbarrier makeBarrier(uint32_t count) {
  Mbarrier barrier;
  barrier.expected = barrier.pending = count;
  return barrier;
}

TEST(MbarrierState, phaseCompletesWithTheLastArrival) {
  Mbarrier barrier = makeBarrier(3);
  EXPECT_EQ(arrive(barrier, 1), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 0u);
  EXPECT_EQ(arrive(barrier, 2), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 1u);
  EXPECT_EQ(barrier.pending, 3u);
}

TEST(MbarrierState, moreArrivalsThanPending) {
  Mbarrier barrier = makeBarrier(2);
  EXPECT_EQ(arrive(barrier, 3), MbarrierFault::TooManyArrivals);
  EXPECT_EQ(expectTransaction(barrier, 16), MbarrierFault::None);
  EXPECT_EQ(arrive(barrier, 2), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 0u); // bytes are missing
  EXPECT_EQ(arrive(barrier, 1), MbarrierFault::TooManyArrivals);
}

TEST(MbarrierState, bytesBeforeAndAfterTheyAreExpected) {
  Mbarrier barrier = makeBarrier(1);
  EXPECT_EQ(completeTransaction(barrier, 100), MbarrierFault::None);
  EXPECT_EQ(barrier.transactions, -100);
  EXPECT_EQ(expectTransaction(barrier, 150), MbarrierFault::None);
  EXPECT_EQ(arrive(barrier, 1), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 0u);
  EXPECT_EQ(completeTransaction(barrier, 50), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 1u);
}

TEST(MbarrierState, transactionCountHas20Bits) {
  Mbarrier barrier = makeBarrier(1);
  EXPECT_EQ(expectTransaction(barrier, maxTransactionBytes), MbarrierFault::None);
  EXPECT_EQ(expectTransaction(barrier, 1), MbarrierFault::TransactionOverflow);
  Mbarrier other = makeBarrier(1);
  EXPECT_EQ(completeTransaction(other, maxTransactionBytes), MbarrierFault::None);
  EXPECT_EQ(completeTransaction(other, 1), MbarrierFault::TransactionOverflow);
}

TEST(MbarrierState, dropLowersAllLaterPhases) {
  Mbarrier barrier = makeBarrier(3);
  EXPECT_EQ(arriveAndDrop(barrier, 1), MbarrierFault::None);
  EXPECT_EQ(arrive(barrier, 2), MbarrierFault::None);
  EXPECT_EQ(barrier.phase, 1u);
  EXPECT_EQ(barrier.pending, 2u);
}

TEST(MbarrierState, copyThatWasNotExpected) {
  Mbarrier barrier = makeBarrier(1);
  barrier.inFlight = 64;
  EXPECT_EQ(arrive(barrier, 1), MbarrierFault::CopyInFlight);
}

TEST(MbarrierState, tokenHasPhaseAndPendingArrivals) {
  Mbarrier barrier = makeBarrier(5);
  barrier.phase = 7;
  EXPECT_EQ(arrive(barrier, 2), MbarrierFault::None);
  EXPECT_EQ(phaseOfToken(mbarrierToken(barrier)), 7u);
  EXPECT_EQ(pendingOfToken(mbarrierToken(barrier)), 3u);
}

TEST(AsyncGroups, groupsAreDoneInOrder) {
  AsyncGroups groups;
  uint64_t first = groups.start();
  groups.commit();
  uint64_t second = groups.start();
  groups.commit();
  EXPECT_FALSE(groups.done(1));
  EXPECT_TRUE(groups.done(2));
  groups.finish(second); // the first group is not done, so neither are both
  EXPECT_FALSE(groups.done(1));
  groups.finish(first);
  EXPECT_TRUE(groups.done(0));
}

TEST(AsyncGroups, openGroupCountsOnceItIsCommitted) {
  AsyncGroups groups;
  uint64_t group = groups.start();
  EXPECT_TRUE(groups.done(0));
  groups.commit();
  EXPECT_FALSE(groups.done(0));
  groups.finish(group);
  EXPECT_TRUE(groups.done(0));
}

TEST(AsyncGroups, operationThatIsDoneBeforeTheCommit) {
  AsyncGroups groups;
  uint64_t group = groups.start();
  groups.finish(group);
  EXPECT_EQ(groups.start(), group); // the group is still open
  groups.finish(group);
  groups.commit();
  EXPECT_TRUE(groups.done(0));
  EXPECT_EQ(groups.start(), group + 1);
}

TEST(AsyncGroups, emptyGroups) {
  AsyncGroups groups;
  groups.commit();
  EXPECT_TRUE(groups.done(0));
  uint64_t group = groups.start();
  groups.commit();
  groups.commit(); // an empty group, after one that is not done
  EXPECT_FALSE(groups.done(1));
  EXPECT_TRUE(groups.done(2));
  groups.finish(group);
  EXPECT_TRUE(groups.done(0));
  EXPECT_EQ(groups.committedGroups(), 3u);
}

} // namespace
