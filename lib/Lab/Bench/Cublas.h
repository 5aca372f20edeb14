// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLAS as a GEMM baseline, loaded with dlopen when a benchmark requests it. Uses cublasGemmEx,
// cublasGemmStridedBatchedEx, and cublasLtMatmul for GEMMs with bias and activation or with 8-bit floats.
#pragma once

#include "Runner/Check/Gemm.h"
#include "Runtime/Driver.h"

#include <functional>

namespace tile::runner {

class CublasLtMatmul;

class Cublas {
public:
  /// Workspace size that the cuBLAS documentation recommends for Hopper; older GPUs need less.
  static constexpr size_t workspaceBytes = size_t(32) << 20;

  /// Loads `path`, or the usual names if it is empty. `workspace` must outlive the object.
  static Result<std::unique_ptr<Cublas>> load(const std::string &path, runtime::CUdeviceptr workspace);
  ~Cublas();

  /// Returns "cuBLAS 13.0.2".
  const std::string &name() const { return versionName; }

  /// Returns true if cuBLAS supports this combination of element types.
  static bool supports(DataType first, DataType second, DataType output);

  struct Pointers {
    runtime::CUdeviceptr first = 0, second = 0, output = 0, bias = 0; ///< bias: 0 if the plan has no bias
    DataType firstType = DataType::F16, secondType = DataType::F16;
    DataType outputType = DataType::F16, biasType = DataType::F16;
    bool isPrecise = false; ///< accumulates 8-bit floats in fp32, without fast accumulation
  };
  /// Selects the algorithm. The returned function launches the GEMM on a stream. It does not allocate, so it may be
  /// captured in a graph. It must not outlive this object.
  Result<std::function<Status(runtime::CUstream)>> prepare(const GemmPlan &plan, const Pointers &pointers);

  /// Prepares the GEMM with cublasLtMatmul, for a search.
  Result<std::shared_ptr<CublasLtMatmul>> prepareLt(const GemmPlan &plan, const Pointers &pointers);

private:
  Status launchGemmEx(const GemmPlan &plan, const Pointers &pointers, runtime::CUstream stream);

  struct Functions;
  std::unique_ptr<Functions> functions;
  void *library = nullptr;
  void *handle = nullptr;
  runtime::CUdeviceptr workspace = 0;
  std::string versionName;
};

} // namespace tile::runner
