// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the C API with a mock driver: what reaches cuLaunchKernelEx, and what must not.
#include "FakeDriver.h"
#include "Runtime/ElfSection.h"
#include "tile/tilert.h"

#include <gtest/gtest.h>
#include <new>
#include <thread>

using tile::test::FakeDriver;

thread_local uint64_t tile::test::allocations = 0;

namespace {

using tile::test::allocations;

std::string manifestText(const std::string &target = "sm_90a", const std::string &launchExtra = "",
                         const std::string &entry = "k") {
  return R"({"schema":1,"abi_version":1,"kernel":"k","entry":")" + entry + R"(","target":")" + target +
         R"json(","parameters":[
           {"name":"a","type":"ptr<f16>","alignment":16},
           {"name":"M","type":"i32"},
           {"name":"K","type":"i32","divisibility":16},
           {"name":"alpha","type":"f16"},
           {"name":"flag","type":"i1"}],
         "constants":{"BLOCK":128},
         "launch":{"threads_per_cta":256,"grid":["cdiv(M, BLOCK)","min(num_sms, 2)"])json" +
         launchExtra + "}}";
}

std::string oneLine(std::string text) {
  std::erase(text, '\n');
  return text;
}

class LaunchTest : public testing::Test {
protected:
  void SetUp() override {
    driver.argumentSizes = {8, 4, 4, 2, 1};
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK) << tile_last_error();
  }
  void TearDown() override {
    tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }

  tile_status load(const std::string &manifest) {
    tile_kernel_destroy(kernel);
    const std::string ptx = ".version 8.4\n// tile.manifest: " + oneLine(manifest) + "\n";
    return tile_kernel_load_memory(runtime, ptx.data(), ptx.size(), &kernel);
  }

  tile_status launch(uint64_t a, int32_t m, int32_t k, const tile_launch_options *options = nullptr) {
    uint16_t alpha = 0x3c00;
    uint8_t flag = 1;
    void *arguments[] = {&a, &m, &k, &alpha, &flag};
    return tile_launch(kernel, options, arguments, 5);
  }

  std::string error() { return tile_last_error(); }
  bool errorHas(const std::string &part) { return error().find(part) != std::string::npos; }

  FakeDriver driver;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(LaunchTest, launchesWithTheEvaluatedGrid) {
  ASSERT_EQ(load(manifestText()), TILE_OK) << error();
  ASSERT_EQ(launch(0x1000, 300, 32), TILE_OK) << error();
  ASSERT_EQ(driver.launches.size(), 1u);
  const auto &config = driver.launches[0].config;
  EXPECT_EQ(config.gridX, 3u);
  EXPECT_EQ(config.gridY, 2u);
  EXPECT_EQ(config.gridZ, 1u);
  EXPECT_EQ(config.blockX, 256u);
  EXPECT_EQ(config.attributeCount, 0u);
  EXPECT_EQ(driver.launches[0].arguments[0], 0x1000u);
  EXPECT_EQ(driver.launches[0].arguments[1], 300u);
}

TEST_F(LaunchTest, attributesComeFromTheManifest) {
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"cluster":[1,2,1],"pdl":true,"cooperative":true,"shared_dynamic":100000)")),
            TILE_OK);
  const tile_launch_options overlapping = {nullptr, nullptr, nullptr, 0, 1};
  ASSERT_EQ(launch(0x1000, 300, 32, &overlapping), TILE_OK) << error();
  const auto &attributes = driver.launches[0].attributes;
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(attributes[0].id, tile::runtime::cuda::launchCluster);
  EXPECT_EQ(attributes[0].value.cluster.y, 2u);
  EXPECT_EQ(attributes[1].id, tile::runtime::cuda::launchProgrammaticSerialization);
  EXPECT_EQ(attributes[2].id, tile::runtime::cuda::launchCooperative);
  EXPECT_EQ(driver.launches[0].config.sharedBytes, 100000u);
  EXPECT_EQ(driver.functionAttributes[tile::runtime::cuda::functionMaxDynamicShared], 100000);
}

TEST_F(LaunchTest, onlyKernelsThatAwaitOthersOverlapWithThem) {
  const tile_launch_options overlapping = {nullptr, nullptr, nullptr, 0, 1};
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"pdl":true)")), TILE_OK);
  ASSERT_EQ(launch(0x1000, 300, 32), TILE_OK) << error();
  EXPECT_TRUE(driver.launches[0].attributes.empty()); // off by default
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"pdl":false)")), TILE_OK);
  ASSERT_EQ(launch(0x1000, 300, 32, &overlapping), TILE_OK) << error();
  EXPECT_TRUE(driver.launches[1].attributes.empty());
}

TEST_F(LaunchTest, smallSharedMemoryNeedsNoOptIn) {
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"shared_dynamic":49152)")), TILE_OK);
  ASSERT_EQ(tile_kernel_prepare(kernel), TILE_OK) << error();
  EXPECT_TRUE(driver.functionAttributes.empty());
}

TEST_F(LaunchTest, zeroSizedGridSucceedsWithoutLaunch) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(launch(0, 0, 0), TILE_OK) << error();
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(LaunchTest, modulesAreLoadedOncePerContext) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  for (int device : {0, 1, 0, 1}) {
    ASSERT_EQ(tile_device_activate(runtime, device), TILE_OK);
    ASSERT_EQ(launch(0x1000, 300, 32), TILE_OK) << error();
  }
  EXPECT_EQ(driver.modulesLoaded, 2);
  tile_kernel_destroy(kernel);
  kernel = nullptr;
  EXPECT_EQ(driver.modulesUnloaded, 2);
}

TEST_F(LaunchTest, manyThreadsLoadOneModule) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { failures += tile_kernel_prepare(kernel) != TILE_OK; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(driver.modulesLoaded, 1);
}

TEST_F(LaunchTest, explicitGridAndStream) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  const int64_t grid[3] = {7, 1, 2};
  const tile_launch_options options = {reinterpret_cast<void *>(0x77), grid, nullptr, 0, 0};
  ASSERT_EQ(launch(0x1000, 300, 32, &options), TILE_OK);
  EXPECT_EQ(driver.launches[0].config.gridX, 7u);
  EXPECT_EQ(driver.launches[0].config.gridZ, 2u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(driver.launches[0].config.stream), 0x77u);
}

TEST_F(LaunchTest, negative_brokenAssumptionsNeverLaunch) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(launch(0x1008, 300, 32), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("'a' is 0x1008, which is not a multiple of 16 bytes")) << error();
  EXPECT_EQ(launch(0x1000, 300, 40), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("parameter 2 'K' is 40, which is not a multiple of 16")) << error();
  EXPECT_TRUE(driver.launches.empty());
}

/// Nothing is assumed, but elements must still be aligned to their size.
TEST_F(LaunchTest, negative_addressOfAnElement) {
  const struct {
    const char *type;
    uint64_t bytes;
  } types[] = {{"i1", 1}, {"u8", 1}, {"f8e4m3", 1}, {"f16", 2}, {"bf16", 2}, {"i32", 4}, {"f64", 8}, {"u64", 8}};
  for (const auto &[type, bytes] : types) {
    std::string text = manifestText();
    const std::string whole = R"("type":"ptr<f16>","alignment":16)";
    text.replace(text.find(whole), whole.size(), std::string(R"("type":"ptr<)") + type + ">\"");
    ASSERT_EQ(load(text), TILE_OK) << error();
    EXPECT_EQ(launch(0x1000 + bytes, 300, 32), TILE_OK) << type << ": " << error();
    if (bytes == 1)
      continue;
    EXPECT_EQ(launch(0x1000 + bytes / 2, 300, 32), TILE_ERROR_ASSUMPTION) << type;
    EXPECT_TRUE(errorHas("parameter 0 'a' is 0x100") && errorHas("not a multiple of " + std::to_string(bytes)))
        << error();
    tile_parameter parameter;
    ASSERT_EQ(tile_kernel_parameter(kernel, 0, &parameter), TILE_OK);
    EXPECT_EQ(parameter.alignment, bytes);
  }
}

TEST_F(LaunchTest, negative_requirements) {
  std::string text = manifestText();
  text.insert(text.find("{") + 1, R"("requires":["M % 100 == 0 and K <= 2 * M", "num_sms > 1"],)");
  ASSERT_EQ(load(text), TILE_OK) << error();
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_OK) << error();
  EXPECT_EQ(launch(0x1000, 320, 32), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("requires M % 100 == 0 and K <= 2 * M, which does not hold for M=320, K=32")) << error();
  EXPECT_EQ(launch(0x1000, 0, 32), TILE_ERROR_ASSUMPTION) << "though there is nothing to compute";
  text.replace(text.find("num_sms > 1"), 11, "1 // (M - M)");
  ASSERT_EQ(load(text), TILE_OK) << error();
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("division by zero")) << error();
}

TEST_F(LaunchTest, negative_gridOutOfRange) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(launch(0x1000, -300, 32), TILE_ERROR_GRID);
  EXPECT_TRUE(errorHas("grid dimension 0 is -2")) << error();
  const int64_t tall[3] = {1, 65536, 1}, wide[3] = {int64_t(1) << 31, 1, 1};
  tile_launch_options options = {nullptr, tall, nullptr, 0, 0};
  EXPECT_EQ(launch(0x1000, 300, 32, &options), TILE_ERROR_GRID);
  EXPECT_TRUE(errorHas("grid dimension 1 is 65536; expected 0 to 65535")) << error();
  options.grid = wide;
  EXPECT_EQ(launch(0x1000, 300, 32, &options), TILE_ERROR_GRID);
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"cluster":[2,1,1])")), TILE_OK);
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_GRID);
  EXPECT_TRUE(errorHas("not a multiple of the cluster's 2")) << error();
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(LaunchTest, negative_wrongArgumentArray) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  void *arguments[] = {nullptr, nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(tile_launch(kernel, nullptr, arguments, 3), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("takes 5 arguments, but 3 were given")) << error();
  EXPECT_EQ(tile_launch(kernel, nullptr, arguments, 5), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("argument 0 ('a') is a null pointer")) << error();
  EXPECT_EQ(tile_launch(nullptr, nullptr, arguments, 5), TILE_ERROR_INVALID_ARGUMENT);
}

TEST_F(LaunchTest, taggedValuesAreConverted) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  tile_value values[5] = {};
  values[0] = {TILE_POINTER, {.pointer = 0x2000}};
  values[1] = {TILE_INTEGER, {.integer = 128}};
  values[2] = {TILE_INTEGER, {.integer = 16}};
  values[3] = {TILE_FLOAT, {.real = 1.5}};
  values[4] = {TILE_INTEGER, {.integer = 1}};
  ASSERT_EQ(tile_launch_values(kernel, nullptr, values, 5), TILE_OK) << error();
  EXPECT_EQ(driver.launches[0].arguments[3], 0x3e00u); // 1.5 in f16
  values[1].as.integer = int64_t(1) << 31;
  EXPECT_EQ(tile_launch_values(kernel, nullptr, values, 5), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("parameter 1 'M': 2147483648 does not fit i32")) << error();
  values[1] = {TILE_FLOAT, {.real = 2}};
  EXPECT_EQ(tile_launch_values(kernel, nullptr, values, 5), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("has type i32; the value given is a float")) << error();
  values[1] = {TILE_INTEGER, {.integer = 128}};
  values[3].as.real = 1e6;
  EXPECT_EQ(tile_launch_values(kernel, nullptr, values, 5), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("does not fit f16")) << error();
  values[3].as.real = 1;
  values[4].as.integer = 2;
  EXPECT_EQ(tile_launch_values(kernel, nullptr, values, 5), TILE_ERROR_INVALID_ARGUMENT);
}

TEST_F(LaunchTest, headersCheckIntegers) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(tile_check_integer(kernel, 1, INT32_MAX), TILE_OK);
  EXPECT_EQ(tile_check_integer(kernel, 1, (int64_t(1) << 32) + 8), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("parameter 1 'M': 4294967304 does not fit i32 (-2147483648 to 2147483647)")) << error();
  EXPECT_EQ(tile_check_integer(kernel, 0, 1), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("has no integer parameter 0")) << error();
  EXPECT_EQ(tile_check_integer(kernel, 5, 1), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_check_integer(nullptr, 1, 1), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_f16_from(42).bits, 0x5140);
  EXPECT_EQ(tile_bf16_from(-1.5).bits, 0xbfc0);
  EXPECT_EQ(tile_f16_from(1e6).bits, 0x7c00);
}

TEST_F(LaunchTest, negative_architecture) {
  driver.major = 8;
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_ARCHITECTURE);
  EXPECT_TRUE(errorHas("compiled for sm_90a but the device has compute capability 8.0")) << error();
  EXPECT_EQ(driver.modulesLoaded, 0);
}

TEST_F(LaunchTest, negative_resources) {
  driver.sharedOptin = 101376;
  driver.staticShared = 1024;
  ASSERT_EQ(load(manifestText("sm_90a", R"(,"shared_dynamic":100353)")), TILE_OK);
  EXPECT_EQ(tile_kernel_prepare(kernel), TILE_ERROR_RESOURCES);
  EXPECT_TRUE(
      errorHas("needs 101377 bytes of shared memory per block (1024 static + 100353 dynamic) but the device has "
               "101376"))
      << error();
  driver.maxThreads = 128;
  ASSERT_EQ(load(manifestText()), TILE_OK);
  EXPECT_EQ(tile_kernel_prepare(kernel), TILE_ERROR_RESOURCES);
  EXPECT_TRUE(errorHas("256 threads per block but its registers allow only 128")) << error();
  EXPECT_EQ(driver.modulesUnloaded, driver.modulesLoaded); // nothing is leaked
}

TEST_F(LaunchTest, negative_driverFailuresAreExplained) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  driver.moduleResult = 1;
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("cuModuleLoadDataEx: CUDA_ERROR_INVALID_VALUE (fake failure, error 1)")) << error();
  driver.moduleResult = 0;
  driver.launchResult = 1;
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("grid 3x2x1, 256 threads")) << error();
  driver.launchResult = 0;
  ASSERT_EQ(load(manifestText("sm_90a", "", "missing")), TILE_OK);
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("cuModuleGetFunction('missing')")) << error();
}

/// Arguments for different code: the driver would read arguments that do not exist.
TEST_F(LaunchTest, negative_manifestOfOtherCode) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  for (bool canCount : {false, true}) {
    driver.canCountParameters = canCount;
    driver.parameterBytes = {8, 4, 4, 2};
    EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_NOT_AN_ARTIFACT);
    EXPECT_TRUE(errorHas("the artifact's code takes 4 arguments, but its manifest describes 5")) << error();
    driver.parameterBytes = {8, 4, 4, 2, 1, 128};
    EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_NOT_AN_ARTIFACT);
    EXPECT_TRUE(errorHas("takes 6 arguments, but its manifest describes 5")) << error();
  }
  driver.parameterBytes = {8, 4, 8, 2, 1};
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_NOT_AN_ARTIFACT);
  EXPECT_TRUE(errorHas("argument 2 has 8 bytes in the artifact's code and 4 in its manifest")) << error();
  EXPECT_TRUE(driver.launches.empty());
  EXPECT_EQ(driver.modulesUnloaded, driver.modulesLoaded);
  driver.parameterBytes = {8, 4, 4, 2, 1};
  driver.refusedParameters = 0;
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_OK) << error();
  EXPECT_EQ(driver.refusedParameters, 0) << "compute-sanitizer would report it";
}

TEST_F(LaunchTest, negative_noContextOrDevice) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  driver.context = nullptr;
  EXPECT_EQ(launch(0x1000, 300, 32), TILE_ERROR_NO_DEVICE);
  EXPECT_TRUE(errorHas("no CUDA context is current")) << error();
  EXPECT_EQ(tile_device_activate(runtime, 2), TILE_ERROR_NO_DEVICE);
  EXPECT_TRUE(errorHas("device 2 does not exist; this machine has 2")) << error();
}

TEST_F(LaunchTest, negative_driverWithoutASymbolOrDevice) {
  tile_runtime *other = nullptr;
  driver.missingSymbol = "cuLaunchKernelEx";
  EXPECT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &other), TILE_ERROR_NO_DRIVER);
  EXPECT_TRUE(errorHas("cuLaunchKernelEx")) << error();
  driver.missingSymbol = "";
  driver.initResult = 100;
  EXPECT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &other), TILE_ERROR_NO_DEVICE);
  EXPECT_EQ(other, nullptr);
}

TEST_F(LaunchTest, describesWithoutARuntime) {
  const std::string ptx = "// tile.manifest: " + oneLine(manifestText()) + "\n";
  tile_kernel *described = nullptr;
  ASSERT_EQ(tile_kernel_load_memory(nullptr, ptx.data(), ptx.size(), &described), TILE_OK) << error();
  tile_kernel_info info;
  ASSERT_EQ(tile_kernel_describe(described, &info), TILE_OK);
  EXPECT_STREQ(info.target, "sm_90a");
  EXPECT_EQ(info.parameter_count, 5u);
  tile_parameter parameter;
  ASSERT_EQ(tile_kernel_parameter(described, 0, &parameter), TILE_OK);
  EXPECT_STREQ(parameter.type, "ptr<f16>");
  EXPECT_EQ(parameter.kind, TILE_POINTER);
  EXPECT_EQ(parameter.alignment, 16u);
  ASSERT_EQ(tile_kernel_parameter(described, 4, &parameter), TILE_OK);
  EXPECT_EQ(parameter.size, 1u);
  EXPECT_EQ(tile_kernel_parameter(described, 5, &parameter), TILE_ERROR_INVALID_ARGUMENT);
  const char *json = nullptr;
  ASSERT_EQ(tile_kernel_manifest(described, &json), TILE_OK);
  EXPECT_EQ(json[0], '{');
  EXPECT_EQ(tile_kernel_prepare(described), TILE_ERROR_NO_DRIVER);
  int32_t m = 129;
  uint64_t other = 0;
  void *arguments[] = {&other, &m, &other, &other, &other};
  int64_t grid[3];
  ASSERT_EQ(tile_kernel_grid(described, arguments, 5, 1, grid), TILE_OK);
  EXPECT_EQ(grid[0], 2);
  EXPECT_EQ(grid[1], 1);
  for (int multiprocessors : {0, -1}) {
    EXPECT_EQ(tile_kernel_grid(described, arguments, 5, multiprocessors, grid), TILE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(errorHas("expected at least 1")) << error();
    int64_t blocks[3];
    EXPECT_EQ(tile_kernel_blocks(described, grid, multiprocessors, blocks), TILE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(errorHas("expected at least 1")) << error();
  }
  tile_kernel_destroy(described);
}

TEST_F(LaunchTest, negative_badArtifacts) {
  EXPECT_EQ(tile_kernel_load_memory(runtime, "hello", 5, &kernel), TILE_ERROR_NOT_AN_ARTIFACT);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(load("{}"), TILE_ERROR_MANIFEST);
  EXPECT_EQ(tile_kernel_load_file(runtime, "/nonexistent", &kernel), TILE_ERROR_FILE);
  tile_kernel *unset = reinterpret_cast<tile_kernel *>(1);
  EXPECT_EQ(tile_kernel_load_file(runtime, nullptr, &unset), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(unset, nullptr);
  unset = reinterpret_cast<tile_kernel *>(1);
  EXPECT_EQ(tile_kernel_load_memory(runtime, nullptr, 1, &unset), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(unset, nullptr);
}

TEST_F(LaunchTest, launchPathDoesNotAllocate) {
  ASSERT_EQ(load(manifestText()), TILE_OK);
  ASSERT_EQ(tile_kernel_prepare(kernel), TILE_OK);
  driver.launchResult = 0;
  driver.launches.reserve(4);
  const uint64_t before = allocations;
  EXPECT_EQ(launch(0x1000, 0, 32), TILE_OK);                 // makes all checks, but an empty grid is not launched
  EXPECT_EQ(launch(0x1008, 300, 32), TILE_ERROR_ASSUMPTION); // the error path allocates nothing either
  EXPECT_EQ(allocations, before);
}

} // namespace

// Counts the allocations of the calling thread.
void *operator new(size_t size) {
  ++tile::test::allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}
