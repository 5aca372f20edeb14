// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises an expectation that is one GEMM, optionally with bias and activation, and describes the equivalent cuBLAS
// call. If a larger expectation contains exactly one matrix multiplication of two buffers, cuBLAS computes only that
// multiplication.
//
// cuBLAS is column-major. A row-major C[M,N] is a column-major C^T[N,M] = B^T A^T, so the operands are swapped. An
// operand is passed transposed depending on which of its strides is 1.
#pragma once

#include "Runner/Check/Check.h"

namespace tile::runner {

struct GemmOperand {
  std::string buffer;
  bool isTransposed = false; ///< passed to cuBLAS as CUBLAS_OP_T
  int64_t leadingDimension = 0;
  int64_t batchStride = 0; ///< elements from one matrix of a batch to the next; 0: the batch shares one matrix
};

/// Describes output = first @ second, m x n with depth k, all column-major. Then bias[i] is added to row i, and the
/// ReLU is applied.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1; ///< number of GEMMs; if it is more than 1, there is no epilogue
  GemmOperand first, second, output;
  std::string bias{}; ///< a buffer of m contiguous elements; empty: none
  bool hasRelu = false;
  bool isPart = false;    ///< the expectation computes more than this GEMM
  bool needsFp32 = false; ///< f32 results must be more accurate than tf32 allows (3e-4)

  /// Returns true if cublasLtMatmul is required; otherwise cublasGemmEx suffices.
  bool hasEpilogue() const { return hasRelu || !bias.empty(); }
};

/// Plans `a @ b` (each operand optionally in transpose()), `a @ b + bias`, or maximum(x, 0) of one of these. For any
/// other expectation, plans its matrix multiplication of two buffers, if the result has the size of the output. Buffers
/// with three dimensions are batches of matrices. Returns nullopt if there is no such multiplication or there are
/// several different ones, if an operand is not a matrix with a unit stride, if the bias does not have one contiguous
/// element per column of a row-major output, or if a size is 0.
std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output);

} // namespace tile::runner
