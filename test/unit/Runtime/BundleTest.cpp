// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs of several kernels: found by name, through the C++ classes and the C API; damage is an error that says where.
#include "Runtime/Bundle.h"
#include "Runtime/Artifact.h"
#include "SmallVariants.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace tile::runtime;
using namespace tile::test;

namespace {

constexpr const char *smallPtx =
    ".version 8.4\n// tile.manifest: "
    R"({"schema":1,"abi_version":1,"kernel":"k","entry":"k","target":"sm_90a","parameters":[)"
    R"({"name":"a","type":"ptr<f16>","buffer":{"shape":["M","K"]}},)"
    R"({"name":"b","type":"ptr<f32>","buffer":{"shape":["M","4"],"strides":["-8","1"]}},)"
    R"({"name":"c","type":"ptr<f32>"},{"name":"M","type":"i64"},{"name":"K","type":"i32"}],)"
    R"("launch":{"threads_per_cta":128,"grid":["M"]}})"
    "\n";

std::string bundleOf(const std::vector<NamedArtifact> &artifacts) {
  Result<std::string> bundle = writeBundle(artifacts);
  EXPECT_TRUE(bool(bundle)) << bundle.error().message;
  return bundle ? *bundle : "";
}

std::string small() {
  return bundleOf({{"first", smallPtx}, {"gemm_bf16", *writePack(smallVariants())}});
}

std::string errorOf(const std::string &bytes, std::string_view kernel = "first") {
  Result<Artifact> artifact = readArtifact(bytesOf(bytes), kernel);
  return artifact ? "" : artifact.error().message;
}

TEST(Bundle, kernelsAreFoundByName) {
  const std::string bytes = small();
  EXPECT_EQ(bytes, small()); // reproducible
  Result<Artifact> first = readArtifact(bytesOf(bytes), "first");
  ASSERT_TRUE(bool(first)) << first.error().message;
  EXPECT_EQ(first->image, smallPtx);
  Result<Artifact> gemm = readArtifact(bytesOf(bytes), "gemm_bf16");
  ASSERT_TRUE(bool(gemm)) << gemm.error().message;
  EXPECT_EQ(variantCount(*gemm), smallVariants().size());
  EXPECT_TRUE(bool(readArtifact(bytesOf(bundleOf({{"only", smallPtx}}))))); // the only one needs no name
}

TEST(Bundle, negative_Names) {
  EXPECT_EQ(errorOf(small(), "secnod"), "the pack has no kernel 'secnod'; it has first, gemm_bf16");
  EXPECT_EQ(errorOf(small(), ""), "the pack has 2 kernels (first, gemm_bf16); name one, as in FILE:first");
  EXPECT_EQ(errorOf(smallPtx, "other"), "the artifact has no kernel 'other', only 'k'");
  EXPECT_EQ(writeBundle(std::vector<NamedArtifact>{{"a", "x"}, {"a", "y"}}).error().message,
            "pack of kernels: two kernels are called 'a'");
  EXPECT_EQ(writeBundle(std::vector<NamedArtifact>{{"a b", "x"}}).error().message,
            "pack of kernels: a kernel is called 'a b'; names consist of letters, digits and .+_-");
  EXPECT_EQ(writeBundle({}).error().message, "pack of kernels: 0 kernels; expected 1 to 4096");
}

TEST(Bundle, negative_Damage) {
  std::string other = small();
  other[8] = 3;
  EXPECT_EQ(errorOf(other), "pack: version 3 is unknown; this version of tile reads versions 1 and 2");
  EXPECT_EQ(errorOf(small().substr(0, 40)).substr(0, 31), "pack of kernels: the index has ");
  std::string flipped = small();
  flipped[flipped.size() - 3] ^= 1;
  EXPECT_EQ(errorOf(flipped), ""); // the change is in another kernel's bytes
  EXPECT_EQ(errorOf(flipped, "gemm_bf16").substr(0, 36), "pack of kernels: kernel 'gemm_bf16' ");
  EXPECT_NE(errorOf(bundleOf({{"first", "no artifact"}})), "");
  EXPECT_NE(errorOf(bundleOf({{"first", small()}})), ""); // a pack cannot contain packs
  // No byte of header or index can be changed to crash the reader.
  const std::string bytes = small();
  for (size_t i = 8; i < std::min<size_t>(bytes.size(), 200); ++i) {
    std::string changed = bytes;
    changed[i] ^= 0x55;
    (void)errorOf(changed);
  }
}

TEST(Bundle, packsThroughTheApi) {
  const std::string bytes = small();
  tile_pack *pack = nullptr;
  ASSERT_EQ(tile_pack_open_memory(bytes.data(), bytes.size(), &pack), TILE_OK) << tile_last_error();
  uint32_t count = 0;
  EXPECT_EQ(tile_pack_kernel_count(pack, &count), TILE_OK);
  ASSERT_EQ(count, 2u);
  const char *name = nullptr;
  EXPECT_EQ(tile_pack_kernel_name(pack, 1, &name), TILE_OK);
  EXPECT_STREQ(name, "gemm_bf16");
  EXPECT_EQ(tile_pack_kernel_name(pack, 2, &name), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "kernel 2 does not exist; the pack has 2");
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(tile_pack_load(pack, nullptr, "third", &kernel), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "the pack has no kernel 'third'; it has first, gemm_bf16");
  EXPECT_EQ(tile_pack_load(pack, nullptr, "", &kernel), TILE_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(tile_pack_load(pack, nullptr, "gemm_bf16", &kernel), TILE_OK) << tile_last_error();
  tile_pack_close(pack);
  EXPECT_EQ(tile_kernel_variant_count(kernel, &count), TILE_OK);
  EXPECT_EQ(count, 3u);
  tile_kernel_destroy(kernel);
  EXPECT_EQ(tile_pack_open_memory(bytes.data(), 20, &pack), TILE_ERROR_NOT_AN_ARTIFACT);
  EXPECT_EQ(pack, nullptr);
  tile_pack_close(nullptr);
}

TEST(Bundle, filesNameAKernelAfterAColon) {
  const std::string path = testing::TempDir() + "bundle.tilepack", bytes = small();
  std::FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_TRUE(file);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(tile_kernel_load_file(nullptr, (path + ":first").c_str(), &kernel), TILE_OK) << tile_last_error();
  tile_kernel_destroy(kernel);
  EXPECT_EQ(tile_kernel_load_file(nullptr, path.c_str(), &kernel), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tile_last_error()),
            "'" + path + "': the pack has 2 kernels (first, gemm_bf16); name one, as in FILE:first");
  tile_pack *pack = nullptr;
  ASSERT_EQ(tile_pack_open_file(path.c_str(), &pack), TILE_OK) << tile_last_error();
  ASSERT_EQ(tile_pack_load(pack, nullptr, "first", &kernel), TILE_OK);
  tile_kernel_destroy(kernel);
  tile_pack_close(pack);
  std::remove(path.c_str());
  EXPECT_EQ(tile_pack_open_file(path.c_str(), &pack), TILE_ERROR_FILE);
}

TEST(Bundle, artifactsOfOneKernelArePacks) {
  tile_pack *pack = nullptr;
  ASSERT_EQ(tile_pack_open_memory(smallPtx, std::strlen(smallPtx), &pack), TILE_OK) << tile_last_error();
  const char *name = nullptr;
  EXPECT_EQ(tile_pack_kernel_name(pack, 0, &name), TILE_OK);
  EXPECT_STREQ(name, "k");
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(tile_pack_load(pack, nullptr, "k", &kernel), TILE_OK) << tile_last_error();
  tile_pack_close(pack);

  // Sizes of buffers: contiguous, with negative strides, too large, not declared.
  int64_t m = 10, unused = 0;
  int32_t k = 20;
  void *arguments[] = {&unused, &unused, &unused, &m, &k};
  size_t bytes = 0;
  EXPECT_EQ(tile_kernel_buffer_bytes(kernel, 0, arguments, 5, 0, &bytes), TILE_OK) << tile_last_error();
  EXPECT_EQ(bytes, 10u * 20 * 2);
  EXPECT_EQ(tile_kernel_buffer_bytes(kernel, 1, arguments, 5, 0, &bytes), TILE_OK) << tile_last_error();
  EXPECT_EQ(bytes, (9u * 8 + 4) * 4);
  EXPECT_EQ(tile_kernel_buffer_bytes(kernel, 2, arguments, 5, 0, &bytes), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "kernel 'k' has no parameter 2 with a declared buffer");
  m = INT64_MAX;
  EXPECT_EQ(tile_kernel_buffer_bytes(kernel, 0, arguments, 5, 0, &bytes), TILE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "parameter 'a': the buffer's size does not fit in 64 bits");
  m = -1;
  EXPECT_EQ(tile_kernel_buffer_bytes(kernel, 0, arguments, 5, 0, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 0u);
  tile_kernel_destroy(kernel);
}

} // namespace
