// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises an expectation that is one matrix product, with a bias and an activation perhaps, and says how cuBLAS
// would compute it; or that has one product of two buffers in it, for which cuBLAS computes only that.
//
// cuBLAS is column-major. A row-major C[M,N] is a column-major C^T[N,M] = B^T A^T, so the operands change places;
// whether an operand is passed transposed follows from which of its strides is 1.
#pragma once

#include "Runner/Check/Check.h"

namespace tile::runner {

struct GemmOperand {
  std::string buffer;
  bool isTransposed = false; ///< for cuBLAS: CUBLAS_OP_T
  int64_t leadingDimension = 0;
  int64_t batchStride = 0; ///< elements from one matrix of a batch to the next; 0: all share it
};

/// output = first @ second, m x n and k long, everything column-major; then bias[i] is added to row i, and the ReLU
/// taken.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1; ///< products; more than one have no epilogue
  GemmOperand first, second, output;
  std::string bias{}; ///< buffer of m contiguous elements; empty: none
  bool hasRelu = false;
  bool isPart = false;    ///< the expectation is more than this product
  bool needsFp32 = false; ///< products of f32 must be nearer than those of tf32, 3e-4, are

  /// cublasGemmEx computes a product alone; with an epilogue it is cublasLtMatmul's.
  bool hasEpilogue() const { return hasRelu || !bias.empty(); }
};

/// Of `a @ b` (operands possibly in transpose()), `a @ b + bias`, or maximum(either, 0); of any other expectation, the
/// product of buffers that is in it, as large as the output. Buffers of three dimensions are batches of matrices.
/// Nothing when there is none, or another; an operand is not a matrix with one unit stride, the bias is not one
/// contiguous element a column of a row-major output, or a size is 0.
std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output);

} // namespace tile::runner
