// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated driver, as seen by a program that calls the driver directly.
#include "DriverFunctions.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tile::runtime;

namespace {

constexpr CUresult outOfMemory = 2, invalidContext = 201, captureUnsupported = 900;

CUdeviceptr addressOf(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

class SimDriverTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), cuda::success);
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), cuda::success);
  }
  void TearDown() override {
    EXPECT_EQ(cuMemFree_v2(memory), cuda::success);
    EXPECT_EQ(cuCtxDestroy_v2(context), cuda::success);
  }
  std::vector<uint32_t> read(size_t count) {
    std::vector<uint32_t> words(count);
    EXPECT_EQ(cuMemcpy(addressOf(words.data()), memory, count * 4), cuda::success);
    return words;
  }

  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
};

constexpr const char *threadNumbers = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry numbers(.param .u64 out) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

TEST_F(SimDriverTest, contextsAreAStackOfEachThread) {
  CUcontext second = nullptr, seen = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), cuda::success);
  EXPECT_NE(second, context);
  EXPECT_EQ(cuCtxPushCurrent_v2(context), cuda::success);
  EXPECT_EQ(cuCtxPopCurrent_v2(&seen), cuda::success);
  EXPECT_EQ(seen, context);
  EXPECT_EQ(cuCtxDestroy_v2(second), cuda::success); // makes the context below current again
  EXPECT_EQ(cuCtxGetCurrent(&seen), cuda::success);
  EXPECT_EQ(seen, context);
  EXPECT_EQ(cuCtxDestroy_v2(second), invalidContext);
  EXPECT_EQ(cuCtxSetCurrent(second), invalidContext);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), cuda::success);
  EXPECT_EQ(cuCtxSynchronize(), invalidContext);
  EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), invalidContext);
}

TEST_F(SimDriverTest, kernelsAreLaunchedInAContext) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, threadNumbers), cuda::success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "numbers"), cuda::success);
  void *arguments[] = {&memory};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr), cuda::success);
  EXPECT_EQ(read(4), (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), cuda::success);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr), invalidContext);
  EXPECT_EQ(cuCtxPushCurrent_v2(context), cuda::success);
}

TEST_F(SimDriverTest, copiesAndFills) {
  EXPECT_EQ(cuMemsetD32Async(memory, 0xABCD1234, 4, nullptr), cuda::success);
  EXPECT_EQ(cuMemsetD16_v2(memory + 4, 7, 2), cuda::success);
  EXPECT_EQ(read(3), (std::vector<uint32_t>{0xABCD1234, 0x00070007, 0xABCD1234}));
  EXPECT_EQ(cuMemsetD16_v2(memory + 1, 7, 1), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemsetD16_v2(memory, 7, 33), cuda::errorInvalidValue);
  const uint32_t value = 5;
  EXPECT_EQ(cuMemcpy(memory, addressOf(&value), 4), cuda::success);
  EXPECT_EQ(cuMemcpy(memory + 8, memory, 4), cuda::success);
  EXPECT_EQ(read(3), (std::vector<uint32_t>{5, 0x00070007, 5}));
  EXPECT_EQ(cuMemcpy(memory, addressOf(&value), 65), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemcpyHtoD_v2(0, nullptr, 0), cuda::success); // an empty tensor may have a null address
}

TEST_F(SimDriverTest, addressesAreKnown) {
  constexpr int memoryType = 2, device = 9;
  CUdeviceptr base = 0;
  size_t bytes = 0, freeBefore = 0, freeAfter = 0, total = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, memory + 63), cuda::success);
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 64u);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, memory + 64), cuda::errorInvalidValue);
  unsigned type = 0;
  int ordinal = -1;
  EXPECT_EQ(cuPointerGetAttribute(&type, memoryType, memory + 5), cuda::success);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(cuPointerGetAttribute(&ordinal, device, memory), cuda::success);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(cuPointerGetAttribute(&type, memoryType, addressOf(&type)), cuda::errorInvalidValue);
  void *host = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(&host, 1), cuda::success);
  EXPECT_EQ(cuPointerGetAttribute(&type, memoryType, addressOf(host)), cuda::success);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(cuMemFreeHost(host), cuda::success);
  EXPECT_EQ(cuMemFreeHost(host), cuda::errorInvalidValue);

  EXPECT_EQ(cuMemGetInfo_v2(&freeBefore, &total), cuda::success);
  CUdeviceptr more = 0;
  ASSERT_EQ(cuMemAllocAsync(&more, 4096, nullptr), cuda::success);
  EXPECT_EQ(cuMemGetInfo_v2(&freeAfter, &total), cuda::success);
  EXPECT_EQ(freeBefore - freeAfter, 4096u);
  EXPECT_EQ(cuMemFreeAsync(more, nullptr), cuda::success);
}

TEST_F(SimDriverTest, sizesDoNotWrapAround) {
  EXPECT_EQ(cuMemsetD32Async(memory, 7, (size_t(1) << 62) + 1, nullptr), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemsetD16_v2(memory, 7, (size_t(1) << 63) + 1), cuda::errorInvalidValue);
  const uint32_t value = 5;
  for (size_t bytes : {~size_t(0), ~size_t(0) - 63, size_t(1) << 63})
    EXPECT_EQ(cuMemcpyHtoD_v2(memory + 32, &value, bytes), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemcpy(memory, memory + 32, ~size_t(0) - 31), cuda::errorInvalidValue);
}

TEST_F(SimDriverTest, nullPointersAreInvalid) {
  EXPECT_EQ(cuMemAlloc_v2(nullptr, 64), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemAllocHost_v2(nullptr, 64), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemGetInfo_v2(nullptr, nullptr), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemcpyHtoD_v2(memory, nullptr, 4), cuda::errorInvalidValue);
  EXPECT_EQ(cuMemcpy(0, memory, 4), cuda::errorInvalidValue);
  EXPECT_EQ(cuModuleLoadData(nullptr, threadNumbers), cuda::errorInvalidValue);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), cuda::errorInvalidValue);
  constexpr CUresult invalidHandle = 400;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "numbers"), invalidHandle);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, nullptr), invalidHandle);
  ASSERT_EQ(cuModuleLoadData(&module, threadNumbers), cuda::success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "numbers"), cuda::success);
  void *missing[] = {nullptr};
  EXPECT_NE(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, nullptr), cuda::success);
  EXPECT_NE(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, missing, nullptr), cuda::success);
}

TEST_F(SimDriverTest, hugeLaunchesFail) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, threadNumbers), cuda::success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "numbers"), cuda::success);
  void *arguments[] = {&memory};
  // The sum with the system's part overflows to 0 in 32 bits.
  EXPECT_NE(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, uint32_t(0) - 1024, nullptr, arguments, nullptr), cuda::success);
  EXPECT_NE(cuLaunchKernel(function, 1, 1, 1, 1u << 31, 1u << 31, 4, 0, nullptr, arguments, nullptr), cuda::success);
  EXPECT_NE(cuLaunchKernel(function, ~0u, ~0u, ~0u, 4, 1, 1, 0, nullptr, arguments, nullptr), cuda::success);
  CUdeviceptr huge = 0;
  EXPECT_EQ(cuMemAlloc_v2(&huge, size_t(1) << 62), outOfMemory);
}

TEST_F(SimDriverTest, tensorMapsWithoutSense) {
  TensorMap map;
  const uint64_t sizes[] = {16, 16}, strides[] = {64};
  const uint32_t box[] = {4, 4}, steps[] = {1, 1};
  auto encode = [&](int type, unsigned rank, const uint64_t *sizes, int swizzle) {
    return cuTensorMapEncodeTiled(&map, type, rank, reinterpret_cast<void *>(memory), sizes, strides, box, steps, 0,
                                  swizzle, 0, 0);
  };
  constexpr int f32 = 7;
  EXPECT_EQ(encode(f32, 2, sizes, 0), cuda::success);
  EXPECT_EQ(encode(f32 + 256, 2, sizes, 0), cuda::errorInvalidValue);
  EXPECT_EQ(encode(-1, 2, sizes, 0), cuda::errorInvalidValue);
  EXPECT_EQ(encode(f32, 2, sizes, 256), cuda::errorInvalidValue);
  EXPECT_EQ(encode(f32, 0, sizes, 0), cuda::errorInvalidValue);
  EXPECT_EQ(encode(f32, ~0u, sizes, 0), cuda::errorInvalidValue);
  EXPECT_EQ(encode(f32, 2, nullptr, 0), cuda::errorInvalidValue);
}

TEST_F(SimDriverTest, hostFunctionsAreStepsOfGraphs) {
  int calls = 0;
  const auto count = [](void *data) { ++*static_cast<int *>(data); };
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&stream, 0, 0), cuda::success);
  EXPECT_EQ(cuLaunchHostFunc(stream, count, &calls), cuda::success);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), cuda::success);
  EXPECT_EQ(cuLaunchHostFunc(stream, count, &calls), cuda::success);
  CUdeviceptr refused = 0;
  EXPECT_EQ(cuMemAllocAsync(&refused, 64, stream), captureUnsupported);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), captureUnsupported);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), cuda::success);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::success);
  EXPECT_EQ(cuGraphLaunch(executable, stream), cuda::success);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cuGraphExecDestroy(executable), cuda::success);
  EXPECT_EQ(cuGraphDestroy(graph), cuda::success);
}

/// Each thread block writes its number, waits for the others as cooperative_groups' grid.sync() does, and reads the
/// number of the next block. Without a workspace, it writes 99.
constexpr const char *gridBarrier = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry grid(.param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  mov.u32 %r3, %envreg1;
  mov.u32 %r4, %envreg2;
  mov.b64 %rd3, {%r4, %r3};
  setp.ne.u64 %p0, %rd3, 0;
  @%p0 bra VALID;
  st.global.u32 [%rd2], 99;
  ret;
VALID:
  st.global.u32 [%rd2], %r1;
  setp.eq.u32 %p1, %r1, 0;
  sub.u32 %r5, 0x80000001, %r2;
  selp.u32 %r5, %r5, 1, %p1;
  atom.add.release.gpu.u32 %r6, [%rd3+4], %r5;
WAIT:
  ld.acquire.gpu.u32 %r7, [%rd3+4];
  xor.b32 %r7, %r7, %r6;
  setp.ge.s32 %p2, %r7, 0;
  @%p2 bra WAIT;
  add.u32 %r8, %r1, 1;
  rem.u32 %r8, %r8, %r2;
  mul.wide.u32 %rd4, %r8, 4;
  add.s64 %rd4, %rd1, %rd4;
  ld.global.u32 %r9, [%rd4];
  ld.u32 %r10, [%rd3];
  mad.lo.u32 %r9, %r10, 100, %r9;
  st.global.u32 [%rd2+32], %r9;
  ret;
}
)";

TEST_F(SimDriverTest, cooperativeLaunchesHaveAWorkspaceForTheGridBarrier) {
  constexpr CUresult tooLarge = 720;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, gridBarrier), cuda::success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "grid"), cuda::success);
  void *arguments[] = {&memory};
  EXPECT_EQ(cuLaunchKernel(function, 4, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), cuda::success);
  EXPECT_EQ(read(4), (std::vector<uint32_t>{99, 99, 99, 99}));
  for (int launch = 0; launch < 3; ++launch) {
    ASSERT_EQ(cuMemsetD32_v2(memory, 0, 16), cuda::success);
    EXPECT_EQ(cuLaunchCooperativeKernel(function, 8, 1, 1, 1, 1, 1, 0, nullptr, arguments), cuda::success);
    EXPECT_EQ(read(16),
              (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 801, 802, 803, 804, 805, 806, 807, 800})); // 8 bytes
  }
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuLaunchCooperativeKernel(function, 1 << 20, 1, 1, 1024, 1, 1, 0, nullptr, arguments), tooLarge);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "the cooperative launch of kernel 'grid' has 1048576 thread blocks; at most 8 of them run"),
            std::string::npos);
}

} // namespace
