// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests kernels with variants through the C API, with a mock driver: which module a launch loads, with which arguments,
// and what is rejected.
#include "FakeDriver.h"
#include "Runtime/Artifact.h"
#include "Runtime/Tuning.h"
#include "SmallVariants.h"
#include "tile/tilert.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <thread>

using namespace tile::runtime;
using namespace tile::test;

namespace {

class VariantsTest : public testing::Test {
protected:
  void SetUp() override {
    driver.argumentSizes = {8, 8, 8, 4, 4, 4};
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK) << error();
    ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  }
  void TearDown() override {
    tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }
  tile_status load(const std::string &artifact) {
    tile_kernel_destroy(kernel);
    return tile_kernel_load_memory(runtime, artifact.data(), artifact.size(), &kernel);
  }
  std::string cubin() {
    std::vector<PackedVariant> own = variants;
    own[0].image.clear();
    return *appendVariants(bytesOf(variants[0].image), own);
  }
  tile_status launch(int32_t size, int32_t lda, uint64_t a = 0x1000, const tile_launch_options *options = nullptr) {
    uint64_t b = 0x2000, c = 0x3000;
    void *arguments[] = {&a, &b, &c, &size, &size, &size, &lda};
    return tile_launch(kernel, options, arguments, 7);
  }
  std::string lastImage() { return driver.launches.back().image; }
  std::string error() { return tile_last_error(); }
  bool errorHas(const std::string &part) { return error().find(part) != std::string::npos; }
  std::string writeTable(const TuningTable &table) {
    const std::string path = testing::TempDir() + "variants-test-table.json", text = toJson(table);
    FILE *file = std::fopen(path.c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    return path;
  }
  TuningTable table() {
    const std::string hash = Pack::read(bytesOf(*writePack(variants)))->hash();
    return {"gemm", "sha256:01", hash, "fake", 12080, {"M"}, {{{8192}, "7", "general", 1}}};
  }
  std::string tuning() {
    const char *text = nullptr;
    EXPECT_EQ(tile_kernel_tuning(kernel, &text), TILE_OK) << error();
    return text;
  }

  std::vector<PackedVariant> variants = smallVariants();
  FakeDriver driver;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(VariantsTest, launchLoadsTheChosenVariantAlone) {
  ASSERT_EQ(launch(8192, 8192), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of aligned");
  EXPECT_EQ(driver.modulesLoaded, 1);
  ASSERT_EQ(launch(8192, 8191), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "\x7f"
                         "ELF\x02\x01\x01"); // the image of the first variant
  ASSERT_EQ(launch(4096, 8192), TILE_OK) << error();
  EXPECT_EQ(driver.modulesLoaded, 2);
  tile_kernel_destroy(kernel);
  kernel = nullptr;
  EXPECT_EQ(driver.modulesUnloaded, 2);
}

TEST_F(VariantsTest, cubinLaunchesItselfAsTheFirstVariant) {
  ASSERT_EQ(load(cubin()), TILE_OK) << error();
  ASSERT_EQ(launch(8192, 8191), TILE_OK) << error();
  EXPECT_EQ(lastImage().substr(1, 3), "ELF");
  ASSERT_EQ(launch(8192, 8192), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of aligned");
}

TEST_F(VariantsTest, anOlderDriverIsGivenThePtx) {
  driver.takesPtxAlone = true;
  for (const std::string &artifact : {*writePack(variants), cubin()}) {
    ASSERT_EQ(load(artifact), TILE_OK) << error();
    ASSERT_EQ(launch(8192, 8191), TILE_OK) << error();
    EXPECT_EQ(lastImage(), "PTX of general");
    EXPECT_EQ(launch(8192, 8192), TILE_ERROR_DRIVER);
    EXPECT_TRUE(errorHas("variant 'aligned-128x256': cuModuleLoadDataEx")) << "it has no PTX: " << error();
  }
  variants[1].ptx = "neither";
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  EXPECT_EQ(launch(8192, 8192), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("; the PTX was rejected, too: cuModuleLoadDataEx")) << error();
}

TEST_F(VariantsTest, fixedParametersAreLeftOut) {
  // This variant lacks the last parameter; its tensor map follows the others.
  driver.argumentSizes = {8, 8, 8, 4, 4, 4, sizeof(TensorMap)};
  variants[1].manifest.cost.reset(); // so that rows-64x64 is taken
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  ASSERT_EQ(launch(64, 4096), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of rows");
  EXPECT_EQ(driver.launches[0].arguments[5], 64u);
  ASSERT_EQ(driver.launches[0].maps.size(), 1u);
  EXPECT_EQ(driver.launches[0].maps[0].strides[0], 4096u * 2);
  EXPECT_EQ(driver.launches[0].config.gridX, 1u);
}

TEST_F(VariantsTest, choiceAndEstimateSayWhatALaunchDoes) {
  uint64_t a = 0x1000;
  int32_t size = 8192, lda = 8192;
  void *arguments[] = {&a, &a, &a, &size, &size, &size, &lda};
  uint32_t count = 0, index = 9;
  ASSERT_EQ(tile_kernel_variant_count(kernel, &count), TILE_OK);
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(tile_kernel_choice(kernel, arguments, 7, 132, &index), TILE_OK) << error();
  EXPECT_EQ(index, 1u);
  tile_variant variant;
  ASSERT_EQ(tile_kernel_estimate(kernel, 1, arguments, 7, 132, &variant), TILE_OK) << error();
  EXPECT_STREQ(variant.name, "aligned-128x256");
  EXPECT_STREQ(variant.target, "sm_90a");
  EXPECT_EQ(variant.serves, 1);
  const double whole = variant.microseconds;
  EXPECT_GT(whole, 1000);
  ASSERT_EQ(tile_kernel_estimate(kernel, 1, arguments, 7, 66, &variant), TILE_OK) << error();
  EXPECT_GT(variant.microseconds, 1.5 * whole);
  ASSERT_EQ(tile_kernel_estimate(kernel, 2, arguments, 7, 132, &variant), TILE_OK) << error();
  EXPECT_EQ(variant.serves, 0);
  EXPECT_EQ(error(), "parameter 6 'lda' is 8192; expected 4096");
  ASSERT_EQ(tile_kernel_estimate(kernel, 0, arguments, 7, 132, &variant), TILE_OK) << error();
  EXPECT_LT(variant.microseconds, 0);
  EXPECT_EQ(tile_kernel_estimate(kernel, 3, arguments, 7, 132, &variant), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "variant 3 does not exist; kernel 'gemm' has 3");
  EXPECT_EQ(tile_kernel_choice(kernel, arguments, 7, 0, &index), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_kernel_choice(kernel, arguments, 6, 132, &index), TILE_ERROR_INVALID_ARGUMENT);
}

TEST_F(VariantsTest, variantsAreKernelsOfTheirOwn) {
  tile_kernel *rows = nullptr, *inner = nullptr;
  ASSERT_EQ(tile_kernel_variant(kernel, 2, &rows), TILE_OK) << error();
  tile_kernel_info info;
  ASSERT_EQ(tile_kernel_describe(rows, &info), TILE_OK);
  EXPECT_EQ(info.parameter_count, 6u);
  EXPECT_EQ(info.tensor_map_count, 1u);
  ASSERT_EQ(tile_kernel_describe(kernel, &info), TILE_OK);
  EXPECT_EQ(info.parameter_count, 7u);
  uint64_t a = 0x1000;
  int32_t size = 8192;
  void *arguments[] = {&a, &a, &a, &size, &size, &size};
  ASSERT_EQ(tile_launch(rows, nullptr, arguments, 6), TILE_OK) << error(); // launches this variant
  EXPECT_EQ(lastImage(), "image of rows");
  a = 0x1001;
  EXPECT_EQ(tile_launch(rows, nullptr, arguments, 6), TILE_ERROR_ASSUMPTION);
  unsigned char map[128];
  a = 0x1000;
  ASSERT_EQ(tile_kernel_encode_tensor_map(rows, 0, arguments, 6, map), TILE_OK) << error();
  ASSERT_EQ(tile_kernel_variant(rows, 0, &inner), TILE_OK);
  EXPECT_EQ(inner, rows);
  EXPECT_EQ(tile_kernel_use_tuning(rows, "x"), TILE_ERROR_INVALID_ARGUMENT);
  tile_kernel_destroy(rows); // does nothing
  ASSERT_EQ(tile_launch(rows, nullptr, arguments, 6), TILE_OK) << error();
  EXPECT_EQ(tile_kernel_variant(kernel, 3, &rows), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(rows, nullptr);
}

TEST_F(VariantsTest, oneVariantIsAnArtifactAsEver) {
  const std::string ptx = ".version 8.4\n// tile.manifest: " + toJson(gemmManifest("")) + "\n";
  ASSERT_EQ(load(ptx), TILE_OK) << error();
  uint32_t count = 0, index = 9;
  ASSERT_EQ(tile_kernel_variant_count(kernel, &count), TILE_OK);
  EXPECT_EQ(count, 1u);
  tile_kernel *variant = nullptr;
  ASSERT_EQ(tile_kernel_variant(kernel, 0, &variant), TILE_OK);
  uint64_t a = 0;
  int32_t m = 64, size = 64;
  void *arguments[] = {&a, &a, &a, &m, &size, &size, &size};
  ASSERT_EQ(tile_kernel_choice(kernel, arguments, 7, 132, &index), TILE_OK) << error();
  EXPECT_EQ(index, 0u);
  m = -64;
  EXPECT_EQ(tile_kernel_choice(kernel, arguments, 7, 132, &index), TILE_ERROR_GRID);
  EXPECT_EQ(tuning(), "one variant");
  EXPECT_EQ(tile_kernel_use_tuning(kernel, "x"), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("has one variant; there is nothing to choose"));
}

TEST_F(VariantsTest, theOnlyVariantBelongsToTheKernel) {
  const std::string ptx = ".version 8.4\n// tile.manifest: " + toJson(gemmManifest("")) + "\n";
  ASSERT_EQ(load(ptx), TILE_OK) << error();
  tile_kernel *variant = nullptr, *again = nullptr, *inner = nullptr;
  ASSERT_EQ(tile_kernel_variant(kernel, 0, &variant), TILE_OK) << error();
  ASSERT_EQ(tile_kernel_variant(kernel, 0, &again), TILE_OK) << error();
  EXPECT_EQ(variant, again);
  EXPECT_EQ(tile_kernel_variant(kernel, 1, &again), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(tile_kernel_variant(variant, 1, &again), TILE_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(tile_kernel_variant(variant, 0, &inner), TILE_OK) << error();
  uint64_t a = 0x1000;
  int32_t size = 64;
  void *arguments[] = {&a, &a, &a, &size, &size, &size, &size};
  ASSERT_EQ(tile_launch(variant, nullptr, arguments, 7), TILE_OK) << error();
  for (tile_kernel *handle : {inner, variant, variant})
    tile_kernel_destroy(handle); // does nothing
  ASSERT_EQ(tile_launch(kernel, nullptr, arguments, 7), TILE_OK) << error();
  ASSERT_EQ(tile_launch(variant, nullptr, arguments, 7), TILE_OK) << error();
  EXPECT_EQ(driver.modulesLoaded, 1); // both handles share the module
  tile_kernel_destroy(nullptr);
  tile_kernel_destroy(kernel);
  kernel = nullptr;
  EXPECT_EQ(driver.modulesUnloaded, 1);
}

TEST_F(VariantsTest, laterDevicesTakeThePtxWhereNoCodeIsTheirs) {
  driver.takesPtxAlone = true;
  variants.clear();
  for (const char *target : {"sm_80", "sm_90a"})
    variants.push_back({gemmManifest("general", target), "image", std::string("PTX of ") + target});
  const struct {
    int major, minor;
    const char *image;
  } devices[] = {{8, 0, "PTX of sm_80"},  {8, 6, "PTX of sm_80"},  {8, 9, "PTX of sm_80"},
                 {9, 0, "PTX of sm_90a"}, {10, 0, "PTX of sm_80"}, {12, 0, "PTX of sm_80"}};
  for (const auto &device : devices) {
    driver.major = device.major;
    driver.minor = device.minor;
    ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
    ASSERT_EQ(launch(64, 64), TILE_OK) << device.major << device.minor << ": " << error();
    EXPECT_EQ(lastImage(), device.image) << device.major << device.minor;
    const int loaded = driver.modulesLoaded;
    ASSERT_EQ(tile_kernel_prepare(kernel), TILE_OK) << error();
    EXPECT_EQ(driver.modulesLoaded, loaded) << "the other target's is not needed";
  }
  driver.major = 7;
  driver.minor = 5;
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  EXPECT_EQ(launch(64, 64), TILE_ERROR_ARCHITECTURE);
  EXPECT_TRUE(errorHas("compiled for sm_80") && errorHas("compiled for sm_90a")) << error();
  for (PackedVariant &variant : variants)
    variant.ptx.clear();
  driver.major = 10;
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  EXPECT_EQ(launch(64, 64), TILE_ERROR_ARCHITECTURE);
  EXPECT_TRUE(errorHas("the cubin is compiled for sm_80")) << error();
}

TEST_F(VariantsTest, withoutARuntimeTheTargetOfTheFirstVariantCounts) {
  const std::string pack = *writePack(variants);
  tile_kernel *described = nullptr;
  ASSERT_EQ(tile_kernel_load_memory(nullptr, pack.data(), pack.size(), &described), TILE_OK) << error();
  uint64_t a = 0;
  int32_t size = 8192;
  void *arguments[] = {&a, &a, &a, &size, &size, &size, &size};
  uint32_t index = 9;
  ASSERT_EQ(tile_kernel_choice(described, arguments, 7, 132, &index), TILE_OK) << error();
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(tile_launch(described, nullptr, arguments, 7), TILE_ERROR_NO_DRIVER);
  tile_kernel_destroy(described);
}

TEST_F(VariantsTest, prepareLoadsAllThatRun) {
  variants.push_back({gemmManifest("general", "sm_80"), "image for sm_80", ""});
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  ASSERT_EQ(tile_kernel_prepare(kernel), TILE_OK) << error();
  EXPECT_EQ(driver.modulesLoaded, 3);
  driver.major = 8;
  driver.context = reinterpret_cast<CUcontext>(0x900);
  ASSERT_EQ(launch(8192, 8192), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image for sm_80");
  driver.major = 7;
  driver.context = reinterpret_cast<CUcontext>(0x901);
  EXPECT_EQ(tile_kernel_prepare(kernel), TILE_ERROR_ARCHITECTURE);
  EXPECT_TRUE(errorHas("no variant of kernel 'gemm' runs on this device: 'general': ")) << error();
  EXPECT_EQ(launch(8192, 8192), TILE_ERROR_ARCHITECTURE);
}

TEST_F(VariantsTest, launchPathDoesNotAllocate) {
  ASSERT_EQ(tile_kernel_prepare(kernel), TILE_OK) << error();
  driver.isRecording = false;
  ASSERT_EQ(launch(8, 8), TILE_OK) << error();
  const uint64_t before = allocations;
  for (int32_t size = 8; size < 8000; size += 8) {
    EXPECT_EQ(launch(size, 4096), TILE_OK);
    EXPECT_EQ(launch(size, 4096), TILE_OK);
    EXPECT_EQ(launch(size, size + 1), TILE_OK);
  }
  EXPECT_EQ(allocations, before);
}

TEST_F(VariantsTest, manyThreadsChooseTheSame) {
  driver.isRecording = false;
  constexpr int32_t sizes = 200;
  std::vector<uint32_t> expected(sizes);
  for (int32_t i = 0; i < sizes; ++i) {
    uint64_t a = 0x1000;
    int32_t size = 64 * (i + 1), lda = i % 3 == 0 ? 4096 : i % 3 == 1 ? size : 7;
    void *arguments[] = {&a, &a, &a, &size, &size, &size, &lda};
    ASSERT_EQ(tile_kernel_choice(kernel, arguments, 7, 132, &expected[static_cast<size_t>(i)]), TILE_OK);
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 64; ++thread)
    threads.emplace_back([&, thread] {
      for (int32_t round = 0; round < 2 * sizes; ++round) {
        const int32_t i = (round * 7 + thread) % sizes;
        uint64_t a = 0x1000;
        int32_t size = 64 * (i + 1), lda = i % 3 == 0 ? 4096 : i % 3 == 1 ? size : 7;
        void *arguments[] = {&a, &a, &a, &size, &size, &size, &lda};
        uint32_t index = 9;
        wrong += tile_launch(kernel, nullptr, arguments, 7) != TILE_OK;
        wrong += round % 16 == 0 && (tile_kernel_choice(kernel, arguments, 7, 132, &index) != TILE_OK ||
                                     index != expected[static_cast<size_t>(i)]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(driver.launchCount, 64 * 2 * sizes);
  EXPECT_EQ(driver.modulesLoaded, 3);
}

TEST_F(VariantsTest, scratchMemoryOfVariantsIsApart) {
  // One variant leaves accumulators where another one keeps flags.
  for (size_t i : {1, 2})
    variants[i].manifest.launch.scratchPerCta = 1000;
  driver.argumentSizes = {8, 8, 8, 4, 4, 4, 4, sizeof(TensorMap), 4, 4, 4, 8};
  ASSERT_EQ(load(*writePack(variants)), TILE_OK) << error();
  constexpr size_t own = (132 * 1000 + 127) / 128 * 128; // scratch memory of one variant
  size_t bytes = 0;
  ASSERT_EQ(tile_kernel_scratch_bytes(kernel, 132, &bytes), TILE_OK);
  EXPECT_EQ(bytes, own + 132 * 1000);
  tile_kernel *aligned = nullptr;
  ASSERT_EQ(tile_kernel_variant(kernel, 1, &aligned), TILE_OK);
  ASSERT_EQ(tile_kernel_scratch_bytes(aligned, 132, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 132u * 1000);

  tile_launch_options options = {nullptr, nullptr, reinterpret_cast<void *>(0x800000), own + 132 * 1000, 0};
  ASSERT_EQ(launch(8192, 8192, 0x1000, &options), TILE_OK) << error();
  EXPECT_EQ(driver.launches.back().arguments[11], 0x800000u);
  driver.argumentSizes = {8, 8, 8, 4, 4, 4, sizeof(TensorMap), 4, 4, 4, 8};
  ASSERT_EQ(launch(64, 4096, 0x1000, &options), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of rows");
  EXPECT_EQ(driver.launches.back().arguments[10], 0x800000 + own);
  options.scratch_bytes -= 1;
  EXPECT_EQ(launch(64, 4096, 0x1000, &options), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("the 3 variants of kernel 'gemm' need 264")) << error();
  // With buffers of the runtime, the buffer of each stream is allocated before the stream is captured.
  ASSERT_EQ(tile_kernel_prepare_stream(kernel, reinterpret_cast<void *>(0x77)), TILE_OK) << error();
  EXPECT_EQ(driver.memory.size(), 2u);
}

TEST_F(VariantsTest, tablesAreFollowed) {
  EXPECT_EQ(tuning(), "no tuning table");
  ASSERT_EQ(launch(8192, 4096), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of aligned");
  ASSERT_EQ(tile_kernel_use_tuning(kernel, writeTable(table()).c_str()), TILE_OK) << error();
  ASSERT_EQ(launch(8192, 4096), TILE_OK) << error();
  EXPECT_EQ(lastImage().substr(1, 3), "ELF");
  EXPECT_EQ(tuning(), "a tuning table for 'fake' is used (entries: 1)");
  // Another GPU in the same process.
  driver.name = "another card";
  driver.context = reinterpret_cast<CUcontext>(0x900);
  ASSERT_EQ(launch(8192, 4096), TILE_OK) << error();
  EXPECT_EQ(lastImage(), "image of aligned");
  EXPECT_EQ(tuning(), "no tuning table is used: the tuning table is for device 'fake', not for 'another card'");
}

TEST_F(VariantsTest, tablesInsideAreFollowedWhereTheyAreRight) {
  for (const std::string &artifact : {*writePack(variants), cubin()}) {
    TuningTable own = table();
    own.pack = readArtifact(bytesOf(artifact))->pack->hash();
    ASSERT_EQ(load(*withTuning(bytesOf(artifact), own)), TILE_OK) << error();
    driver.version = 12080;
    driver.context = reinterpret_cast<CUcontext>(0x900);
    ASSERT_EQ(launch(8192, 4096), TILE_OK) << error();
    EXPECT_EQ(lastImage().substr(1, 3), "ELF");
    driver.version = 13000;
    driver.context = reinterpret_cast<CUcontext>(0x901);
    ASSERT_EQ(launch(8192, 4096), TILE_OK) << error();
    EXPECT_EQ(lastImage(), "image of aligned");
    EXPECT_EQ(tuning(), "no tuning table is used: the tuning table was measured with a driver for CUDA 12.8, not with "
                        "a driver for CUDA 13.0; tune again");
  }
}

TEST_F(VariantsTest, negative_wrongTablesAreRefused) {
  TuningTable wrong = table();
  wrong.device = "another card";
  EXPECT_EQ(tile_kernel_use_tuning(kernel, writeTable(wrong).c_str()), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("the tuning table is for device 'another card', not for 'fake'")) << error();
  wrong = table();
  wrong.pack = "fnv1a64:0";
  EXPECT_EQ(tile_kernel_use_tuning(kernel, writeTable(wrong).c_str()), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("for other variants of kernel 'gemm'")) << error();
  wrong = table();
  wrong.entries[0].variant = "odd";
  EXPECT_EQ(tile_kernel_use_tuning(kernel, writeTable(wrong).c_str()), TILE_ERROR_MANIFEST);
  EXPECT_TRUE(errorHas("has no variant 'odd'")) << error();
  EXPECT_EQ(tile_kernel_use_tuning(kernel, "/nonexistent"), TILE_ERROR_FILE);
  EXPECT_EQ(tuning(), "no tuning table");
}

TEST_F(VariantsTest, negative_noVariantServes) {
  uint64_t a = 0x1002;
  int32_t m = -64, size = 64;
  void *arguments[] = {&a, &a, &a, &m, &size, &size, &size};
  EXPECT_EQ(tile_launch(kernel, nullptr, arguments, 7), TILE_ERROR_GRID);
  EXPECT_EQ(error(), "no variant of kernel 'gemm' serves this call: 'general': grid dimension 0 is -1; expected 0 "
                     "to 2147483647; 'aligned-128x256' and 1 other: parameter 0 'a' is 0x1002, which is not a "
                     "multiple of 16 bytes");
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(VariantsTest, negative_damagedVariantsFailWhenTheyAreTaken) {
  std::string damaged = *writePack(variants); // everything in a cubin is checked when it is loaded
  damaged[damaged.find("image of aligned")] ^= 1;
  ASSERT_EQ(load(damaged), TILE_OK) << error();
  EXPECT_EQ(launch(8192, 8191), TILE_OK) << error();
  EXPECT_EQ(launch(8192, 8192), TILE_ERROR_NOT_AN_ARTIFACT);
  EXPECT_TRUE(errorHas("kernel 'gemm', variant 'aligned-128x256': pack: the image of variant 'aligned-128x256' is "
                       "damaged"))
      << error();
  EXPECT_EQ(tile_kernel_prepare(kernel), TILE_ERROR_NOT_AN_ARTIFACT);
}

TEST_F(VariantsTest, negative_damagedTableInside) {
  const std::string broken[] = {"{"};
  const std::string artifact = Pack::read(bytesOf(*writePack(variants)))->withTuning(broken);
  EXPECT_EQ(load(artifact), TILE_ERROR_MANIFEST);
  EXPECT_TRUE(errorHas("the artifact's tuning table: tuning table: not valid JSON")) << error();
}

} // namespace
