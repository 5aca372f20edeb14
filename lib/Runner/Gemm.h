// Recognises an expectation that is one matrix product, and says how cuBLAS would compute it.
//
// cuBLAS is column-major. A row-major C[M,N] is a column-major C^T[N,M] = B^T A^T, so the operands change places;
// whether an operand is passed transposed follows from which of its strides is 1.
#pragma once

#include "Runner/Check.h"

namespace tile::runner {

struct GemmOperand {
  std::string buffer;
  bool isTransposed = false; ///< for cuBLAS: CUBLAS_OP_T
  int64_t leadingDimension = 0;
};

/// cublasGemmEx(first.op, second.op, m, n, k, first, second, output), everything column-major.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  GemmOperand first, second, output;
};

/// Nothing when the expectation is not `a @ b` (operands possibly in transpose()), an operand is not a matrix with one
/// unit stride, or a size is 0.
std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output);

} // namespace tile::runner
