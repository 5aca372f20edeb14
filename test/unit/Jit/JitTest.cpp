// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels from source, launched on the mock driver.
#include "tile/jit.h"
#include "FakeDriver.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

using tile::test::FakeDriver;

namespace {

constexpr const char *scale = R"(
#: grid(cdiv(N, BLOCK))
@triton.jit
def scale(x: ptr[f32], factor: f32, N: i32, BLOCK: constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < N) * factor, mask=i < N)
)";

class Jit : public testing::Test {
protected:
  void SetUp() override {
    driver.isRecording = false;
    tilec_compiler_options options = TILEC_COMPILER_OPTIONS_INIT;
    options.ptxas = "/absent/ptxas"; // PTX is enough for this driver
    ASSERT_EQ(tilec_compiler_create(&options, &compiler), TILEC_OK);
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK);
    create({sizeof(tile_jit_options), 0, 0});
  }
  void TearDown() override {
    tile_jit_destroy(jit);
    EXPECT_EQ(tile_runtime_destroy(runtime), TILE_OK) << tile_last_error();
    tilec_compiler_destroy(compiler);
  }
  void create(const tile_jit_options &options) {
    tile_jit_destroy(jit);
    ASSERT_EQ(tile_jit_create(compiler, runtime, &options, &jit), TILE_OK) << tile_jit_last_error();
  }

  tile_jit_kernel *get(const char *source = scale, std::vector<const char *> options = {}) {
    tile_jit_kernel *kernel = nullptr;
    EXPECT_EQ(tile_jit_get(jit, source, std::strlen(source), options.data(), options.size(), &kernel), TILE_OK)
        << tile_jit_last_error();
    return kernel;
  }
  tile_status launch(tile_jit_kernel *kernel, uint64_t x, int32_t n) {
    float factor = 2;
    void *arguments[] = {&x, &factor, &n};
    return tile_jit_launch(kernel, nullptr, arguments, 3);
  }
  tile_kernel *choose(tile_jit_kernel *kernel, uint64_t x, int32_t n) {
    float factor = 2;
    void *arguments[] = {&x, &factor, &n};
    tile_kernel *choice = nullptr;
    EXPECT_EQ(tile_jit_choice(kernel, arguments, 3, &choice), TILE_OK) << tile_jit_last_error();
    return choice;
  }
  /// Returns the alignment of x, at least that of an f32, and the divisor of N for which the kernel of this call was
  /// compiled.
  std::pair<uint64_t, uint64_t> promises(tile_jit_kernel *kernel, uint64_t x, int32_t n) {
    tile_kernel *choice = choose(kernel, x, n);
    tile_parameter pointer = {}, size = {};
    EXPECT_EQ(tile_kernel_parameter(choice, 0, &pointer), TILE_OK);
    EXPECT_EQ(tile_kernel_parameter(choice, 2, &size), TILE_OK);
    return {pointer.alignment, size.divisibility};
  }
  using Promises = std::pair<uint64_t, uint64_t>;

  FakeDriver driver;
  tilec_compiler *compiler = nullptr;
  tile_runtime *runtime = nullptr;
  tile_jit *jit = nullptr;
};

TEST_F(Jit, GeneralServesUntilTheSpecialIsThere) {
  tile_jit_kernel *kernel = get();
  ASSERT_EQ(launch(kernel, 0x1004, 5), TILE_OK) << tile_jit_last_error();
  ASSERT_EQ(launch(kernel, 0x1000, 4096), TILE_OK) << tile_jit_last_error();
  ASSERT_EQ(tile_jit_wait(jit), TILE_OK);
  EXPECT_EQ(promises(kernel, 0x1004, 5), Promises(4, 1));
  EXPECT_EQ(promises(kernel, 0x1000, 4096), Promises(16, 16));
  ASSERT_EQ(launch(kernel, 0x1000, 4096), TILE_OK) << tile_jit_last_error();
  EXPECT_EQ(driver.launchCount, 3);
  EXPECT_GE(driver.modulesLoaded, 2); // 3 if the specialized kernel is not available immediately
}

TEST_F(Jit, EachClassHasItsKernel) {
  tile_jit_kernel *kernel = get();
  ASSERT_EQ(launch(kernel, 0x1000, 5), TILE_OK);
  ASSERT_EQ(launch(kernel, 0x1004, 32), TILE_OK);
  ASSERT_EQ(tile_jit_wait(jit), TILE_OK);
  EXPECT_EQ(promises(kernel, 0x1000, 5), Promises(16, 1));
  EXPECT_EQ(promises(kernel, 0x1004, 32), Promises(4, 16));
}

TEST_F(Jit, SameSourceIsSameKernel) {
  EXPECT_EQ(get(), get(std::string(scale).c_str()));
  EXPECT_EQ(get(scale, {"-DBLOCK=128"}), get(scale, {"-DBLOCK=128"}));
  EXPECT_NE(get(), get(scale, {"-DBLOCK=128"}));
}

TEST_F(Jit, CompilesForTheDevice) {
  tile_kernel_info info;
  tile_kernel *choice = nullptr;
  uint64_t x = 0x1004;
  float factor = 2;
  int32_t n = 5;
  void *arguments[] = {&x, &factor, &n};
  ASSERT_EQ(tile_jit_choice(get(), arguments, 3, &choice), TILE_OK);
  ASSERT_EQ(tile_kernel_describe(choice, &info), TILE_OK);
  EXPECT_STREQ(info.target, "sm_90a");
  ASSERT_EQ(tile_jit_choice(get(scale, {"--target=sm_80"}), arguments, 3, &choice), TILE_OK);
  ASSERT_EQ(tile_kernel_describe(choice, &info), TILE_OK);
  EXPECT_STREQ(info.target, "sm_80");
  driver.major = 5;
  tile_jit_kernel *kernel = nullptr;
  EXPECT_EQ(tile_jit_get(jit, scale, std::strlen(scale), nullptr, 0, &kernel), TILE_ERROR_ARCHITECTURE);
  EXPECT_STREQ(tile_jit_last_error(), "the compiler does not support the device's sm_50");
}

TEST_F(Jit, ClassesAreBounded) {
  create({sizeof(tile_jit_options), 0, 1});
  tile_jit_kernel *kernel = get();
  ASSERT_EQ(launch(kernel, 0x1000, 5), TILE_OK);
  ASSERT_EQ(launch(kernel, 0x1004, 32), TILE_OK);
  ASSERT_EQ(tile_jit_wait(jit), TILE_OK);
  EXPECT_EQ(promises(kernel, 0x1000, 5), Promises(16, 1));
  EXPECT_EQ(promises(kernel, 0x1004, 32), Promises(4, 16));
  EXPECT_EQ(promises(kernel, 0x1000, 32), Promises(16, 1)) << "there is no room for a second";
}

TEST_F(Jit, SizesCountIfAskedFor) {
  create({sizeof(tile_jit_options), 1, 0});
  tile_jit_kernel *kernel = get();
  for (int32_t n : {5, 7, 1000, 1023, 1024, -1})
    ASSERT_EQ(launch(kernel, 0x1004, n), TILE_OK) << tile_jit_last_error();
  ASSERT_EQ(tile_jit_wait(jit), TILE_OK);
  const std::vector<int32_t> sizes = {5, 7, 1000, 1023, 1024};
  std::vector<tile_kernel *> choices;
  for (int32_t n : sizes)
    choices.push_back(choose(kernel, 0x1004, n));
  EXPECT_EQ(choices[0], choices[1]);
  EXPECT_EQ(choices[2], choices[3]);
  EXPECT_EQ(std::set(choices.begin(), choices.end()).size(), 3u);
}

TEST_F(Jit, ManyThreadsCompileOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      tile_jit_kernel *kernel = get();
      for (int again = 0; again < 100; ++again)
        ASSERT_EQ(launch(kernel, 0x1000 + again % 2 * 4, 16 + again % 3), TILE_OK) << tile_jit_last_error();
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_EQ(tile_jit_wait(jit), TILE_OK);
  EXPECT_EQ(driver.launchCount, 800);
}

TEST_F(Jit, OneCall) {
  uint64_t x = 0x1000;
  float factor = 2;
  int32_t n = 100;
  void *arguments[] = {&x, &factor, &n};
  EXPECT_EQ(tile_jit_run(jit, scale, nullptr, 0, nullptr, arguments, 3), TILE_OK) << tile_jit_last_error();
  EXPECT_EQ(driver.launchCount, 1);
}

TEST_F(Jit, negative_ErrorsAreExplained) {
  tile_jit_kernel *kernel = nullptr;
  const char *bad = "@triton.jit\ndef k(x: ptr[f32]):\n    y = unknown(x)\n";
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(tile_jit_get(jit, bad, std::strlen(bad), nullptr, 0, &kernel), TILE_ERROR_COMPILE);
    EXPECT_EQ(std::string(tile_jit_last_error()).rfind("<source>:3:9: ", 0), 0u) << tile_jit_last_error();
    EXPECT_EQ(kernel, nullptr);
  }
  const char *wrong[] = {"--no-such-option"};
  EXPECT_EQ(tile_jit_get(jit, scale, std::strlen(scale), wrong, 1, &kernel), TILE_ERROR_INVALID_ARGUMENT);
  const char *missing[] = {nullptr};
  EXPECT_EQ(tile_jit_get(jit, scale, 1, missing, 1, &kernel), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_jit_launch(get(), nullptr, nullptr, 3), TILE_ERROR_INVALID_ARGUMENT);
  uint64_t x = 0x1000;
  void *arguments[] = {&x};
  EXPECT_EQ(tile_jit_launch(get(), nullptr, arguments, 1), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STRNE(tile_jit_last_error(), "");
  tile_jit_options options = {sizeof(tile_jit_options), 0, 33};
  tile_jit *other = nullptr;
  EXPECT_EQ(tile_jit_create(compiler, runtime, &options, &other), TILE_ERROR_INVALID_ARGUMENT);
}

TEST_F(Jit, EndsWhileItCompiles) {
  ASSERT_EQ(launch(get(), 0x1000, 16), TILE_OK); // TearDown does not wait for the compilation
}

} // namespace
