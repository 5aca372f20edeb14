// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between streams as programs cause them: a missing event, a flag that is signalled too early, or a stale flag of
// an earlier round. The same programs with correct order have none.
#include "DriverFunctions.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

constexpr CUresult launchFailed = 719;
constexpr unsigned nonBlocking = 1, equal = 1, words = 64;

/// `copy`: word 0 of b becomes that of a, plus 1. `count`: an atomic adds 1 to word 0 of b. `await`: waits for a flag,
/// then does the same as `copy`.
constexpr const char *kernels = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 b) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry count(.param .u64 a, .param .u64 b) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd2, [b];
  atom.global.add.u32 %r1, [%rd2], 1;
  ret;
}
.visible .entry await(.param .u64 a, .param .u64 b, .param .u64 flag) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [flag];
spin:
  ld.acquire.sys.global.u32 %r2, [%rd3];
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra spin;
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

class StreamOrderTest : public ::testing::Test {
protected:
  void SetUp() override {
    for (int device = 1; device >= 0; --device) {
      ASSERT_EQ(cuDevicePrimaryCtxRetain(&contexts[device], device), cuda::success);
      ASSERT_EQ(cuCtxSetCurrent(contexts[device]), cuda::success);
      for (CUdeviceptr *buffer : {&a[device], &b[device], &flag[device]}) {
        ASSERT_EQ(cuMemAlloc_v2(buffer, words * 4), cuda::success);
        ASSERT_EQ(cuMemsetD32_v2(*buffer, 0, words), cuda::success);
      }
      for (CUstream *stream : {&one[device], &two[device]})
        ASSERT_EQ(cuStreamCreate(stream, nonBlocking), cuda::success);
      ASSERT_EQ(cuCtxSynchronize(), cuda::success);
    }
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, kernels), cuda::success);
    for (auto [name, function] : {std::pair("copy", &copyKernel), {"count", &countKernel}, {"await", &awaitKernel}})
      ASSERT_EQ(cuModuleGetFunction(function, module, name), cuda::success);
    ASSERT_EQ(cuEventCreate(&event, 0), cuda::success);
  }
  void TearDown() override {
    for (int device = 0; device < 2; ++device) {
      EXPECT_EQ(cuCtxSetCurrent(contexts[device]), cuda::success);
      for (CUdeviceptr buffer : {a[device], b[device], flag[device]})
        EXPECT_EQ(cuMemFree_v2(buffer), cuda::success);
    }
    EXPECT_EQ(cuEventDestroy_v2(event), cuda::success);
  }

  CUresult launch(CUfunction kernel, CUdeviceptr from, CUdeviceptr to, CUstream stream, CUdeviceptr flag = 0) {
    void *arguments[] = {&from, &to, &flag};
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  CUresult fill(CUdeviceptr buffer, CUstream stream) { return cuMemsetD32Async(buffer, 7, words, stream); }
  void waitFor(CUstream waiting, CUstream other) {
    EXPECT_EQ(cuEventRecord(event, other), cuda::success);
    EXPECT_EQ(cuStreamWaitEvent(waiting, event, 0), cuda::success);
  }
  /// Expects the operation to succeed.
  template <typename Function> void expectOrdered(Function &&operation) {
    ::testing::internal::CaptureStderr();
    const CUresult result = operation();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(result, cuda::success);
  }
  /// Expects the operation to fail, with a message that contains these parts.
  template <typename Function> void expectRace(const std::vector<std::string> &parts, Function &&operation) {
    ::testing::internal::CaptureStderr();
    const CUresult result = operation();
    const std::string message = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(result, launchFailed);
    for (const std::string &part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << "\nis not in\n" << message;
  }

  CUcontext contexts[2] = {};
  CUdeviceptr a[2] = {}, b[2] = {}, flag[2] = {};
  CUstream one[2] = {}, two[2] = {};
  CUfunction copyKernel = nullptr, countKernel = nullptr, awaitKernel = nullptr;
  CUevent event = nullptr;
};

TEST_F(StreamOrderTest, namesOperationsStreamsAndBytes) {
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  expectRace({"simulator: race: kernel 'copy' in stream ", " of device 0 reads bytes 0 to 3 of allocation ",
              " of device 0, which are written by a fill in stream ",
              "; no event, flag or synchronization orders them\n"},
             [&] { return launch(copyKernel, a[0], b[0], two[0]); });
}
TEST_F(StreamOrderTest, writesAfterReadsAndAfterWrites) {
  ASSERT_EQ(launch(copyKernel, a[0], b[0], one[0]), cuda::success);
  expectRace({"a fill in ", " writes bytes 0 to 3 ", "which are read by kernel 'copy'"},
             [&] { return fill(a[0], two[0]); });
  expectRace({"a copy in ", " writes bytes 0 to 3 ", "which are written by kernel 'copy'"},
             [&] { return cuMemcpyAsync(b[0], b[1], 4, two[0]); });
  expectOrdered([&] { return cuMemcpyAsync(b[0] + 4, b[1] + 4, 4, two[1]); });
}
TEST_F(StreamOrderTest, readsAndAtomicsOfTwoStreams) {
  ASSERT_EQ(launch(countKernel, 0, b[0], one[0]), cuda::success);
  expectOrdered([&] { return launch(countKernel, 0, b[0], two[0]); });
  ASSERT_EQ(launch(copyKernel, a[0], a[0] + 4, one[0]), cuda::success);
  expectOrdered([&] { return launch(copyKernel, a[0], a[0] + 8, two[0]); });
}
TEST_F(StreamOrderTest, atomicsAndAFill) {
  ASSERT_EQ(launch(countKernel, 0, b[0], one[0]), cuda::success);
  expectRace({"writes bytes 0 to 3 ", "which are added to by kernel 'count'"}, [&] { return fill(b[0], two[0]); });
}
TEST_F(StreamOrderTest, eventsOrder) {
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  waitFor(two[0], one[0]);
  expectOrdered([&] { return launch(copyKernel, a[0], b[0], two[0]); });
}
TEST_F(StreamOrderTest, eventsOrderWhatWasSubmittedBeforeTheirRecord) {
  EXPECT_EQ(cuEventRecord(event, one[0]), cuda::success);
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  EXPECT_EQ(cuStreamWaitEvent(two[0], event, 0), cuda::success);
  expectRace({"reads"}, [&] { return launch(copyKernel, a[0], b[0], two[0]); });
}
TEST_F(StreamOrderTest, theHostOrders) {
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  ASSERT_EQ(cuStreamSynchronize(one[0]), cuda::success);
  expectOrdered([&] { return launch(copyKernel, a[0], b[0], two[0]); });
  EXPECT_EQ(cuEventRecord(event, two[0]), cuda::success);
  EXPECT_EQ(cuEventSynchronize(event), cuda::success);
  expectOrdered([&] { return fill(b[0], one[0]); });
  EXPECT_EQ(cuLaunchHostFunc(one[0], [](void *) {}, nullptr), cuda::success);
  expectOrdered([&] { return fill(b[0], two[0]); });
}
TEST_F(StreamOrderTest, theDefaultStreamWaitsForBlockingStreamsOnly) {
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), cuda::success);
  ASSERT_EQ(fill(a[0], blocking), cuda::success);
  expectOrdered([&] { return launch(copyKernel, a[0], b[0], nullptr); });
  expectOrdered([&] { return fill(b[0], blocking); });
  ASSERT_EQ(cuCtxSynchronize(), cuda::success);
  ASSERT_EQ(cuMemsetD32_v2(a[0], 0, words), cuda::success); // the host does not wait for its end
  expectRace({"which are written by a fill in the default stream of device 0"},
             [&] { return launch(copyKernel, a[0], b[0] + 4, one[0]); });
}
TEST_F(StreamOrderTest, flagsOrderDevices) {
  ASSERT_EQ(cuCtxEnablePeerAccess(contexts[1], 0), cuda::success);
  ASSERT_EQ(fill(a[1], one[1]), cuda::success);
  ASSERT_EQ(cuStreamWriteValue32_v2(one[1], flag[0], 1, 0), cuda::success);
  ASSERT_EQ(cuStreamWaitValue32_v2(one[0], flag[0], 1, equal), cuda::success);
  expectOrdered([&] { return launch(copyKernel, a[1], b[0], one[0]); });
}
TEST_F(StreamOrderTest, aKernelThatWaitsForAFlag) {
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  ASSERT_EQ(cuStreamWriteValue32_v2(one[0], flag[0], 1, 0), cuda::success);
  expectOrdered([&] { return launch(awaitKernel, a[0], b[0], two[0], flag[0]); });
}
TEST_F(StreamOrderTest, fillsSignalToo) {
  ASSERT_EQ(fill(a[0], one[0]), cuda::success);
  ASSERT_EQ(cuMemsetD32Async(flag[0], 1, 1, one[0]), cuda::success);
  ASSERT_EQ(cuStreamWaitValue32_v2(two[0], flag[0], 1, equal), cuda::success);
  expectOrdered([&] { return launch(copyKernel, a[0], b[0], two[0]); });
}
TEST_F(StreamOrderTest, aFlagThatIsSignalledTooEarly) {
  ASSERT_EQ(cuStreamWriteValue32_v2(one[1], flag[0], 1, 0), cuda::success);
  ASSERT_EQ(fill(a[1], one[1]), cuda::success);
  ASSERT_EQ(cuStreamWaitValue32_v2(one[0], flag[0], 1, equal), cuda::success);
  expectRace(
      {"a copy in stream ", " of device 0 reads bytes 0 to 255 of allocation ", " of device 1, which are written"},
      [&] { return cuMemcpyAsync(b[0], a[1], words * 4, one[0]); });
}
TEST_F(StreamOrderTest, aFlagThatIsLeftFromAnEarlierRound) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(fill(a[1], one[1]), cuda::success);
    if (round == 0) {
      ASSERT_EQ(cuStreamWriteValue32_v2(one[1], flag[0], 1, 0), cuda::success);
    }
    ASSERT_EQ(cuStreamWaitValue32_v2(one[0], flag[0], 1, equal), cuda::success);
    const auto copy = [&] { return cuMemcpyAsync(b[0], a[1], words * 4, one[0]); };
    if (round == 0)
      expectOrdered(copy);
    else
      expectRace({"reads bytes 0 to 255 "}, copy);
    waitFor(one[1], one[0]);
  }
}
TEST_F(StreamOrderTest, branchesOfGraphs) {
  for (const bool isJoined : {true, false}) {
    ASSERT_EQ(cuStreamBeginCapture_v2(one[0], 1), cuda::success);
    waitFor(two[0], one[0]);
    ASSERT_EQ(fill(a[0], one[0]), cuda::success);
    if (isJoined)
      waitFor(two[0], one[0]);
    ASSERT_EQ(launch(copyKernel, a[0], b[0], two[0]), cuda::success);
    waitFor(one[0], two[0]);
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    ASSERT_EQ(cuStreamEndCapture(one[0], &graph), cuda::success);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::success);
    const auto replay = [&] { return cuGraphLaunch(executable, one[0]); };
    if (isJoined) {
      expectOrdered(replay);
      expectOrdered(replay);
      expectOrdered([&] { return fill(b[0], one[0]); });
    } else {
      expectRace({"kernel 'copy' in a graph captured from stream ", "written by a fill in a graph captured from"},
                 replay);
    }
    EXPECT_EQ(cuGraphExecDestroy(executable), cuda::success);
    EXPECT_EQ(cuGraphDestroy(graph), cuda::success);
  }
}

} // namespace
