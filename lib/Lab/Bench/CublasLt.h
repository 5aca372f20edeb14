// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cublasLtMatmul: GEMMs with bias and activation in cuBLAS's epilogue, which are the fair comparison for our fused
// kernels, and GEMMs with 8-bit floats, which cublasGemmEx does not support.
#pragma once

#include "Lab/Bench/Cublas.h"

#include <algorithm>

namespace tile::runner {

namespace cublas {
// Constants of cublas_api.h, with their documented values.
constexpr int opN = 0, opT = 1;
constexpr int gemmDefault = -1;
constexpr int compute32F = 68, compute32FFastTf32 = 77, compute64F = 70, compute32I = 72;
} // namespace cublas

/// Returns the cudaDataType of library_types.h; -1 if cuBLAS GEMMs do not support the type.
int cudaDataType(DataType type);
/// Returns the cublasComputeType_t for operands of this type.
int cublasComputeType(DataType input, const GemmPlan &plan);

/// A GEMM with its epilogue. By default the algorithm is the first one in the list of cuBLAS's heuristic, as in
/// frameworks. After a search, it is the fastest one in that list.
class CublasLtMatmul {
public:
  /// Creates the GEMM. `library` is a handle of libcublas, through which its dependency libcublasLt is found. Supports
  /// f16, bf16 and f32 operands, and 8-bit floats if k is contiguous in both operands.
  static Result<std::shared_ptr<CublasLtMatmul>> create(void *library, const GemmPlan &plan,
                                                        const Cublas::Pointers &pointers,
                                                        runtime::CUdeviceptr workspace, size_t workspaceBytes);
  ~CublasLtMatmul();

  Status launch(runtime::CUstream stream);

  /// Selects the fastest algorithm in the heuristic's list, using `measure`, which times a launch. Skips algorithms
  /// that fail to run. Returns the length of the list.
  Result<int> search(const std::function<Result<double>()> &measure);
  /// Uses the algorithm of another GEMM with the same sizes and types.
  void useAlgorithmOf(const CublasLtMatmul &other) { std::copy_n(other.algorithm, 8, algorithm); }

private:
  static constexpr int maxAlgorithms = 64; // the list has about 30 for a GEMM of 16-bit floats
  struct Heuristic;
  Status describe(const GemmPlan &plan);
  Result<std::vector<Heuristic>> queryHeuristic(int wanted);

  struct Functions;
  std::unique_ptr<Functions> functions;
  Cublas::Pointers pointers;
  runtime::CUdeviceptr workspace = 0;
  size_t workspaceBytes = 0;
  void *handle = nullptr, *operation = nullptr, *first = nullptr, *second = nullptr, *output = nullptr;
  uint64_t algorithm[8] = {}; ///< cublasLtMatmulAlgo_t, opaque
};

} // namespace tile::runner
