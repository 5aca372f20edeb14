// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules in the simulated driver: which ones it rejects, with which error and log; their variables; launches.
#include "Runtime/Driver.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

using namespace tile::runtime;

extern "C" {
CUresult cuInit(unsigned);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
CUresult cuLibraryGetKernel(CUfunction *, void *, const char *);
CUresult cuLibraryGetKernelCount(unsigned *, void *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
}

namespace {

constexpr CUresult invalidPtx = 218, notFound = 500, launchFailed = 719;

std::string module(const std::string &target, const std::string &body, const std::string &before = "") {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p, .param .b8 q)\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .pred %p;\n"
         ".shared .align 16 .b8 data[64];\n" +
         body + "\nret;\n}\n";
}

class SimModules : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), cuda::success); }
  void TearDown() override {
    EXPECT_EQ(cuCtxDestroy_v2(context), cuda::success);
    choose(nullptr, nullptr);
  }
  static void choose(const char *target, const char *check) {
    auto set = [](const char *name, const char *value) { value ? setenv(name, value, 1) : unsetenv(name); };
    set("TILE_SIM_DEVICE", target);
    set("TILE_SIM_CHECK", check);
    EXPECT_EQ(cuInit(0), cuda::success);
  }
  CUresult load(const std::string &text) {
    int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    log[0] = 0;
    return cuModuleLoadDataEx(&loaded, text.c_str(), 2, options, values);
  }
  void expectRefused(const std::string &text, const std::string &words, CUresult result = invalidPtx) {
    EXPECT_EQ(load(text), result) << words;
    EXPECT_NE(std::string(log).find(words), std::string::npos) << log;
  }
  CUfunction kernel() {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, loaded, "k"), cuda::success);
    return function;
  }

  CUcontext context = nullptr;
  CUmodule loaded = nullptr;
  char log[1024] = "";
};

TEST_F(SimModules, refusesWithInstructionAndLine) {
  EXPECT_EQ(load(module("sm_90a", "mov.u32 %r0, 1;")), cuda::success) << log;
  expectRefused(module("sm_90a", "frob.u32 %r0, 1;"), "line 10: unsupported instruction 'frob.u32'");
  expectRefused(module("sm_90a", "add.u33 %r0, 1, 1;"), "line 10: ");
  expectRefused(module("sm_90a", "tcgen05.wait::ld.sync.aligned;"), "line 10: tcgen05.wait::ld.sync.aligned: sm_90a");
  expectRefused(module("sm_103a", "setp.eq.u32 %p, 0, 0;\ntcgen05.mma.cta_group::1.kind::i8 [%r0], %d0, %d1, %r1, %p;"),
                "line 11: tcgen05.mma.cta_group::1.kind::i8: sm_103a has no kind::i8");
  expectRefused(".version 9.0\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n", ".target");
  expectRefused(module("sm_x", "ret;"), "line 3: 'sm_x' is not a target");
  expectRefused("no PTX at all", "line 1");
}

TEST_F(SimModules, knowsWhichTargetsHaveWhat) {
  const struct {
    const char *instruction, *without, *with, *words;
  } cases[] = {
      {"add.rn.f32x2 %d0, %d1, %d2;", "sm_90a", "sm_100", "no pairs of floats; sm_100 and later have"},
      {"add.f32.f16 %f0, %h0, %f1;", "sm_90a", "sm_120", "no sums of floats and halves"},
      {"min.f32 %f0, %f1, %f2, %f0;", "sm_90", "sm_100", "no extremes of three"},
      {"ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%d4];", "sm_90a", "sm_100", "no vectors of 32 bytes"},
      {"redux.sync.max.f32 %f0, %f1, -1;", "sm_100", "sm_100f", "no redux of floats; sm_100a and later have"},
      {"cvt.rn.f16x2.e4m3x2 %r0, %h0;", "sm_80", "sm_89", "no 8-bit floats"},
      {"setmaxnreg.dec.sync.aligned.u32 24;", "sm_90", "sm_90a", "no setmaxnreg"},
      {"wgmma.fence.sync.aligned;", "sm_100a", "sm_90a", "no wgmma; only sm_90a has"},
      {"st.bulk.shared::cta [%r0], 8, 0;", "sm_90a", "sm_100", "no bulk stores"},
      {"cp.async.ca.shared.global [%r0], [%d0], 16;", "sm_75", "sm_80", "no asynchronous copies"},
      {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %q;", "sm_90a", "sm_120", "no cluster launch"}};
  for (const auto &one : cases) {
    const std::string body = ".reg .b16 %h<2>;\n.reg .f32 %f<3>;\n.reg .b128 %q;\n" + std::string(one.instruction);
    expectRefused(module(one.without, body), std::string("line 13: "));
    EXPECT_NE(std::string(log).find(one.words), std::string::npos) << log;
    EXPECT_EQ(load(module(one.with, body)), cuda::success) << log;
  }
}

TEST_F(SimModules, librariesDecodeOnDemand) {
  const std::string text = module("sm_90a", "ret;", ".visible .entry bad()\n{\nfrob;\nret;\n}\n");
  expectRefused(text, "unsupported instruction 'frob'");
  void *library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), cuda::success);
  unsigned count = 0;
  EXPECT_EQ(cuLibraryGetKernelCount(&count, library), cuda::success);
  EXPECT_EQ(count, 2u);
  CUfunction function = nullptr, again = nullptr;
  EXPECT_EQ(cuLibraryGetKernel(&function, library, "k"), cuda::success);
  EXPECT_EQ(cuLibraryGetKernel(&again, library, "k"), cuda::success);
  EXPECT_EQ(function, again);
  EXPECT_EQ(cuLibraryGetKernel(&function, library, "bad"), invalidPtx);
  EXPECT_EQ(cuLibraryGetKernel(&function, library, "none"), notFound);
}

TEST_F(SimModules, devicesOfATarget) {
  choose("sm_100a", nullptr);
  char name[64];
  int major = 0, optIn = 0;
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 0), cuda::success);
  EXPECT_STREQ(name, "tile simulator of sm_100a");
  EXPECT_EQ(cuDeviceGetAttribute(&major, cuda::attributeComputeMajor, 0), cuda::success);
  EXPECT_EQ(major, 10);
  EXPECT_EQ(load(module("sm_100f", "ret;")), cuda::success) << log;
  EXPECT_EQ(load(module("sm_80", "ret;")), cuda::success) << log;
  expectRefused(module("sm_90a", "ret;"), "PTX for sm_90a does not run on sm_100a", cuda::errorNoBinaryForGpu);
  choose("sm_120", nullptr);
  EXPECT_EQ(cuDeviceGetAttribute(&optIn, cuda::attributeMaxSharedOptin, 0), cuda::success);
  EXPECT_EQ(optIn, 99 << 10);
  expectRefused(module("sm_100f", "ret;"), "sm_120", cuda::errorNoBinaryForGpu);
  setenv("TILE_SIM_DEVICE", "gpu", 1);
  EXPECT_EQ(cuInit(0), cuda::errorInvalidValue);
}

TEST_F(SimModules, variablesKeepTheirValues) {
  ASSERT_EQ(load(module("sm_90a",
                        "mov.b64 %d0, count;\nld.global.u32 %r0, [%d0];\nadd.u32 %r0, %r0, 2;\n"
                        "st.global.u32 [%d0], %r0;",
                        ".visible .global .u32 count = 40;\n")),
            cuda::success)
      << log;
  CUdeviceptr address = 0, pointer = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&address, &bytes, loaded, "count"), cuda::success);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, loaded, "counts"), notFound);
  char last = 0;
  void *arguments[] = {&pointer, &last};
  for (uint32_t expected : {42, 44}) {
    ASSERT_EQ(cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), cuda::success);
    uint32_t value = 0;
    ASSERT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(&value), address, 4), cuda::success);
    EXPECT_EQ(value, expected);
  }
}

TEST_F(SimModules, parametersInOneBuffer) {
  ASSERT_EQ(load(module("sm_90a", "ld.param.u64 %d0, [p];\nld.param.u8 %r0, [q];\nst.global.u32 [%d0], %r0;",
                        ".visible .global .u32 out;\n")),
            cuda::success)
      << log;
  struct {
    CUdeviceptr pointer;
    char last = 9;
  } buffer;
  size_t bytes = 9;
  ASSERT_EQ(cuModuleGetGlobal_v2(&buffer.pointer, nullptr, loaded, "out"), cuda::success);
  void *extra[] = {reinterpret_cast<void *>(1), &buffer, reinterpret_cast<void *>(2), &bytes, nullptr};
  ASSERT_EQ(cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), cuda::success);
  uint32_t value = 0;
  ASSERT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(&value), buffer.pointer, 4), cuda::success);
  EXPECT_EQ(value, 9u);
  bytes = 8;
  EXPECT_EQ(cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), cuda::errorInvalidValue);
}

TEST_F(SimModules, muchSharedMemoryNeedsOptIn) {
  ASSERT_EQ(load(module("sm_90a", "ret;")), cuda::success) << log;
  CUdeviceptr pointer = 0;
  char last = 0;
  void *arguments[] = {&pointer, &last};
  constexpr unsigned much = 100 << 10;
  EXPECT_EQ(cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, much, nullptr, arguments, nullptr), cuda::errorInvalidValue);
  EXPECT_EQ(cuFuncSetAttribute(kernel(), cuda::functionMaxDynamicShared, much), cuda::success);
  EXPECT_EQ(cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, much, nullptr, arguments, nullptr), cuda::success);
  EXPECT_EQ(cuFuncSetAttribute(kernel(), cuda::functionMaxDynamicShared, 1 << 20), cuda::errorInvalidValue);
}

TEST_F(SimModules, findingsFailOrWarn) {
  // All threads write different values to one word.
  const std::string race = module("sm_90a", "mov.u32 %r0, %tid.x;\nst.shared.u32 [data], %r0;");
  const std::string fatal = module("sm_90a", "ld.shared.u32 %r0, [data+64];");
  CUdeviceptr pointer = 0;
  char last = 0;
  void *arguments[] = {&pointer, &last};
  auto launch = [&](const std::string &text) {
    EXPECT_EQ(load(text), cuda::success) << log;
    return cuLaunchKernel(kernel(), 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  };
  EXPECT_EQ(launch(race), launchFailed);
  choose(nullptr, "warn");
  EXPECT_EQ(launch(race), cuda::success);
  EXPECT_EQ(launch(fatal), launchFailed);
  choose(nullptr, "off");
  EXPECT_EQ(launch(race), cuda::success);
  EXPECT_EQ(launch(fatal), launchFailed);
}

TEST_F(SimModules, functionsByName) {
  void *function = nullptr, *older = nullptr;
  int status = -1;
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &function, 13000, 0, &status), cuda::success);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuLaunchKernel));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cuGetProcAddress_v2("cuCtxCreate", &older, 12000, 0, &status), cuda::success);
  EXPECT_EQ(older, reinterpret_cast<void *>(&cuCtxCreate_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuCtxCreate", &function, 13000, 0, &status), cuda::success);
  EXPECT_NE(function, older);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status), cuda::success);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
}

} // namespace
