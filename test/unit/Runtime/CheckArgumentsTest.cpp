// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests tile_check_arguments with a driver that knows some addresses, and the other queries of devices and runtimes.
#include "FakeDriver.h"
#include "tile/tilert.h"

#include <gtest/gtest.h>

using tile::test::FakeDriver;

namespace {

// b is a matrix whose rows are 8 elements apart.
constexpr const char *artifact =
    ".version 8.4\n// tile.manifest: "
    R"({"schema":1,"abi_version":1,"kernel":"k","entry":"k","target":"sm_90a","parameters":[)"
    R"({"name":"a","type":"ptr<f16>","alignment":16,"buffer":{"shape":["M","K"]}},)"
    R"({"name":"b","type":"ptr<f32>","buffer":{"shape":["M","4"],"strides":["-8","1"]}},)"
    R"({"name":"table","type":"ptr<i32>"},{"name":"M","type":"i32"},{"name":"K","type":"i32"}],)"
    R"("launch":{"threads_per_cta":128,"grid":["M"]}})"
    "\n";

class CheckArguments : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK);
    ASSERT_EQ(tile_kernel_load_memory(runtime, artifact, std::strlen(artifact), &kernel), TILE_OK) << tile_last_error();
    driver.ranges[0x10000] = {10 * 20 * 2, 2, 0};
    driver.ranges[0x20000] = {(9 * 8 + 4) * 4, 2, 0};
    driver.ranges[0x30000] = {4, 2, 0};
  }
  void TearDown() override {
    tile_kernel_destroy(kernel);
    EXPECT_EQ(tile_runtime_destroy(runtime), TILE_OK);
  }

  std::string check(uint64_t a = 0x10000, uint64_t b = 0x20000 + 9 * 8 * 4, uint64_t table = 0x30000, int32_t m = 10,
                    int32_t k = 20) {
    void *arguments[] = {&a, &b, &table, &m, &k};
    return tile_check_arguments(kernel, arguments, 5) == TILE_OK ? "ok" : tile_last_error();
  }

  FakeDriver driver;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(CheckArguments, WhatFitsIsRight) {
  EXPECT_EQ(check(), "ok");
}

TEST_F(CheckArguments, WhatIsNotAccessedMayBeAnywhere) {
  EXPECT_EQ(check(0, 0, 0x30000, 0), "ok");
}

TEST_F(CheckArguments, negative_Sizes) {
  EXPECT_EQ(check(0x10000, 0x20000 + 9 * 8 * 4, 0x30000, 10, 21),
            "parameter 0 'a': 0x10000 has 400 bytes left in its allocation, but the kernel accesses 420");
  EXPECT_EQ(check(0x10010),
            "parameter 0 'a': 0x10010 has 384 bytes left in its allocation, but the kernel accesses 400");
  EXPECT_EQ(
      check(0x10000, 0x20000),
      "parameter 1 'b': 0x20000 is 0 bytes after the start of its allocation, but the kernel accesses 288 before it");
  EXPECT_EQ(
      check(0x10000, 0x20000, 0x30000, 2147483647, 2147483647),
      "parameter 0 'a': 0x10000 has 400 bytes left in its allocation, but the kernel accesses 9223372028264841218");
  EXPECT_EQ(check(0x10000, 0x20000, 0x30000, -2147483647 - 1, 2), "ok"); // the buffer is empty, so any address is valid
}

TEST_F(CheckArguments, negative_OtherMemory) {
  EXPECT_EQ(check(0x50000), "parameter 0 'a': 0x50000 is not device memory");
  EXPECT_EQ(
      check(0x10008),
      "parameter 0 'a' is 0x10008, which is not a multiple of 16 bytes; the kernel was compiled for that alignment");
  driver.ranges[0x10000].type = 1;
  EXPECT_EQ(check(), "parameter 0 'a': 0x10000 is host memory");
  driver.ranges[0x10000] = {400, 2, 1};
  EXPECT_EQ(check(), "parameter 0 'a': 0x10000 is memory of device 1, but the current context is on device 0");
  driver.ranges[0x10000] = {400, 2, 0};
  EXPECT_EQ(check(0x10000, 0x20000 + 9 * 8 * 4, 0), "parameter 2 'table': 0x0 is not device memory");
}

TEST_F(CheckArguments, negative_SizesAtTheEdge) {
  const auto with = [&](const char *shape, const char *stride) {
    tile_kernel_destroy(kernel);
    kernel = nullptr;
    const std::string text = std::string(".version 8.4\n// tile.manifest: ") +
                             R"({"schema":1,"abi_version":1,"kernel":"k","entry":"k","parameters":[)"
                             R"({"name":"a","type":"ptr<i8>","buffer":{"shape":[")" +
                             shape + R"("],"strides":[")" + stride +
                             R"("]}},{"name":"M","type":"i64"}],"launch":{"threads_per_cta":128}})" + "\n";
    EXPECT_EQ(tile_kernel_load_memory(runtime, text.data(), text.size(), &kernel), TILE_OK) << tile_last_error();
    uint64_t a = 0x10000;
    int64_t m = INT64_MIN;
    void *arguments[] = {&a, &m};
    return std::string(tile_check_arguments(kernel, arguments, 2) == TILE_OK ? "ok" : tile_last_error());
  };
  EXPECT_EQ(with("M", "1"), "ok") << "an empty buffer";
  EXPECT_EQ(with("2", "M"), "parameter 'a': the buffer's size does not fit in 64 bits");
  EXPECT_EQ(with("2", "-1 - M"), "parameter 'a': the buffer's size does not fit in 64 bits");
}

TEST_F(CheckArguments, negative_WrongCalls) {
  EXPECT_EQ(tile_check_arguments(nullptr, nullptr, 0), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_check_arguments(kernel, nullptr, 5), TILE_ERROR_INVALID_ARGUMENT);
  tile_kernel *described = nullptr;
  ASSERT_EQ(tile_kernel_load_memory(nullptr, artifact, std::strlen(artifact), &described), TILE_OK);
  uint64_t any = 0x10000;
  void *arguments[] = {&any, &any, &any, &any, &any};
  EXPECT_EQ(tile_check_arguments(described, arguments, 5), TILE_ERROR_NO_DRIVER);
  tile_kernel_destroy(described);
}

TEST_F(CheckArguments, RuntimeOutlivesItsKernels) {
  EXPECT_EQ(tile_runtime_destroy(runtime), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "the runtime has 1 kernel; destroy it first");
  EXPECT_EQ(tile_kernel_prepare(kernel), TILE_OK) << tile_last_error();
}

TEST_F(CheckArguments, DeviceHasATarget) {
  char name[16], small[5];
  EXPECT_EQ(tile_device_target(runtime, name, sizeof name), TILE_OK);
  EXPECT_STREQ(name, "sm_90");
  EXPECT_EQ(tile_device_target(runtime, small, sizeof small), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_device_target(nullptr, name, sizeof name), TILE_ERROR_INVALID_ARGUMENT);
}

} // namespace
