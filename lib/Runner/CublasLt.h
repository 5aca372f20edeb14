// cublasLtMatmul: a product with bias and activation in cuBLAS's own epilogue, the fused form that ours is measured
// against, and a product of 8-bit floats, which cublasGemmEx does not have.
#pragma once

#include "Runner/Cublas.h"

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
int cublasComputeType(DataType input);

/// One product with its epilogue, its algorithm chosen by cuBLAS's heuristic: the first of its list, as frameworks do.
class CublasLtMatmul {
public:
  /// `library` is a handle of libcublas, whose dependency libcublasLt is found through it. f16, bf16 and f32 operands;
  /// 8-bit floats, k contiguous in both.
  static Result<std::shared_ptr<CublasLtMatmul>> create(void *library, const GemmPlan &plan,
                                                        const Cublas::Pointers &pointers,
                                                        runtime::CUdeviceptr workspace, size_t workspaceBytes);
  ~CublasLtMatmul();

  Status launch(runtime::CUstream stream);

private:
  Status describe(const GemmPlan &plan);
  Status chooseAlgorithm();

  struct Functions;
  std::unique_ptr<Functions> functions;
  Cublas::Pointers pointers;
  runtime::CUdeviceptr workspace = 0;
  size_t workspaceBytes = 0;
  void *handle = nullptr, *operation = nullptr, *first = nullptr, *second = nullptr, *output = nullptr;
  uint64_t algorithm[8] = {}; ///< cublasLtMatmulAlgo_t, opaque
};

} // namespace tile::runner
