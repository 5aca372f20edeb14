// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cublasLtMatmul: a product with bias and activation in cuBLAS's own epilogue, the fused form that ours is measured
// against, and a product of 8-bit floats, which cublasGemmEx does not have.
#pragma once

#include "Runner/Bench/Cublas.h"

#include <algorithm>

namespace tile::runner {

namespace cublas {
// Of cublas_api.h, with their documented values.
constexpr int opN = 0, opT = 1;
constexpr int gemmDefault = -1;
constexpr int compute32F = 68, compute32FFastTf32 = 77, compute64F = 70, compute32I = 72;
} // namespace cublas

/// cudaDataType of library_types.h; -1: not a type of cuBLAS's products.
int cudaDataType(DataType type);
/// cublasComputeType_t for operands of this type.
int cublasComputeType(DataType input, const GemmPlan &plan);

/// One product with its epilogue, its algorithm chosen by cuBLAS's heuristic: the first of its list, as frameworks do,
/// or the fastest after a search.
class CublasLtMatmul {
public:
  /// `library` is a handle of libcublas, whose dependency libcublasLt is found through it. f16, bf16 and f32 operands;
  /// 8-bit floats, k contiguous in both.
  static Result<std::shared_ptr<CublasLtMatmul>> create(void *library, const GemmPlan &plan,
                                                        const Cublas::Pointers &pointers,
                                                        runtime::CUdeviceptr workspace, size_t workspaceBytes);
  ~CublasLtMatmul();

  Status launch(runtime::CUstream stream);

  /// Takes the fastest of the heuristic's list by `measure`, which times a launch; the length of the list. Those that
  /// do not run are left out.
  Result<int> search(const std::function<Result<double>()> &measure);
  /// Of a product of the same sizes and types.
  void useAlgorithmOf(const CublasLtMatmul &other) { std::copy_n(other.algorithm, 8, algorithm); }

private:
  static constexpr int mostAlgorithms = 64; // it has about 30 for a product of 16-bit floats
  struct Heuristic;
  Status describe(const GemmPlan &plan);
  Result<std::vector<Heuristic>> askHeuristic(int wanted);

  struct Functions;
  std::unique_ptr<Functions> functions;
  Cublas::Pointers pointers;
  runtime::CUdeviceptr workspace = 0;
  size_t workspaceBytes = 0;
  void *handle = nullptr, *operation = nullptr, *first = nullptr, *second = nullptr, *output = nullptr;
  uint64_t algorithm[8] = {}; ///< cublasLtMatmulAlgo_t, opaque
};

} // namespace tile::runner
