// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages about libraries that cannot be used as NCCL.
#include "Distributed/Nccl.h"

#include <gtest/gtest.h>

using namespace tile::dist;

namespace {

std::string failureOf(const char *library) {
  Result<std::unique_ptr<Nccl>> loaded = loadNccl(library);
  EXPECT_FALSE(loaded);
  if (!loaded) {
    EXPECT_EQ(loaded.error().code, TILE_ERROR_NCCL);
    return loaded.error().message;
  }
  return "";
}

TEST(NcclTest, missingLibrary) {
  const std::string message = failureOf("/nowhere/libnccl.so.2");
  EXPECT_NE(message.find("NCCL not found: /nowhere/libnccl.so.2"), std::string::npos) << message;
  EXPECT_NE(message.find("give its path as nccl_library"), std::string::npos) << message;
}
TEST(NcclTest, anotherLibrary) {
  EXPECT_NE(failureOf(FALSE_NCCL_ABSENT).find("is not NCCL: it has no ncclGetVersion"), std::string::npos);
}
TEST(NcclTest, oldLibrary) {
  EXPECT_NE(failureOf(FALSE_NCCL_OLD).find("is NCCL 2.10.3; 2.19.0 or later is needed"), std::string::npos);
}
TEST(NcclTest, libraryWithoutAFunction) {
  EXPECT_NE(failureOf(FALSE_NCCL_INCOMPLETE).find("has no ncclGetUniqueId"), std::string::npos);
}
TEST(NcclTest, errorsNameTheCall) {
  Result<std::unique_ptr<Nccl>> loaded = loadNccl(FALSE_NCCL_FAILING);
  ASSERT_TRUE(loaded);
  constexpr int systemError = 2;
  EXPECT_EQ((*loaded)->check(systemError, "ncclAllGather").error().message,
            "ncclAllGather: the network is down (NCCL error 2)");
  EXPECT_TRUE((*loaded)->check(nccl::inProgress, "ncclAllGather"));
}
TEST(NcclTest, versions) {
  EXPECT_EQ(formatNcclVersion(22809), "2.28.9");
  EXPECT_EQ(formatNcclVersion(2708), "2.7.8");
}

} // namespace
