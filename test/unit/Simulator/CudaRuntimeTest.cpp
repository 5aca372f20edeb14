// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA runtime library of the simulator, called like the code that nvcc generates from a .cu file with a kernel, a
// variable and a constant. The test builds the fat binary itself.
#include <array>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct Config {
  Dim3 grid, block;
  size_t shared = 0;
  void *stream = nullptr, *attributes = nullptr;
  unsigned attributeCount = 0;
};

} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, Dim3 *, Dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, void *);
int __cudaPopCallConfiguration(Dim3 *, Dim3 *, size_t *, void *);
int __cudaGetKernel(void **, const void *);
int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *);
int cudaLaunchKernelExC(const Config *, const void *, void **);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetDeviceProperties(void *, int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaGetDevice(int *);
int cudaFuncGetAttributes(void *, const void *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaStreamCreate(void **);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaPointerGetAttributes(void *, const void *);
int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
int cudaPeekAtLastError();
int cudaGetLastError();
const char *cudaGetErrorName(int);
int cudaDeviceSynchronize();
}

namespace {

constexpr const char *ptx = R"(
.version 8.7
.target sm_90
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .const .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 to, .param .u32 offset) {
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [to];
  ld.param.u32 %r0, [offset];
  mov.u32 %r1, %tid.x;
  ld.const.u32 %r2, [factor];
  mad.lo.u32 %r3, %r1, %r2, %r0;
  mul.wide.u32 %d1, %r1, 4;
  add.s64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r3;
  mov.b64 %d3, counter;
  atom.global.add.u32 %r4, [%d3], 1;
  ret;
}
)";

/// A fat binary with one PTX entry, and its wrapper.
struct Image {
  std::vector<char> bytes;
  struct {
    uint32_t magic = 0x466243b1, version = 1;
    const void *contents = nullptr;
    void *unused = nullptr;
  } wrapper;

  explicit Image(const std::string &text, uint64_t flags = 0x11, uint64_t decompressed = 0) {
    const size_t padded = (text.size() + 8) / 8 * 8;
    auto add = [&](auto value) {
      const size_t at = bytes.size();
      bytes.resize(at + sizeof(value));
      std::memcpy(bytes.data() + at, &value, sizeof(value));
    };
    add(uint32_t(0xba55ed50)), add(uint16_t(1)), add(uint16_t(16)), add(uint64_t(64 + padded));
    add(uint16_t(1)), add(uint16_t(0x101)), add(uint32_t(64)), add(uint64_t(padded));
    add(uint32_t(text.size())), add(uint32_t(0)), add(uint16_t(7)), add(uint16_t(8)), add(uint32_t(90));
    add(uint64_t(0)), add(flags), add(uint64_t(0)), add(decompressed);
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize(16 + 64 + padded);
    wrapper.contents = bytes.data();
  }
};

char stub, counterShadow, factorShadow; ///< what nvcc generates on the host for the kernel and the variables

class CudaRuntime : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    static Image image(ptx);
    void **handle = __cudaRegisterFatBinary(&image.wrapper);
    __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, &counterShadow, &counterShadow, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &factorShadow, &factorShadow, "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  void SetUp() override { ASSERT_EQ(cudaMalloc(&memory, 256), 0); }
  void TearDown() override {
    EXPECT_EQ(cudaFree(memory), 0);
    EXPECT_EQ(cudaDeviceSynchronize(), 0);
  }
  void expectScaled(uint32_t factor, uint32_t by) {
    std::array<uint32_t, 8> words;
    ASSERT_EQ(cudaMemcpy(words.data(), memory, sizeof(words), 2), 0);
    for (uint32_t i = 0; i < words.size(); ++i)
      EXPECT_EQ(words[i], i * factor + by);
  }

  void *memory = nullptr;
  uint32_t offset = 10;
  void *arguments[2] = {&memory, &offset};
};

TEST_F(CudaRuntime, launchesAsTripleBracketsDo) {
  ASSERT_EQ(__cudaPushCallConfiguration({1, 1, 1}, {8, 1, 1}, 0, nullptr), 0u);
  Dim3 grid, block;
  size_t shared = 1;
  void *stream = &stream, *kernel = nullptr;
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
  EXPECT_EQ(block.x, 8u);
  EXPECT_EQ(shared, 0u);
  EXPECT_EQ(stream, nullptr);
  ASSERT_EQ(__cudaGetKernel(&kernel, &stub), 0);
  ASSERT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), 0);
  expectScaled(3, 10);
  EXPECT_NE(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorMissingConfiguration");
}

TEST_F(CudaRuntime, variablesKeepTheirValues) {
  uint32_t before = 0, after = 0, factor = 7;
  ASSERT_EQ(cudaMemcpyFromSymbol(&before, &counterShadow, 4, 0, 2), 0);
  EXPECT_GE(before, 5u);
  ASSERT_EQ(cudaMemcpyToSymbol(&factorShadow, &factor, 4, 0, 1), 0);
  ASSERT_EQ(cudaLaunchKernel(&stub, {1, 1, 1}, {8, 1, 1}, arguments, 0, nullptr), 0);
  expectScaled(7, 10);
  ASSERT_EQ(cudaMemcpyFromSymbol(&after, &counterShadow, 4, 0, 2), 0);
  EXPECT_EQ(after, before + 8);
  factor = 3;
  EXPECT_EQ(cudaMemcpyToSymbol(&factorShadow, &factor, 4, 0, 1), 0);
  EXPECT_EQ(cudaMemcpyToSymbol(&factorShadow, &factor, 8, 0, 1), 1);
  EXPECT_EQ(cudaMemcpyToSymbol(&stub, &factor, 4, 0, 1), 13);
}

TEST_F(CudaRuntime, launchesWithAttributesAndInGraphs) {
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaMemset(memory, 0, 256), 0);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  Config config;
  config.block = {8, 1, 1};
  config.stream = stream;
  ASSERT_EQ(cudaLaunchKernelExC(&config, &stub, arguments), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
  expectScaled(0, 0);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), 0);
  expectScaled(3, 10);
  config.stream = nullptr;
  config.block = {0, 1, 1};
  EXPECT_STREQ(cudaGetErrorName(cudaLaunchKernelExC(&config, &stub, arguments)), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorName(cudaLaunchKernelExC(&config, &offset, arguments)), "cudaErrorInvalidDeviceFunction");
  EXPECT_NE(cudaPeekAtLastError(), 0);
  EXPECT_NE(cudaGetLastError(), 0);
  EXPECT_EQ(cudaGetLastError(), 0);
}

TEST_F(CudaRuntime, devicesAndKernelsDescribeThemselves) {
  struct {
    char name[256], others[104];
    int major, minor;
    char rest[640];
  } properties;
  static_assert(sizeof(properties) == 1008); // cudaDeviceProp of CUDA 13
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), 0);
  EXPECT_TRUE(std::string(properties.name).starts_with("tile simulator"));
  EXPECT_EQ(properties.major, 9);
  int count = 0, device = -1, optIn = 0, blocks = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), 0);
  EXPECT_EQ(cudaSetDevice(count), 101);
  EXPECT_EQ(cudaSetDevice(1), 0);
  EXPECT_EQ(cudaGetDevice(&device), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(0), 0);
  EXPECT_EQ(cudaDeviceGetAttribute(&optIn, 97, 0), 0);
  EXPECT_EQ(optIn, 227 << 10);
  struct {
    size_t shared, constant, local;
    int maxThreads, others[29];
  } attributes = {};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, &stub), 0);
  EXPECT_EQ(attributes.maxThreads, 1024);
  EXPECT_EQ(attributes.constant, 4u);
  EXPECT_EQ(cudaFuncSetAttribute(&stub, 8, 228 << 10), 1);
  EXPECT_EQ(cudaLaunchKernel(&stub, {1, 1, 1}, {8, 1, 1}, arguments, 64 << 10, nullptr), 1);
  EXPECT_EQ(cudaFuncSetAttribute(&stub, 8, 64 << 10), 0);
  EXPECT_EQ(cudaLaunchKernel(&stub, {1, 1, 1}, {8, 1, 1}, arguments, 64 << 10, nullptr), 0);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 128, 100 << 10), 0);
  EXPECT_EQ(blocks, 2);
}

TEST_F(CudaRuntime, memory) {
  struct {
    int type, device;
    void *onDevice, *onHost;
    long reserved[8];
  } attributes = {};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), 0);
  EXPECT_EQ(attributes.type, 2);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &offset), 0);
  EXPECT_EQ(attributes.type, 0);
  std::array<char, 12> from, to = {};
  std::iota(from.begin(), from.end(), 1);
  EXPECT_EQ(cudaMemcpy2D(memory, 16, from.data(), 4, 3, 3, 1), 0);
  EXPECT_EQ(cudaMemcpy2D(to.data(), 4, memory, 16, 3, 3, 2), 0);
  EXPECT_EQ(to, (std::array<char, 12>{1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0}));
  void *managed = nullptr;
  EXPECT_EQ(cudaMallocManaged(&managed, 16, 1), 801);
  EXPECT_EQ(cudaGetLastError(), 801);
}

TEST_F(CudaRuntime, driverFunctionsByName) {
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, 0, &status), 0);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTexObjectCreate", &function, 12000, 0, &status), 0);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
}

TEST_F(CudaRuntime, fatBinariesThatCannotRun) {
  char broken = 0, unknown = 0;
  static Image noPtx(ptx), badInstruction(std::string(ptx).replace(std::string(ptx).find("mad.lo"), 6, "mad.up"));
  noPtx.bytes[16] = 2; // an ELF
  void **handle = __cudaRegisterFatBinary(&noPtx.wrapper);
  __cudaRegisterFunction(handle, &broken, &broken, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  handle = __cudaRegisterFatBinary(&badInstruction.wrapper);
  __cudaRegisterFunction(handle, &unknown, &unknown, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  EXPECT_STREQ(cudaGetErrorName(cudaLaunchKernel(&broken, {1, 1, 1}, {8, 1, 1}, arguments, 0, nullptr)),
               "cudaErrorNoKernelImageForDevice");
  EXPECT_STREQ(cudaGetErrorName(cudaLaunchKernel(&unknown, {1, 1, 1}, {8, 1, 1}, arguments, 0, nullptr)),
               "cudaErrorInvalidPtx");
  cudaGetLastError();
}

} // namespace
