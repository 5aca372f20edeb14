// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that take tensor maps and the size of their grid: what reaches the driver, and what is rejected.
#include "FakeDriver.h"
#include "tile/tilert.h"

#include <array>
#include <gtest/gtest.h>

using tile::runtime::TensorMap;
using tile::test::allocations;
using tile::test::FakeDriver;
using tile::test::FakeTensorMap;

namespace {

/// A GEMM of a[M, K] and b[N, K] with rows `lda` and `ldb` elements apart, one program per 128x128 tile.
std::string manifestText(const std::string &launchExtra = "") {
  std::string text = R"json({"schema":1,"abi_version":1,"kernel":"k","entry":"k","target":"sm_90a",
    "parameters":[
      {"name":"a","type":"ptr<f16>"},{"name":"b","type":"ptr<bf16>"},
      {"name":"M","type":"i32"},{"name":"N","type":"i64"},{"name":"K","type":"u64"},
      {"name":"lda","type":"i64"},{"name":"ldb","type":"i64"}],
    "tensor_maps":[
      {"base":"a","element":"f16","shape":["M","K"],"strides":["lda"],"box":[128,64],"swizzle":128},
      {"base":"b","element":"bf16","shape":["2","N","K"],"strides":["N * ldb","ldb"],"box":[1,256,16],"swizzle":32,"l2_promotion":256}],
    "constants":{"BLOCK":128},
    "launch":{"threads_per_cta":384,"grid":["cdiv(M, BLOCK)","cdiv(N, BLOCK)"])json" +
                     launchExtra + "}}";
  std::erase(text, '\n');
  return text;
}

struct Arguments {
  uint64_t a = 0x10000, b = 0x20000;
  int32_t m = 300;
  int64_t n = 520;
  uint64_t k = 72;
  int64_t lda = 80, ldb = 96;
  std::array<void *, 7> pointers() { return {&a, &b, &m, &n, &k, &lda, &ldb}; }
};

class TensorMapTest : public testing::Test {
protected:
  void SetUp() override {
    driver.argumentSizes = {8, 8, 4, 8, 8, 8, 8, sizeof(TensorMap), sizeof(TensorMap)};
    ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &runtime), TILE_OK) << tile_last_error();
  }
  void TearDown() override {
    tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }
  tile_status load(const std::string &manifest, tile_runtime *into) {
    tile_kernel_destroy(kernel);
    const std::string ptx = ".version 8.4\n// tile.manifest: " + manifest + "\n";
    return tile_kernel_load_memory(into, ptx.data(), ptx.size(), &kernel);
  }
  tile_status load(const std::string &launchExtra = "") { return load(manifestText(launchExtra), runtime); }
  void loadPersistent(const std::string &extra = "") {
    for (size_t size : {4, 4, 4})
      driver.argumentSizes.push_back(size);
    ASSERT_EQ(load(",\"persistent\":true" + extra), TILE_OK) << error();
  }
  tile_status launch(Arguments arguments, const int64_t *grid = nullptr) {
    const tile_launch_options options = {nullptr, grid, nullptr, 0, 0};
    return tile_launch(kernel, &options, arguments.pointers().data(), 7);
  }
  std::string error() { return tile_last_error(); }
  bool errorHas(const std::string &part) { return error().find(part) != std::string::npos; }

  FakeDriver driver;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(TensorMapTest, mapsFollowTheParametersInnermostDimensionFirst) {
  ASSERT_EQ(load(), TILE_OK) << error();
  ASSERT_EQ(launch({}), TILE_OK) << error();
  ASSERT_EQ(driver.launches.size(), 1u);
  EXPECT_EQ(driver.launches[0].arguments[2], 300u);
  EXPECT_EQ(driver.launches[0].arguments[6], 96u);
  EXPECT_EQ(driver.launches[0].config.gridX, 3u);
  EXPECT_EQ(driver.launches[0].config.gridY, 5u);
  const FakeTensorMap a = driver.launches[0].maps[0], b = driver.launches[0].maps[1];
  EXPECT_EQ(a.base, 0x10000u);
  EXPECT_EQ(a.rank, 2u);
  EXPECT_EQ(a.type, 6); // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  EXPECT_EQ(a.sizes[0], 72u);
  EXPECT_EQ(a.sizes[1], 300u);
  EXPECT_EQ(a.strides[0], 160u); // bytes
  EXPECT_EQ(a.box[0], 64u);
  EXPECT_EQ(a.box[1], 128u);
  EXPECT_EQ(a.swizzle, 3);   // CU_TENSOR_MAP_SWIZZLE_128B
  EXPECT_EQ(a.promotion, 2); // CU_TENSOR_MAP_L2_PROMOTION_L2_128B
  EXPECT_EQ(b.base, 0x20000u);
  EXPECT_EQ(b.rank, 3u);
  EXPECT_EQ(b.type, 9); // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  EXPECT_EQ(b.sizes[2], 2u);
  EXPECT_EQ(b.strides[0], 192u);
  EXPECT_EQ(b.strides[1], 520u * 192);
  EXPECT_EQ(b.box[2], 1u);
  EXPECT_EQ(b.swizzle, 1);
  EXPECT_EQ(b.promotion, 3); // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
}

/// A dimension that no mask bounds has the largest size that a coordinate can express, whatever its stride.
TEST_F(TensorMapTest, unboundedDimensionsAreTheLargest) {
  std::string manifest = manifestText();
  const std::string shape = R"("shape":["M","K"])", unbounded = R"("shape":["2147483647","2147483647"])";
  manifest.replace(manifest.find(shape), shape.size(), unbounded);
  ASSERT_EQ(load(manifest, runtime), TILE_OK) << error();
  Arguments arguments;
  arguments.lda = (int64_t(1) << 39) - 8;
  ASSERT_EQ(launch(arguments), TILE_OK) << error();
  const FakeTensorMap a = driver.launches[0].maps[0];
  EXPECT_EQ(a.sizes[0], 2147483647u);
  EXPECT_EQ(a.sizes[1], 2147483647u);
  EXPECT_EQ(a.strides[0], (uint64_t(1) << 40) - 16);
}

TEST_F(TensorMapTest, sameArgumentsAreNotEncodedAgain) {
  ASSERT_EQ(load(), TILE_OK);
  const int before = driver.mapsEncoded;
  Arguments first, second;
  first.a = 0x111000; // so that no other test of this thread has made the maps
  first.b = 0x222000;
  second = first;
  second.lda = 88;
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(launch(first), TILE_OK) << error();
  EXPECT_EQ(driver.mapsEncoded, before + 2);
  ASSERT_EQ(launch(second), TILE_OK) << error();
  EXPECT_EQ(driver.mapsEncoded, before + 3); // the map of b is unchanged
  ASSERT_EQ(launch(first), TILE_OK) << error();
  EXPECT_EQ(driver.mapsEncoded, before + 3);
  EXPECT_EQ(driver.launches[5].maps[0].strides[0], 176u);
  EXPECT_EQ(driver.launches[6].maps[0].strides[0], 160u);
}

TEST_F(TensorMapTest, moreMapsThanTheCacheHoldsStayRight) {
  ASSERT_EQ(load(), TILE_OK);
  for (int round = 0; round < 2; ++round)
    for (uint64_t i = 0; i < 500; ++i) {
      Arguments arguments;
      arguments.a += i * 4096;
      ASSERT_EQ(launch(arguments), TILE_OK) << error();
      ASSERT_EQ(driver.launches.back().maps[0].base, arguments.a);
      ASSERT_EQ(driver.launches.back().maps[1].base, arguments.b);
    }
}

TEST_F(TensorMapTest, emptyDimensionsAreEncodedAsOne) {
  ASSERT_EQ(load(), TILE_OK);
  Arguments arguments;
  arguments.k = 0;
  arguments.lda = arguments.ldb = 0;
  ASSERT_EQ(launch(arguments), TILE_OK) << error();
  EXPECT_EQ(driver.launches[0].maps[0].sizes[0], 1u);
  EXPECT_EQ(driver.launches[0].maps[0].sizes[1], 300u);
  EXPECT_EQ(driver.launches[0].arguments[4], 0u); // the kernel gets the actual size
}

TEST_F(TensorMapTest, emptyGridNeedsNoMaps) {
  ASSERT_EQ(load(), TILE_OK);
  Arguments arguments;
  arguments.m = 0;
  arguments.a = 8;
  EXPECT_EQ(launch(arguments), TILE_OK) << error();
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(TensorMapTest, persistentKernelsGetTheGridAndFillTheDevice) {
  loadPersistent();
  ASSERT_EQ(launch({}), TILE_OK) << error();
  EXPECT_EQ(driver.launches[0].config.gridX, 15u); // 3 x 5 programs
  EXPECT_EQ(driver.launches[0].config.gridY, 1u);
  EXPECT_EQ(driver.launches[0].arguments[9], 3u);
  EXPECT_EQ(driver.launches[0].arguments[10], 5u);
  EXPECT_EQ(driver.launches[0].arguments[11], 1u);
  const int64_t grid[3] = {2, 70000, 3}; // the caller's grid counts programs, too
  ASSERT_EQ(launch({}, grid), TILE_OK) << error();
  EXPECT_EQ(driver.launches[1].config.gridX, 132u);
  EXPECT_EQ(driver.launches[1].config.gridY, 1u);
  EXPECT_EQ(driver.launches[1].arguments[10], 70000u);
  EXPECT_EQ(driver.launches[1].arguments[11], 3u);
}

TEST_F(TensorMapTest, persistentBlocksAreWholeClusters) {
  loadPersistent(R"(,"ctas_per_sm":2,"cluster":[5,1,1])");
  const auto blocksOf = [&](int64_t x, int64_t y, int64_t z, int multiprocessors) {
    const int64_t grid[3] = {x, y, z};
    int64_t blocks[3] = {-1, -1, -1};
    EXPECT_EQ(tile_kernel_blocks(kernel, grid, multiprocessors, blocks), TILE_OK) << error();
    EXPECT_EQ(blocks[1], 1);
    return blocks[0];
  };
  EXPECT_EQ(blocksOf(100, 100, 1, 132), 260); // of the 264 CTAs that fit
  EXPECT_EQ(blocksOf(1, 7, 1, 132), 10);
  EXPECT_EQ(blocksOf(1, 7, 1, 1), 5); // at least one cluster
  EXPECT_EQ(blocksOf(2147483647, 4194304, 0, 132), 0);
  driver.launches.clear();
  ASSERT_EQ(launch({}), TILE_OK) << error();
  EXPECT_EQ(driver.launches[0].config.gridX, 15u);
  // Blocks may wait for each other, so the shared memory of the multiprocessor is divided among two.
  EXPECT_EQ(driver.functionAttributes[tile::runtime::cuda::functionSharedCarveout], 100);
}

TEST_F(TensorMapTest, clustersTakeGroupsOfPrograms) {
  loadPersistent(R"(,"cluster":[4,1,1],"programs_per_cluster":[2,1,1])");
  const auto blocksOf = [&](int64_t x, int64_t y, int64_t z) {
    const int64_t grid[3] = {x, y, z};
    int64_t blocks[3] = {-1, -1, -1};
    EXPECT_EQ(tile_kernel_blocks(kernel, grid, 132, blocks), TILE_OK) << error();
    return blocks[0];
  };
  EXPECT_EQ(blocksOf(3, 5, 1), 40); // two clusters for each of five columns, one of them half empty
  EXPECT_EQ(blocksOf(1, 1, 1), 4);
  EXPECT_EQ(blocksOf(64, 64, 1), 132);
  EXPECT_EQ(blocksOf(0, 5, 1), 0);
  EXPECT_EQ(blocksOf(2147483647, 4194304, 0), 0);
}

TEST_F(TensorMapTest, negative_persistentGridsHaveALimit) {
  loadPersistent();
  const int64_t huge[3] = {65536, 32768, 1}, full[3] = {2147483647, 1, 1}, negative[3] = {1, -1, 1},
                wide[3] = {1, 1, 4194305};
  EXPECT_EQ(launch({}, huge), TILE_ERROR_GRID);
  EXPECT_TRUE(errorHas("65536x32768x1 has too many programs")) << error();
  EXPECT_EQ(launch({}, full), TILE_ERROR_GRID); // a block's counter would overflow after the last program
  EXPECT_TRUE(errorHas("2147483647x1x1 has too many programs for a persistent kernel, which counts up to 2147418111"))
      << error();
  EXPECT_EQ(launch({}, negative), TILE_ERROR_GRID);
  EXPECT_EQ(launch({}, wide), TILE_ERROR_GRID);
  EXPECT_TRUE(errorHas("grid dimension 2 is 4194305; expected 0 to 4194304")) << error();
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(TensorMapTest, negative_argumentsThatNoMapCanDescribe) {
  ASSERT_EQ(load(), TILE_OK);
  Arguments arguments;
  arguments.a = 0x10008;
  EXPECT_EQ(launch(arguments), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("parameter 0 'a' is 0x10008, which is not a multiple of 16 bytes")) << error();
  arguments = {};
  arguments.lda = 1001;
  EXPECT_EQ(launch(arguments), TILE_ERROR_ASSUMPTION);
  EXPECT_TRUE(errorHas("parameter 0 'a': stride 0 ('lda') is 1001 elements, 2002 bytes, which is not a multiple of 16"))
      << error();
  arguments = {};
  arguments.ldb = -8;
  EXPECT_EQ(launch(arguments), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("parameter 1 'b': stride 0 ('N * ldb') is -4160 elements; a tensor map can have 0 to "
                       "549755813887"))
      << error();
  arguments = {};
  arguments.lda = int64_t(1) << 39;
  EXPECT_EQ(launch(arguments), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("stride 0 ('lda') is 549755813888 elements")) << error();
  arguments = {};
  arguments.k = uint64_t(1) << 32;
  EXPECT_EQ(launch(arguments), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("parameter 0 'a': dimension 1 ('K') is 4294967296; a tensor map can have 0 to 4294967295"))
      << error();
  arguments.k = uint64_t(1) << 63;
  EXPECT_EQ(launch(arguments), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("parameter 'K' is too large for the tensor map expression 'K'")) << error();
  arguments = {};
  arguments.ldb = int64_t(1) << 62;
  EXPECT_EQ(launch(arguments), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("tensor map expression 'N * ldb'")) << error();
  EXPECT_TRUE(driver.launches.empty());
}

TEST_F(TensorMapTest, negative_failureOfTheDriverIsExplainedAndNotRemembered) {
  ASSERT_EQ(load(), TILE_OK);
  Arguments arguments;
  arguments.a = 0x7770000;
  driver.encodeResult = 1;
  EXPECT_EQ(launch(arguments), TILE_ERROR_DRIVER);
  EXPECT_TRUE(errorHas("kernel 'k', tensor map of 'a' at 0x7770000: innermost dimension first, sizes 72 300 "))
      << error();
  EXPECT_TRUE(errorHas("cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE")) << error();
  driver.encodeResult = 0;
  EXPECT_EQ(launch(arguments), TILE_OK) << error();
}

TEST_F(TensorMapTest, negative_olderDriversRefuseOnlyKernelsWithMaps) {
  driver.missingSymbol = "cuTensorMapEncodeTiled";
  tile_runtime *older = nullptr;
  ASSERT_EQ(tile_runtime_create(FakeDriver::lookup, nullptr, &older), TILE_OK) << error();
  EXPECT_EQ(load(manifestText(), older), TILE_ERROR_NO_DRIVER);
  EXPECT_TRUE(errorHas("kernel 'k' takes tensor maps but the CUDA driver has no cuTensorMapEncodeTiled")) << error();
  std::string plain = manifestText();
  const size_t start = plain.find("\"tensor_maps\""), end = plain.find("\"constants\"");
  EXPECT_EQ(load(plain.erase(start, end - start), older), TILE_OK) << error();
  tile_kernel_destroy(kernel);
  kernel = nullptr;
  tile_runtime_destroy(older);
}

TEST_F(TensorMapTest, callersWithTheirOwnLauncherGetTheSameMaps) {
  ASSERT_EQ(load(), TILE_OK);
  Arguments arguments;
  ASSERT_EQ(launch(arguments), TILE_OK) << error();
  tile_kernel_info info;
  ASSERT_EQ(tile_kernel_describe(kernel, &info), TILE_OK);
  EXPECT_EQ(info.tensor_map_count, 2u);
  EXPECT_EQ(info.persistent, 0u);
  unsigned char map[128];
  ASSERT_EQ(tile_kernel_encode_tensor_map(kernel, 1, arguments.pointers().data(), 7, map), TILE_OK) << error();
  EXPECT_EQ(std::memcmp(map, &driver.launches[0].maps[1], sizeof(FakeTensorMap)), 0);
  EXPECT_EQ(tile_kernel_encode_tensor_map(kernel, 2, arguments.pointers().data(), 7, map), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(errorHas("tensor map 2 does not exist; kernel 'k' has 2")) << error();
  EXPECT_EQ(tile_kernel_encode_tensor_map(kernel, 0, arguments.pointers().data(), 6, map), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tile_kernel_encode_tensor_map(kernel, 0, arguments.pointers().data(), 7, nullptr),
            TILE_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(load(manifestText(), nullptr), TILE_OK);
  EXPECT_EQ(tile_kernel_encode_tensor_map(kernel, 0, arguments.pointers().data(), 7, map), TILE_ERROR_NO_DRIVER);
  const int64_t grid[3] = {3, 5, 1};
  int64_t blocks[3];
  ASSERT_EQ(tile_kernel_blocks(kernel, grid, 132, blocks), TILE_OK);
  EXPECT_EQ(blocks[1], 5); // not persistent: a block for each program
}

TEST_F(TensorMapTest, launchPathDoesNotAllocate) {
  loadPersistent();
  driver.isRecording = false;
  ASSERT_EQ(launch({}), TILE_OK); // loads the module
  Arguments fresh, wrong;
  fresh.a = 0x5550000;
  wrong.lda = 1;
  const uint64_t before = allocations;
  EXPECT_EQ(launch(fresh), TILE_OK);
  EXPECT_EQ(launch(fresh), TILE_OK);
  EXPECT_EQ(launch(wrong), TILE_ERROR_ASSUMPTION);
  EXPECT_EQ(allocations, before);
}

} // namespace
