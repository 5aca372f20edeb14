// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variants of a GEMM for tests: manifests as the compiler writes them, and images that identify themselves.
#pragma once

#include "Runtime/Pack.h"
#include "SmallElf.h"

namespace tile::test {

inline runtime::Bytes bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// c = a @ b of bf16 with row strides: parameters a, b, c, M, N, K, lda. Makes no assumptions.
inline runtime::Manifest gemmManifest(const std::string &name, const std::string &target = "sm_90a") {
  using namespace runtime;
  Manifest manifest;
  manifest.kernel = manifest.entry = "gemm";
  manifest.sourceHash = "sha256:01";
  manifest.target = target;
  manifest.format = "cubin";
  manifest.variant = name;
  for (const char *pointer : {"a", "b", "c"})
    manifest.parameters.push_back({pointer, DataType::BF16, /*isPointer=*/true, 1, 1, {}, {}});
  for (const char *size : {"M", "N", "K", "lda"})
    manifest.parameters.push_back({size, DataType::I32, /*isPointer=*/false, 1, 1, {}, {}});
  manifest.constants = {{"BLOCK", int64_t(64)}};
  manifest.launch.threadsPerCta = 128;
  manifest.launch.grid = {"cdiv(M, BLOCK) * cdiv(N, BLOCK)"};
  return manifest;
}

/// The same with rows of a multiple of 16 bytes, tensor maps and a cost.
inline runtime::Manifest alignedGemm(const std::string &name, unsigned blockM, unsigned blockN,
                                     const std::string &target = "sm_90a") {
  using namespace runtime;
  Manifest manifest = gemmManifest(name, target);
  for (Parameter &parameter : manifest.parameters)
    (parameter.isPointer ? parameter.alignment : parameter.divisibility) = parameter.isPointer     ? 16
                                                                           : parameter.name == "M" ? 1
                                                                                                   : 8;
  manifest.tensorMaps.push_back(
      {.base = "a", .element = DataType::BF16, .shape = {"M", "K"}, .strides = {"lda"}, .box = {64, 64}});
  manifest.constants = {{"BLOCK", int64_t(blockM)}, {"BLOCK_N", int64_t(blockN)}};
  manifest.launch.grid = {"cdiv(M, BLOCK) * cdiv(N, BLOCK_N)"};
  manifest.launch.persistent = true;
  manifest.cost = CostSpec{"M", "N", "K", {}, {}, {}};
  manifest.cost->problem.element = target::MmaType::BF16;
  manifest.cost->config = {blockM, blockN, 64, 8, blockM * blockN > 64 * 128 ? 8u : 4u, 4, true};
  return manifest;
}

/// A general variant and two aligned ones. The last one has no lda, because it only serves calls in which it is 4096.
inline std::vector<runtime::PackedVariant> smallVariants() {
  std::vector<runtime::PackedVariant> variants = {{gemmManifest("general"), smallElf() + "general", "PTX of general"},
                                                  {alignedGemm("aligned-128x256", 128, 256), "image of aligned", ""},
                                                  {alignedGemm("rows-64x64", 64, 64), "image of rows", "PTX of rows"}};
  runtime::Manifest &rows = variants[2].manifest;
  rows.parameters.pop_back();
  rows.constants.emplace_back("lda", int64_t(4096));
  return variants;
}

} // namespace tile::test
