// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that compactly stored clocks contain everything that was joined into them.
#include "Simulator/Check/Clock.h"

#include <gtest/gtest.h>

using namespace tile::sim;

namespace {

/// Returns the counts of the first components.
std::vector<uint32_t> countsOf(const VectorClock &clock, uint32_t components) {
  std::vector<uint32_t> counts;
  for (Component component = 0; component < components; ++component)
    counts.push_back(clock[component]);
  return counts;
}

TEST(StoredClock, HoldsFewAndManyEpochs) {
  constexpr uint32_t components = 40;
  for (uint32_t stride : {1u, 3u, 7u, 20u}) {
    StoredClock stored;
    SyncClock expected;
    for (Component component = 0; component < components; component += stride) {
      const Epoch epoch{component, component + 5};
      expected.all.raise(epoch);
      stored.edit([&](SyncClock &clock) { clock.all.raise(epoch); });
      stored.read([&](const SyncClock &clock) {
        EXPECT_EQ(countsOf(clock.all, components), countsOf(expected.all, components));
        EXPECT_TRUE(clock.fenced.empty());
      });
    }
  }
}

TEST(StoredClock, HoldsAllThreeClocks) {
  StoredClock stored;
  stored.edit([](SyncClock &clock) { clock.all.raise({3, 4}); });
  stored.edit([](SyncClock &clock) { clock.fenced.raise({5, 6}); });
  stored.edit([](SyncClock &clock) { clock.tensor.raise({7, 8}); });
  stored.read([](const SyncClock &clock) {
    EXPECT_EQ(clock.all[3], 4u);
    EXPECT_EQ(clock.fenced[5], 6u);
    EXPECT_EQ(clock.tensor[7], 8u);
    EXPECT_EQ(clock.all[5], 0u);
  });
}

} // namespace
