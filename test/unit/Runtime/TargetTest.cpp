// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which devices may run an artifact.
#include "Runtime/Target.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

bool runs(const char *target, bool isPtx, int major, int minor) {
  return bool(checkTarget(target, isPtx, major, minor));
}

TEST(Target, cubinRunsWithinItsMajorVersion) {
  EXPECT_TRUE(runs("sm_80", false, 8, 0));
  EXPECT_TRUE(runs("sm_80", false, 8, 9));
  EXPECT_FALSE(runs("sm_89", false, 8, 6));
  EXPECT_FALSE(runs("sm_80", false, 9, 0));
  EXPECT_FALSE(runs("sm_80", false, 7, 5));
}

TEST(Target, architectureSpecificCodeRunsExactlyThere) {
  for (bool isPtx : {false, true}) {
    EXPECT_TRUE(runs("sm_90a", isPtx, 9, 0));
    EXPECT_FALSE(runs("sm_90a", isPtx, 10, 0));
    EXPECT_FALSE(runs("sm_100a", isPtx, 10, 3));
    EXPECT_TRUE(runs("sm_120a", isPtx, 12, 0));
  }
}

TEST(Target, familySpecificCodeRunsOnLaterMinorVersions) {
  EXPECT_TRUE(runs("sm_100f", false, 10, 3));
  EXPECT_FALSE(runs("sm_100f", true, 12, 0));
}

TEST(Target, ptxRunsOnLaterDevices) {
  EXPECT_TRUE(runs("sm_75", true, 12, 0));
  EXPECT_FALSE(runs("sm_90", true, 8, 9));
}

TEST(Target, aNameStandsForADevice) {
  const auto runsOn = [](const char *code, bool isPtx, const char *device) {
    return bool(checkTarget(code, isPtx, std::string_view(device)));
  };
  EXPECT_FALSE(runsOn("sm_90a", true, "sm_90"));
  EXPECT_TRUE(runsOn("sm_90a", true, "sm_90a"));
  EXPECT_TRUE(runsOn("sm_80", false, "sm_89"));
  EXPECT_FALSE(runsOn("sm_80", false, "sm_90a"));
  EXPECT_TRUE(runsOn("sm_80", true, "sm_90a"));
  EXPECT_FALSE(runsOn("sm_80", true, "sm_75"));
  EXPECT_TRUE(runsOn("sm_100f", false, "sm_103a"));
  EXPECT_FALSE(runsOn("sm_100f", false, "sm_103"));
  EXPECT_FALSE(runsOn("sm_80", true, "hopper"));
}

TEST(Target, negative_messageHasBothNumbers) {
  Status status = checkTarget("sm_90a", false, 8, 0);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().code, TILE_ERROR_ARCHITECTURE);
  EXPECT_NE(status.error().message.find("compiled for sm_90a"), std::string::npos);
  EXPECT_NE(status.error().message.find("8.0"), std::string::npos);
  // The target with all instructions of the device.
  EXPECT_TRUE(checkTarget("sm_80", false, 9, 0).error().message.ends_with("compile with --target=sm_90a"));
  EXPECT_TRUE(checkTarget("sm_80", false, 10, 0).error().message.ends_with("compile with --target=sm_100f"));
  EXPECT_TRUE(checkTarget("sm_90a", false, 8, 0).error().message.ends_with("compile with --target=sm_80"));
}

TEST(Target, negative_malformedNames) {
  for (const char *name : {"", "sm_", "sm_9", "90a", "sm_90b", "sm_9999", "compute_90", "sm_a"})
    EXPECT_FALSE(bool(parseTarget(name))) << name;
}

} // namespace
