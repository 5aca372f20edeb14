// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the ceilings of this GPU, because its data sheet is misleading if its power is limited.
//
//   memory   a device-to-device copy of a large buffer, bytes read and written; not in a graph, where copy engines copy
//   GEMM     cuBLAS on square matrices of normally distributed values, for each requested type
//   launch   the shortest possible node of a CUDA graph
#pragma once

#include "Lab/Bench/Stopwatch.h"
#include "Runner/Results/Measurement.h"

#include <map>

namespace tile::runner {

class CeilingMeter {
public:
  CeilingMeter(CudaContext &context, std::string cublas) : context(&context), cublas(std::move(cublas)) {}

  /// Measures each ceiling on first request. Without a type, or if cuBLAS does not support it, `flops` stays 0.
  Result<Ceilings> measure(std::optional<DataType> type);

private:
  struct Gemm {
    double flops = 0;
    std::string by;
  };
  Status measureMemory(const Stopwatch &watch);
  Result<Gemm> measureGemm(const Stopwatch &watch, DataType type);

  CudaContext *context;
  std::string cublas;
  std::optional<Ceilings> common;
  std::map<DataType, Gemm> gemms;
};

} // namespace tile::runner
