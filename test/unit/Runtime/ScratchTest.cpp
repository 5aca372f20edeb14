// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests scratch memory: which buffer a launch gets, when it is allocated and cleared, and what is rejected.
#include "FakeDriver.h"
#include "tile/tilert.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>

using tile::runtime::CUcontext;
using tile::runtime::CUdeviceptr;
using tile::runtime::CUstream;
using tile::test::allocations;
using tile::test::FakeDriver;

namespace {

std::string manifestText(const std::string &launchExtra = R"(,"persistent":true,"scratch_per_cta":1000)") {
  return R"({"schema":1,"abi_version":1,"kernel":"k","entry":"k","target":"sm_90a",)"
         R"("parameters":[{"name":"M","type":"i32"}],"launch":{"threads_per_cta":384,"grid":["M"])" +
         launchExtra + "}}";
}

class ScratchTest : public testing::Test {
protected:
  static constexpr size_t scratch = 4; // index of the argument: M, three sizes of the grid, scratch
  static constexpr size_t fullBytes = 132 * 1000;

  void SetUp() override {
    driver.argumentSizes = {4, 4, 4, 4, 8};
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK) << tile_last_error();
    ASSERT_EQ(load(manifestText()), TILE_OK) << error();
  }
  void TearDown() override {
    tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }
  tile_status load(const std::string &manifest) {
    tile_kernel_destroy(kernel);
    const std::string ptx = ".version 8.4\n// tile.manifest: " + manifest + "\n";
    return tile_kernel_load_memory(runtime, ptx.data(), ptx.size(), &kernel);
  }
  static CUstream stream(uintptr_t handle) { return reinterpret_cast<CUstream>(handle); }
  tile_status launch(CUstream stream, int32_t m = 500, uintptr_t memory = 0, size_t bytes = 0) {
    const tile_launch_options options = {stream, nullptr, reinterpret_cast<void *>(memory), bytes, 0};
    void *arguments[] = {&m};
    return tile_launch(kernel, &options, arguments, 1);
  }
  CUdeviceptr lastScratch() { return driver.launches.back().arguments[scratch]; }
  /// Returns the scratch memory of a launch in `stream`.
  CUdeviceptr scratchOf(CUstream stream) {
    EXPECT_EQ(launch(stream), TILE_OK) << error();
    return lastScratch();
  }
  std::string error() { return tile_last_error(); }
  bool errorHas(const std::string &part) { return error().find(part) != std::string::npos; }

  FakeDriver driver;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(ScratchTest, followsTheGridAndIsClearedOnce) {
  ASSERT_EQ(launch(stream(0x77)), TILE_OK) << error();
  EXPECT_EQ(driver.launches[0].arguments[1], 500u);
  EXPECT_EQ(driver.launches[0].arguments[3], 1u);
  ASSERT_EQ(driver.memory.size(), 1u);
  const auto &[address, memory] = *driver.memory.begin();
  EXPECT_EQ(lastScratch(), address);
  EXPECT_EQ(memory.bytes, fullBytes);
  EXPECT_TRUE(memory.isCleared);
  EXPECT_EQ(memory.clearedIn, stream(0x77));
  driver.memory.begin()->second.isCleared = false;
  EXPECT_EQ(launch(stream(0x77), 3), TILE_OK) << error(); // a launch of fewer blocks uses the same buffer
  EXPECT_EQ(lastScratch(), address);
  EXPECT_EQ(driver.memory.size(), 1u);
  EXPECT_FALSE(memory.isCleared);
}

TEST_F(ScratchTest, streamsAndContextsDoNotShare) {
  std::set<CUdeviceptr> seen;
  for (int device : {0, 1}) {
    ASSERT_EQ(tile_device_activate(runtime, device), TILE_OK);
    for (uintptr_t handle : {0x0, 0x1, 0x77, 0x78})
      seen.insert(scratchOf(stream(handle)));
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_TRUE(seen.contains(scratchOf(stream(0x77))));
  EXPECT_EQ(driver.memory.size(), 8u);
}

TEST_F(ScratchTest, kernelsDoNotShare) {
  const CUdeviceptr first = scratchOf(nullptr);
  tile_kernel *other = std::exchange(kernel, nullptr);
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_NE(scratchOf(nullptr), first);
  tile_kernel_destroy(other);
}

TEST_F(ScratchTest, perThreadDefaultStreamsOfThreadsDoNotShare) {
  const CUstream perThread = stream(2); // CU_STREAM_PER_THREAD
  std::set<CUdeviceptr> seen = {scratchOf(perThread)};
  for (int i = 0; i < 3; ++i) // one after another: the threads may have the same identifier
    std::thread([&] {
      seen.insert(scratchOf(perThread));
      seen.insert(scratchOf(perThread));
    }).join();
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_TRUE(seen.contains(scratchOf(perThread)));
  EXPECT_EQ(driver.memory.size(), 4u);
}

TEST_F(ScratchTest, manyThreadsMakeOneBufferOfAStream) {
  driver.isRecording = false;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (unsigned i = 0; i < 16; ++i)
    threads.emplace_back([&, i] { failures += launch(stream(0x10u + i % 2)) != TILE_OK; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(driver.memory.size(), 2u);
}

TEST_F(ScratchTest, isFreedWithTheKernelInItsContext) {
  for (int device : {0, 1}) {
    ASSERT_EQ(tile_device_activate(runtime, device), TILE_OK);
    ASSERT_EQ(launch(stream(0x77)), TILE_OK) << error();
    ASSERT_EQ(launch(stream(0x78)), TILE_OK) << error();
  }
  const CUcontext current = driver.context;
  tile_kernel_destroy(kernel);
  kernel = nullptr;
  EXPECT_EQ(driver.memory.size(), 4u);
  for (const auto &[address, memory] : driver.memory)
    EXPECT_TRUE(memory.isFreed) << address; // the driver only frees memory of the current context
  EXPECT_EQ(driver.context, current);
}

TEST_F(ScratchTest, preparedStreamsCanBeCaptured) {
  ASSERT_EQ(tile_kernel_prepare_stream(kernel, stream(0x77)), TILE_OK) << error();
  EXPECT_EQ(driver.modulesLoaded, 1);
  ASSERT_EQ(driver.memory.size(), 1u);
  driver.captured = stream(0x77);
  EXPECT_EQ(scratchOf(stream(0x77)), driver.memory.begin()->first);
  EXPECT_EQ(tile_kernel_prepare_stream(kernel, stream(0x77)), TILE_OK) << error();
  EXPECT_EQ(tile_kernel_prepare_stream(nullptr, nullptr), TILE_ERROR_INVALID_ARGUMENT);
}

TEST_F(ScratchTest, negative_capturedStreams) {
  driver.captured = stream(0x77);
  EXPECT_EQ(launch(stream(0x77)), TILE_ERROR_UNSUPPORTED);
  EXPECT_TRUE(errorHas(
      "kernel 'k', 132000 bytes of scratch memory for stream 0x77: none can be allocated while the stream is captured; "
      "first launch in this stream or call tile_kernel_prepare_stream, or pass tile_launch_options.scratch"))
      << error();
  EXPECT_EQ(tile_kernel_prepare_stream(kernel, stream(0x77)), TILE_ERROR_UNSUPPORTED);
  EXPECT_EQ(launch(stream(0x77), 500, 0x1000, fullBytes), TILE_OK) << error(); // uses the caller's buffer
  EXPECT_EQ(launch(stream(0x78)), TILE_OK) << error();                         // launches in another stream
  EXPECT_EQ(driver.captureMode, 0);                                            // the capture mode is restored
  driver.capturingResult = 906; // the default stream would wait for the captured one
  EXPECT_EQ(launch(nullptr), TILE_ERROR_UNSUPPORTED);
  EXPECT_TRUE(errorHas("stream is captured")) << error();
  driver.capturingResult = 1;
  EXPECT_EQ(launch(nullptr), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("cuStreamIsCapturing: CUDA_ERROR_INVALID_VALUE")) << error();
  EXPECT_EQ(driver.memory.size(), 1u);
}

TEST_F(ScratchTest, callersMayBringTheirOwn) {
  size_t bytes = 1;
  ASSERT_EQ(tile_kernel_scratch_bytes(kernel, 132, &bytes), TILE_OK) << error();
  EXPECT_EQ(bytes, fullBytes);
  EXPECT_EQ(launch(stream(0x77), 500, 0x1080, bytes), TILE_OK) << error();
  EXPECT_EQ(lastScratch(), 0x1080u);
  EXPECT_TRUE(driver.memory.empty());
}

TEST_F(ScratchTest, negative_callersMemory) {
  EXPECT_EQ(launch(nullptr, 500, 0x1040, fullBytes), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("scratch is 0x1040, which is not a multiple of 128 bytes; kernel 'k' requires that")) << error();
  EXPECT_EQ(launch(nullptr, 500, 0x1000, fullBytes - 1), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("scratch_bytes is 131999; kernel 'k' needs 132000 on this device, 1000 for each of 132 thread "
                       "blocks"))
      << error();
  EXPECT_TRUE(driver.launches.empty());
  EXPECT_TRUE(driver.memory.empty());
}

TEST_F(ScratchTest, sizeIsThatOfAllBlocks) {
  ASSERT_EQ(load(manifestText(R"(,"persistent":true,"ctas_per_sm":2,"cluster":[5,1,1],"scratch_per_cta":67108864)")),
            TILE_OK)
      << error();
  const auto blocksOf = [&](int multiprocessors) {
    size_t bytes = 0;
    EXPECT_EQ(tile_kernel_scratch_bytes(kernel, multiprocessors, &bytes), TILE_OK) << error();
    return bytes / 67108864;
  };
  EXPECT_EQ(blocksOf(132), 260u); // whole clusters of the 264 that fit
  EXPECT_EQ(blocksOf(1), 5u);     // at least one cluster
  EXPECT_EQ(blocksOf(2147483647), 4294967290u);
  size_t bytes = 0;
  EXPECT_EQ(tile_kernel_scratch_bytes(kernel, 0, &bytes), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("num_sms is 0; expected at least 1")) << error();
  EXPECT_EQ(tile_kernel_scratch_bytes(kernel, 132, nullptr), TILE_ERROR_INVALID_ARGUMENT);
}

/// Memory for tensor maps does not justify blocks without a program.
TEST_F(ScratchTest, onlyBlocksThatShareTailsExceedThePrograms) {
  const int64_t grid[3] = {3, 1, 1};
  const auto blocksWith = [&](const std::string &tails) {
    int64_t blocks[3] = {};
    EXPECT_EQ(load(manifestText(R"(,"persistent":true,"scratch_per_cta":1000)" + tails)), TILE_OK) << error();
    EXPECT_EQ(tile_kernel_blocks(kernel, grid, 132, blocks), TILE_OK) << error();
    return blocks[0];
  };
  EXPECT_EQ(blocksWith(R"(,"shares_tails":true)"), 132);
  EXPECT_EQ(blocksWith(R"(,"shares_tails":false)"), 3);
  EXPECT_EQ(blocksWith(""), 132) << "of earlier compilers";
}

TEST_F(ScratchTest, othersTakeNone) {
  ASSERT_EQ(load(manifestText(R"(,"persistent":true)")), TILE_OK) << error();
  driver.argumentSizes.pop_back();
  size_t bytes = 1;
  EXPECT_EQ(tile_kernel_scratch_bytes(kernel, 132, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(launch(nullptr, 500, 0x1001, 1), TILE_OK) << error(); // the caller's scratch memory is ignored
  EXPECT_EQ(tile_kernel_prepare_stream(kernel, nullptr), TILE_OK) << error();
  EXPECT_TRUE(driver.memory.empty());
}

TEST_F(ScratchTest, emptyGridsAndFaultyArgumentsMakeNone) {
  EXPECT_EQ(launch(nullptr, 0), TILE_OK) << error();
  EXPECT_EQ(launch(nullptr, -1), TILE_ERROR_GRID);
  EXPECT_TRUE(driver.memory.empty());
}

TEST_F(ScratchTest, negative_tooManyStreams) {
  for (uintptr_t i = 0; i < 128; ++i)
    ASSERT_EQ(launch(stream(0x1000 + i)), TILE_OK) << error();
  EXPECT_EQ(launch(stream(0x2000)), TILE_ERROR_RESOURCES);
  EXPECT_TRUE(errorHas("kernel 'k' has scratch memory for 128 streams, the maximum; pass tile_launch_options.scratch"))
      << error();
  EXPECT_EQ(launch(stream(0x107f)), TILE_OK) << error();
  EXPECT_EQ(launch(stream(0x2000), 500, 0x1000, fullBytes), TILE_OK) << error();
  EXPECT_EQ(driver.memory.size(), 128u);
}

TEST_F(ScratchTest, negative_failuresOfTheDriverLeaveNothingBehind) {
  driver.allocateResult = 2;
  EXPECT_EQ(launch(stream(0x77)), TILE_ERROR_OUT_OF_MEMORY);
  EXPECT_TRUE(errorHas("kernel 'k', 132000 bytes of scratch memory for stream 0x77: cuMemAlloc: ")) << error();
  driver.allocateResult = 0;
  driver.fillResult = 1;
  EXPECT_EQ(launch(stream(0x77)), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("cuMemsetD8Async: CUDA_ERROR_INVALID_VALUE")) << error();
  ASSERT_EQ(driver.memory.size(), 1u);
  EXPECT_TRUE(driver.memory.begin()->second.isFreed);
  EXPECT_EQ(driver.captureMode, 0);
  driver.fillResult = 0;
  EXPECT_NE(scratchOf(stream(0x77)), driver.memory.begin()->first);
}

TEST_F(ScratchTest, negative_hostsWithoutMemoryFunctionsMustBringMemory) {
  for (const char *symbol : {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD8Async", "cuStreamIsCapturing"}) {
    driver.missingSymbol = symbol;
    tile_kernel_destroy(std::exchange(kernel, nullptr));
    tile_runtime_destroy(runtime);
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK) << error();
    ASSERT_EQ(load(manifestText()), TILE_OK) << error();
    EXPECT_EQ(launch(nullptr), TILE_ERROR_NO_DRIVER);
    EXPECT_TRUE(errorHas(std::string("the CUDA driver has no ") + symbol + "; pass tile_launch_options.scratch"))
        << error();
    EXPECT_EQ(launch(nullptr, 500, 0x1000, fullBytes), TILE_OK) << error();
  }
  EXPECT_TRUE(driver.memory.empty());
}

TEST_F(ScratchTest, launchPathDoesNotAllocate) {
  driver.isRecording = false;
  ASSERT_EQ(tile_kernel_prepare_stream(kernel, stream(0x77)), TILE_OK) << error();
  const uint64_t before = allocations;
  EXPECT_EQ(launch(stream(0x77)), TILE_OK);
  EXPECT_EQ(launch(stream(0x78), 500, 0x1000, fullBytes), TILE_OK);
  EXPECT_EQ(launch(stream(0x78), 500, 0x1000, 8), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(allocations, before);
}

} // namespace
