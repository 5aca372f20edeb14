// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises an expectation that is a single GEMM, optionally with bias and activation, and describes the equivalent
// cuBLAS call. If a larger expectation contains one matrix multiplication of two buffers, cuBLAS computes only that.
//
// cuBLAS is column-major. A row-major C[M,N] is a column-major C^T[N,M] = B^T A^T, so the operands are swapped. An
// operand is passed transposed depending on which of its strides is 1.
#pragma once

#include "Runner/Check/Check.h"

namespace tile::runner {

struct GemmOperand {
  std::string buffer;
  bool isTransposed = false; ///< for cuBLAS: CUBLAS_OP_T
  int64_t leadingDimension = 0;
  int64_t batchStride = 0; ///< elements from one matrix of a batch to the next; 0: the batch shares one matrix
};

/// Computes output = first @ second, m x n with depth k, all column-major; then adds bias[i] to row i, and applies the
/// ReLU.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1; ///< number of GEMMs; more than one have no epilogue
  GemmOperand first, second, output;
  std::string bias{}; ///< buffer of m contiguous elements; empty: none
  bool hasRelu = false;
  bool isPart = false;    ///< the expectation computes more than this GEMM
  bool needsFp32 = false; ///< f32 results must be more accurate than those of tf32, 3e-4

  /// Returns true if cublasLtMatmul is needed; cublasGemmEx computes a GEMM without epilogue.
  bool hasEpilogue() const { return hasRelu || !bias.empty(); }
};

/// Plans `a @ b` (operands optionally in transpose()), `a @ b + bias`, or maximum(either, 0). For any other
/// expectation, plans its matrix multiplication of buffers, if that has the size of the output. Buffers of three
/// dimensions are batches of matrices. Returns none if there is no such multiplication or several different ones, an
/// operand is not a matrix with one unit stride, the bias is not one contiguous element per column of a row-major
/// output, or a size is 0.
std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output);

} // namespace tile::runner
