// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest: round trip, every kind of error, and damaged text.
#include "Runtime/Manifest.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

const std::string matmulText = R"json({
  "schema": 1, "abi_version": 1, "compiler": "tile 0.1.0", "kernel": "matmul", "entry": "matmul_0",
  "source": {"file": "examples/matmul.tile", "hash": "sha256:00"}, "target": "sm_90a", "format": "cubin",
  "parameters": [
    {"name": "a", "type": "ptr<f16>", "alignment": 16,
     "buffer": {"shape": ["M", "K"], "strides": ["stride_am", 1], "role": "random"}},
    {"name": "c", "type": "ptr<f8e4m3>", "buffer": {"shape": ["M", "M"], "role": "output"}},
    {"name": "M", "type": "i32", "divisibility": 16, "default": "512"},
    {"name": "K", "type": "i32", "default": 64},
    {"name": "stride_am", "type": "i64", "default": "K"},
    {"name": "alpha", "type": "f32", "default": "0.5"}],
  "tensor_maps": [
    {"base": "a", "element": "f16", "shape": ["M", "K"], "strides": ["stride_am"], "box": [128, 64], "swizzle": 128}],
  "constants": {"BLOCK_M": 128, "ACT": "none", "EVEN": true, "EPS": 0.25},
  "launch": {"threads_per_cta": 256, "num_warps": 8, "cluster": [2, 1, 1], "shared_static": 16,
             "shared_dynamic": 98304, "registers": 168, "spill_bytes": 0, "grid": ["cdiv(M, BLOCK_M)", "1 + EVEN"],
             "pdl": true, "cooperative": false, "persistent": true, "ctas_per_sm": 2,
             "scratch_per_cta": 131200},
  "expect": [{"buffer": "c", "expression": "a @ transpose(a)", "tolerance": 0.001}],
  "added_by_a_later_version": [1, 2]
})json";

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = matmulText;
  const size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  return text.replace(position, from.size(), to);
}

std::string errorOf(const std::string &text) {
  Result<Manifest> manifest = parseManifest(text);
  return manifest ? "no error" : manifest.error().message;
}

TEST(Manifest, readsEveryField) {
  Result<Manifest> manifest = parseManifest(matmulText);
  ASSERT_TRUE(bool(manifest)) << manifest.error().message;
  EXPECT_EQ(manifest->entry, "matmul_0");
  EXPECT_EQ(manifest->sourceFile, "examples/matmul.tile");
  ASSERT_EQ(manifest->parameters.size(), 6u);
  const Parameter &a = manifest->parameters[0];
  EXPECT_TRUE(a.isPointer);
  EXPECT_EQ(a.type, DataType::F16);
  EXPECT_EQ(a.alignment, 16);
  EXPECT_EQ(a.typeName(), "ptr<f16>");
  EXPECT_EQ(a.buffer->strides, (std::vector<std::string>{"stride_am", "1"}));
  EXPECT_EQ(manifest->parameters[1].buffer->role, BufferRole::Output);
  EXPECT_EQ(manifest->parameters[2].divisibility, 16);
  EXPECT_EQ(manifest->parameters[3].defaultValue, "64");
  EXPECT_EQ(std::get<int64_t>(manifest->constants[0].second), 128);
  EXPECT_EQ(std::get<std::string>(manifest->constants[1].second), "none");
  EXPECT_EQ(std::get<bool>(manifest->constants[2].second), true);
  EXPECT_EQ(std::get<double>(manifest->constants[3].second), 0.25);
  EXPECT_EQ(manifest->launch.threadsPerCta, 256);
  EXPECT_EQ(manifest->launch.cluster[0], 2);
  EXPECT_TRUE(manifest->launch.pdl);
  EXPECT_TRUE(manifest->launch.persistent);
  EXPECT_EQ(manifest->launch.ctasPerSm, 2);
  EXPECT_EQ(manifest->launch.scratchPerCta, 131200);
  ASSERT_EQ(manifest->tensorMaps.size(), 1u);
  EXPECT_EQ(manifest->tensorMaps[0].base, "a");
  EXPECT_EQ(manifest->tensorMaps[0].element, DataType::F16);
  EXPECT_EQ(manifest->tensorMaps[0].shape, (std::vector<std::string>{"M", "K"}));
  EXPECT_EQ(manifest->tensorMaps[0].strides, (std::vector<std::string>{"stride_am"}));
  EXPECT_EQ(manifest->tensorMaps[0].box, (std::vector<int64_t>{128, 64}));
  EXPECT_EQ(manifest->tensorMaps[0].swizzle, 128);
  EXPECT_EQ(manifest->expect[0].tolerance, 0.001);
}

TEST(Manifest, writtenTextReadsBackTheSame) {
  Result<Manifest> manifest = parseManifest(matmulText);
  ASSERT_TRUE(bool(manifest));
  const std::string line = toJson(*manifest);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  Result<Manifest> again = parseManifest(line);
  ASSERT_TRUE(bool(again)) << again.error().message;
  EXPECT_EQ(toJson(*again), line);
  EXPECT_EQ(toJson(*parseManifest(toJson(*manifest, 2))), line);
}

TEST(Manifest, prettyTextHasPlainListsOnOneLine) {
  Result<Manifest> manifest = parseManifest(replaced("\"file\": \"", "\"file\": \"a\\\" [1, {"));
  ASSERT_TRUE(bool(manifest));
  manifest->tensorMaps[0].shape[0] = "min(M, 4)";
  const std::string text = toJson(*manifest, 2);
  EXPECT_NE(text.find("      \"shape\": [\"min(M, 4)\", \"K\"],\n      \"strides\": [\"stride_am\"],\n"
                      "      \"box\": [128, 64],\n      \"swizzle\": 128,\n      \"l2_promotion\": 128\n    }\n  ]"),
            std::string::npos)
      << text;
  EXPECT_EQ(toJson(*parseManifest(text)), toJson(*manifest));
}

TEST(Manifest, negative_versions) {
  EXPECT_NE(errorOf(replaced("\"schema\": 1", "\"schema\": 2")).find("schema 2 is unknown"), std::string::npos);
  EXPECT_NE(errorOf(replaced("\"abi_version\": 1", "\"abi_version\": 7")).find("abi_version 7"), std::string::npos);
  EXPECT_NE(errorOf("{}").find("schema: is missing"), std::string::npos);
  EXPECT_NE(errorOf("[]").find("expected an object"), std::string::npos);
  EXPECT_NE(errorOf("{").find("not valid JSON"), std::string::npos);
}

TEST(Manifest, negative_errorsNameThePlace) {
  const std::pair<std::string, std::string> cases[] = {
      {replaced("ptr<f16>", "ptr<f17>"), "parameters[0].type: unknown type 'ptr<f17>'"},
      {replaced("\"role\": \"random\"", "\"role\": \"other\""), "parameters[0].buffer.role: unknown role 'other'"},
      {replaced("\"alignment\": 16", "\"alignment\": 12"), "alignment 12 of parameter 'a' is not a power of two"},
      {replaced("\"alignment\": 16", "\"alignment\": \"x\""), "parameters[0].alignment: expected an integer"},
      {replaced("\"divisibility\": 16", "\"divisibility\": 0"), "divisibility 0 of parameter 'M'"},
      {replaced("\"name\": \"K\"", "\"name\": \"M\""), "'K' is neither"},
      {replaced("\"name\": \"alpha\"", "\"name\": \"M\""), "the name 'M' is used twice"},
      {replaced("\"name\": \"alpha\"", "\"name\": \"BLOCK_M\""), "the name 'BLOCK_M' is used twice"},
      {replaced("\"name\": \"alpha\"", "\"name\": \"a b\""), "'a b' is not an identifier"},
      {replaced("cdiv(M, BLOCK_M)", "cdiv(Q, 2)"), "grid: in expression 'cdiv(Q, 2)'"},
      {replaced("\"M\", \"K\"", "\"M\", \"K\", \"K\""), "buffer 'a' has 3 dimensions but 2 strides"},
      {replaced("\"threads_per_cta\": 256", "\"threads_per_cta\": 2000"), "threads_per_cta is 2000"},
      {replaced("\"threads_per_cta\": 256, ", ""), "launch.threads_per_cta: is missing"},
      {replaced("\"threads_per_cta\": 256, \"num_warps\": 8", "\"threads_per_cta\": 9223372036854775807"),
       "threads_per_cta is 9223372036854775807"},
      {replaced("[2, 1, 1]", "[2, 1]"), "launch.cluster: expected a list of three integers"},
      {replaced("[2, 1, 1]", "[16, 2, 1]"), "the cluster has 32 thread blocks"},
      {replaced("98304", "-1"), "shared memory size is -1"},
      {replaced("\"pdl\": true", "\"pdl\": 1"), "launch.pdl: expected true or false"},
      {replaced("\"buffer\": \"c\"", "\"buffer\": \"M\""), "'expect' names 'M'"},
      {replaced("\"tolerance\": 0.001", "\"tolerance\": -1"), "tolerance of 'c' is -1"},
      {replaced("\"tolerance\": 0.001", "\"tolerance\": \"x\""), "expect[0].tolerance: expected a number"},
      {replaced("sm_90a", "gfx942"), "target 'gfx942'"},
      {replaced("{\"name\": \"M\"", "[\"M\""), "not valid JSON"},
      {replaced("\"entry\": \"matmul_0\"", "\"entry\": 3"), "entry: expected a string"},
      {replaced("\"type\": \"f32\"", "\"type\": \"f8e5m2\""), "which only pointers may have"},
      {replaced("\"base\": \"a\"", "\"base\": \"M\""), "a tensor map names 'M', which is not a pointer parameter"},
      {replaced("\"element\": \"f16\"", "\"element\": \"f17\""), "tensor_maps[0].element: unknown type 'f17'"},
      {replaced("\"box\": [128, 64]", "\"box\": [128]"), "has 2 dimensions, 1 strides and a box of 1"},
      {replaced("\"box\": [128, 64]", "\"box\": [128, 1, 1, 64]"), "has 2 dimensions, 1 strides and a box of 4"},
      {replaced("\"box\": [128, 64]", "\"box\": \"x\""), "tensor_maps[0].box: expected a list of integers"},
      {replaced("\"box\": [128, 64]", "\"box\": [512, 64]"), "box dimension is 512; expected 1 to 256"},
      {replaced("\"box\": [128, 64]", "\"box\": [18446744073709551615, 64]"), "box: expected a list of integers"},
      {replaced("[2, 1, 1]", "[18446744073709551615, 1, 1]"), "launch.cluster: expected a list of three integers"},
      {replaced("\"BLOCK_M\": 128", "\"BLOCK_M\": 18446744073709551615"), "'BLOCK_M' is neither an integer"},
      {replaced("\"schema\": 1", "\"schema\": 1, \"requires\": [\"Q > 1\"]"), "requires: in expression 'Q > 1'"},
      {replaced("\"schema\": 1", "\"schema\": 1, \"requires\": \"M > 1\""), "requires: expected a list"},
      {replaced("131200", "0, \"shares_tails\": true"), "shares_tails is true, but the kernel has no scratch memory"},
      {replaced("\"box\": [128, 64]", "\"box\": [128, 4]"), "a row of the box has 8 bytes; expected a multiple of 16"},
      {replaced("\"box\": [128, 64]", "\"box\": [128, 128]"), "has 256 bytes; with swizzle 128 at most 128"},
      {replaced("\"swizzle\": 128", "\"swizzle\": 16"), "swizzle is 16; expected 0, 32, 64 or 128"},
      {replaced("\"swizzle\": 128", "\"l2_promotion\": 64"), "l2_promotion is 64; expected 128 or 256"},
      {replaced("\"shape\": [\"M\", \"K\"], \"strides\": [\"stride_am\"]",
                "\"shape\": [\"M\", \"num_sms\"], \"strides\": [\"stride_am\"]"),
       "shape of the tensor map of 'a': in expression 'num_sms'"},
      {replaced("\"ctas_per_sm\": 2", "\"ctas_per_sm\": 0"), "ctas_per_sm is 0; expected 1 to 32"},
      {replaced("131200", "-1"), "scratch_per_cta is -1 bytes; expected 0 to 67108864"},
      {replaced("131200", "67108865"), "scratch_per_cta is 67108865 bytes; expected 0 to 67108864"},
      {replaced("131200", "\"1\""), "launch.scratch_per_cta: expected an integer"},
      {replaced("\"persistent\": true, ", ""), "scratch_per_cta is 131200 bytes, but only a persistent kernel can"},
      {replaced("\"ctas_per_sm\": 2", "\"programs_per_cluster\": [2, 2, 1]"),
       "2x2x1 programs per cluster cannot be shared by 2 thread blocks"},
      {replaced("\"ctas_per_sm\": 2", "\"programs_per_cluster\": [2, 0, 0]"),
       "2x0x0 programs per cluster cannot be shared by 2 thread blocks"},
      {replaced("\"ctas_per_sm\": 2", "\"programs_per_cluster\": 2"),
       "launch.programs_per_cluster: expected a list of three integers"},
      {replaced("[2, 1, 1]", "[2, 2, 1]"), "a persistent kernel has the cluster 2x2x1; expected one of 4x1x1"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_NE(errorOf(text).find(expected), std::string::npos) << expected << "\n  got: " << errorOf(text);
}

TEST(Manifest, noScratchIsNotWritten) {
  Result<Manifest> manifest = parseManifest(replaced("131200", "0"));
  ASSERT_TRUE(bool(manifest)) << manifest.error().message;
  EXPECT_EQ(toJson(*manifest).find("scratch"), std::string::npos);
}

TEST(Manifest, negative_tooManyTensorMaps) {
  Manifest manifest = *parseManifest(matmulText);
  manifest.tensorMaps.resize(maxTensorMaps, manifest.tensorMaps.front());
  EXPECT_TRUE(bool(validate(manifest)));
  manifest.tensorMaps.push_back(manifest.tensorMaps.front());
  EXPECT_NE(validate(manifest).error().message.find("17 tensor maps; at most 16"), std::string::npos);
}

TEST(Manifest, negative_deepNesting) {
  for (const int depth : {20, 40, 200000}) {
    const std::string nested = std::string(depth, '[') + std::string(depth, ']');
    const std::string text = replaced("\"schema\": 1", "\"unknown\": " + nested + ", \"schema\": 1");
    EXPECT_EQ(bool(parseManifest(text)), depth == 20) << depth;
    if (depth != 20)
      EXPECT_NE(errorOf(text).find("nested too deeply"), std::string::npos) << depth;
  }
}

TEST(Manifest, everyTruncationAndDamagedByteIsSurvived) {
  for (size_t size = 0; size < matmulText.size() - 1; ++size)
    EXPECT_FALSE(bool(parseManifest(matmulText.substr(0, size)))) << size;
  for (size_t i = 0; i < matmulText.size(); ++i)
    for (char value : {'\0', '0', '"', '}', '[', ',', '-', '\x80'}) {
      std::string damaged = matmulText;
      damaged[i] = value;
      (void)parseManifest(damaged);
    }
  (void)parseManifest(std::string(100000, '['));
}

TEST(Manifest, textThatIsNotUtf8IsWrittenReplaced) {
  Manifest manifest;
  manifest.entry = "k";
  manifest.sourceFile = "\xff.tile";
  manifest.launch.threadsPerCta = 32;
  EXPECT_TRUE(bool(parseManifest(toJson(manifest))));
}

} // namespace
