// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLAS as the opponent of a matrix product, loaded with dlopen when a benchmark asks for it: cublasGemmEx,
// cublasGemmStridedBatchedEx, and cublasLtMatmul for a product with bias and activation, or of 8-bit floats.
#pragma once

#include "Runner/Check/Gemm.h"
#include "Runtime/Driver.h"

#include <functional>

namespace tile::runner {

class CublasLtMatmul;

class Cublas {
public:
  /// Scratch memory that its documentation asks for on Hopper; smaller ones serve older cards.
  static constexpr size_t workspaceBytes = size_t(32) << 20;

  /// Tries `path`, or the usual names when it is empty. `workspace` must outlive the object.
  static Result<std::unique_ptr<Cublas>> load(const std::string &path, runtime::CUdeviceptr workspace);
  ~Cublas();

  /// "cuBLAS 13.0.2"
  const std::string &name() const { return versionName; }

  /// Whether cuBLAS computes this combination of element types.
  static bool supports(DataType first, DataType second, DataType output);

  struct Pointers {
    runtime::CUdeviceptr first = 0, second = 0, output = 0, bias = 0; ///< bias: 0 if the plan has none
    DataType firstType = DataType::F16, secondType = DataType::F16;
    DataType outputType = DataType::F16, biasType = DataType::F16;
    bool isPrecise = false; ///< products of 8-bit floats are added up in fp32: no fast accumulation
  };
  /// Chooses the algorithm. The result launches the product on a stream; it may be captured in a graph: nothing is
  /// allocated. It must not outlive this object.
  Result<std::function<Status(runtime::CUstream)>> prepare(const GemmPlan &plan, const Pointers &pointers);

  /// The product by cublasLtMatmul, for a search.
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
