// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers and manifests in one line, for tests.
#pragma once

#include "Runner/Check/TensorExpr.h"
#include "Runner/Inputs/Element.h"

#include <gtest/gtest.h>

namespace tile::test {

inline runner::HostBuffer makeBuffer(std::vector<int64_t> shape, const std::vector<double> &values,
                                     runtime::DataType type = runtime::DataType::F64,
                                     std::vector<int64_t> strides = {}) {
  const unsigned size = runtime::dataTypeSize(type);
  auto layout = runner::planBuffer(std::move(shape), std::move(strides), size, true);
  EXPECT_TRUE(bool(layout)) << (layout ? "" : layout.error().message);
  auto buffer = runner::HostBuffer::create(type, *layout);
  EXPECT_TRUE(bool(buffer));
  std::vector<uint8_t> dense(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    runner::elementStorer(type)(dense.data() + i * size, values[i]);
  EXPECT_EQ(static_cast<int64_t>(values.size()), layout->elements);
  buffer->importDense(dense.data());
  return std::move(*buffer);
}

/// The row-major elements as doubles.
inline std::vector<double> valuesOf(const runner::HostBuffer &buffer) {
  const unsigned size = runtime::dataTypeSize(buffer.type());
  const std::vector<uint8_t> dense = buffer.exportDense();
  std::vector<double> values;
  for (size_t i = 0; i < dense.size(); i += size)
    values.push_back(runner::elementLoader(buffer.type())(dense.data() + i));
  return values;
}

/// A GEMM: a, b f16, c f32, with strides as parameters.
inline runtime::Manifest matmulManifest() {
  const char *text = R"json({"schema": 1, "abi_version": 1, "kernel": "matmul", "entry": "matmul", "target": "sm_90a",
    "parameters": [
      {"name": "a", "type": "ptr<f16>", "buffer": {"shape": ["M", "K"], "strides": ["stride_am", "stride_ak"]}},
      {"name": "b", "type": "ptr<f16>", "buffer": {"shape": ["K", "N"], "strides": ["stride_bk", "stride_bn"]}},
      {"name": "c", "type": "ptr<f32>", "buffer": {"shape": ["M", "N"], "strides": ["stride_cm", "1"],
                                                   "role": "output"}},
      {"name": "M", "type": "i32", "default": "512"}, {"name": "N", "type": "i32", "default": "M"},
      {"name": "K", "type": "i32", "divisibility": 4},
      {"name": "stride_am", "type": "i32", "default": "K"}, {"name": "stride_ak", "type": "i32", "default": "1"},
      {"name": "stride_bk", "type": "i32", "default": "N"}, {"name": "stride_bn", "type": "i32", "default": "1"},
      {"name": "stride_cm", "type": "i64", "default": "N"}, {"name": "alpha", "type": "f32", "default": "0.5 + 0.5"}],
    "constants": {"BLOCK": 16, "ACT": "none"},
    "launch": {"threads_per_cta": 128, "grid": ["cdiv(M, BLOCK)", "cdiv(N, BLOCK)"]},
    "expect": [{"buffer": "c", "expression": "a @ b", "tolerance": 0.001}]})json";
  auto manifest = runtime::parseManifest(text);
  EXPECT_TRUE(bool(manifest)) << (manifest ? "" : manifest.error().message);
  return manifest ? *manifest : runtime::Manifest{};
}

} // namespace tile::test
