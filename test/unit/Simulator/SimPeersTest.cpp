// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peer access between simulated devices, and values that streams write and wait for.
#include "DriverFunctions.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace tile::runtime;

namespace {

constexpr CUresult peerAccessUnsupported = 217, peerAccessEnabled = 704, peerAccessNotEnabled = 705, launchFailed = 719;
constexpr unsigned reached = 0, equal = 1, anyBit = 2;

class SimPeersTest : public ::testing::Test {
protected:
  void SetUp() override {
    for (int device = 0; device < 2; ++device) {
      ASSERT_EQ(cuDevicePrimaryCtxRetain(&contexts[device], device), cuda::success);
      ASSERT_EQ(cuCtxSetCurrent(contexts[device]), cuda::success);
      ASSERT_EQ(cuMemAlloc_v2(&memory[device], 64), cuda::success);
      ASSERT_EQ(cuMemsetD32Async(memory[device], 0, 16, nullptr), cuda::success);
      ASSERT_EQ(cuCtxSynchronize(), cuda::success);
    }
    ASSERT_EQ(cuCtxSetCurrent(contexts[0]), cuda::success);
  }
  void TearDown() override {
    for (CUdeviceptr address : memory)
      EXPECT_EQ(cuMemFree_v2(address), cuda::success);
  }
  uint32_t wordAt(CUdeviceptr address) {
    uint32_t word = 0;
    EXPECT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(&word), address, sizeof(word)), cuda::success);
    return word;
  }

  CUcontext contexts[2] = {};
  CUdeviceptr memory[2] = {};
};

constexpr const char *storeOne = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry store(.param .u64 out) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], 1;
  ret;
}
)";

TEST_F(SimPeersTest, devicesHaveDifferentPlaces) {
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), cuda::success);
  EXPECT_EQ(count, 8);
  char first[32] = "", second[32] = "";
  EXPECT_EQ(cuDeviceGetPCIBusId(first, 32, 0), cuda::success);
  EXPECT_EQ(cuDeviceGetPCIBusId(second, 32, 1), cuda::success);
  EXPECT_STRNE(first, second);
}
TEST_F(SimPeersTest, accessIsAskedForAndEnabledOnce) {
  int can = 0;
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), cuda::success);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), cuda::success);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 8), cuda::errorInvalidDevice);
  EXPECT_EQ(cuCtxEnablePeerAccess(contexts[0], 0), peerAccessUnsupported);
  EXPECT_EQ(cuCtxEnablePeerAccess(contexts[1], 0), cuda::success);
  EXPECT_EQ(cuCtxEnablePeerAccess(contexts[1], 0), peerAccessEnabled);
  EXPECT_EQ(cuCtxDisablePeerAccess(contexts[1]), cuda::success);
  EXPECT_EQ(cuCtxDisablePeerAccess(contexts[1]), peerAccessNotEnabled);
}
TEST_F(SimPeersTest, kernelsSeeThePeersMemoryOnceItIsEnabled) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, storeOne), cuda::success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "store"), cuda::success);
  void *arguments[] = {&memory[1]};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), launchFailed);
  ASSERT_EQ(cuCtxEnablePeerAccess(contexts[1], 0), cuda::success);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), cuda::success);
  EXPECT_EQ(wordAt(memory[1]), 1u);
  EXPECT_EQ(cuCtxDisablePeerAccess(contexts[1]), cuda::success);
}
TEST_F(SimPeersTest, aStreamWaitsForAnotherThread) {
  std::thread other([&] {
    EXPECT_EQ(cuCtxSetCurrent(contexts[1]), cuda::success);
    EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[0], 5, reached), cuda::success);
    EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[1], wordAt(memory[0]), 0), cuda::success);
  });
  EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[0], 7, 0), cuda::success);
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[1], 7, equal), cuda::success);
  other.join();
  EXPECT_EQ(wordAt(memory[1]), 7u);
}
TEST_F(SimPeersTest, comparisons) {
  ASSERT_EQ(cuStreamWriteValue32_v2(nullptr, memory[0], 0x80000001, 0), cuda::success);
  // The value has been reached: the 32-bit difference is not negative.
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[0], 0x7fffffff, reached), cuda::success);
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[0], 0x80000000, anyBit), cuda::success);
}
TEST_F(SimPeersTest, wrongAddresses) {
  EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[0] + 64, 1, 0), cuda::errorInvalidValue);
  EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[0] + 2, 1, 0), cuda::errorInvalidValue);
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[0] + 64, 1, reached), cuda::errorInvalidValue);
}
TEST_F(SimPeersTest, graphsWaitWhenTheyAreLaunched) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&stream, 1, 0), cuda::success);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 1), cuda::success);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream, memory[0], 1, reached), cuda::success);
  EXPECT_EQ(cuStreamWriteValue32_v2(stream, memory[0], 0, 0), cuda::success);
  EXPECT_EQ(cuStreamWriteValue32_v2(stream, memory[1], 1, 0), cuda::success);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), cuda::success);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::success);
  EXPECT_EQ(wordAt(memory[1]), 0u);
  std::thread other([&] {
    EXPECT_EQ(cuCtxSetCurrent(contexts[1]), cuda::success);
    for (int replay = 0; replay < 2; ++replay) {
      EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[0], 1, 0), cuda::success);
      EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, memory[1], 1, reached), cuda::success);
      EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, memory[1], 0, 0), cuda::success);
    }
  });
  for (int replay = 0; replay < 2; ++replay)
    EXPECT_EQ(cuGraphLaunch(executable, stream), cuda::success);
  other.join();
  EXPECT_EQ(wordAt(memory[0]), 0u);
  EXPECT_EQ(cuGraphExecDestroy(executable), cuda::success);
  EXPECT_EQ(cuGraphDestroy(graph), cuda::success);
}

} // namespace
