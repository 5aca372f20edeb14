// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcublas.so.13 for tests: the column-major f32 GEMM of cublasGemmEx, and that of cublasLtMatmul with bias and
// ReLU, or of e4m3, as their documentation defines them.
#include "Float8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

/// The fields of cublasLt's descriptors and layouts that are used here.
struct Operation {
  int32_t transA = 0, transB = 0;
  uint32_t epilogue = 1;
  const float *bias = nullptr;
  int8_t fastAccumulation = 0;
};
struct Layout {
  int type;
  int64_t rows, columns, leading;
};
/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};
constexpr int invalidValue = 7, notSupported = 15;
constexpr int e4m3 = 28; // cudaDataType; 0 is f32

/// The matrix as f32; `widened` holds the values if the matrix has another type.
const void *widen(const void *matrix, const Layout &layout, std::vector<float> &widened) {
  if (layout.type != e4m3)
    return matrix;
  const auto *bytes = static_cast<const uint8_t *>(matrix);
  widened.resize(static_cast<size_t>(layout.leading * (layout.columns - 1) + layout.rows));
  std::transform(bytes, bytes + widened.size(), widened.begin(), decodeE4m3);
  return widened.data();
}

} // namespace

extern "C" {

int cublasCreate_v2(void **handle) {
  *handle = reinterpret_cast<void *>(0x40);
  return 0;
}
int cublasDestroy_v2(void *) {
  return 0;
}
int cublasSetStream_v2(void *, void *) {
  return 0;
}
int cublasSetWorkspace_v2(void *, void *workspace, size_t) {
  return workspace ? 0 : 7;
}
int cublasGetVersion_v2(void *, int *version) {
  *version = 130002;
  return 0;
}
int cublasGemmEx(void *, int opA, int opB, int m, int n, int k, const void *alpha, const void *a, int typeA, int lda,
                 const void *b, int typeB, int ldb, const void *beta, void *c, int typeC, int ldc, int, int) {
  if (typeA != 0 || typeB != 0 || typeC != 0)
    return notSupported;
  if (lda < (opA ? k : m) || ldb < (opB ? n : k) || ldc < m)
    return invalidValue;
  const float *first = static_cast<const float *>(a), *second = static_cast<const float *>(b);
  float *out = static_cast<float *>(c);
  const float one = *static_cast<const float *>(alpha), zero = *static_cast<const float *>(beta);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += first[opA ? i * lda + p : p * lda + i] * second[opB ? p * ldb + j : j * ldb + p];
      out[j * ldc + i] = one * sum + (zero == 0 ? 0 : zero * out[j * ldc + i]);
    }
  return 0;
}

int cublasGemmStridedBatchedEx(void *handle, int opA, int opB, int m, int n, int k, const void *alpha, const void *a,
                               int typeA, int lda, long long strideA, const void *b, int typeB, int ldb,
                               long long strideB, const void *beta, void *c, int typeC, int ldc, long long strideC,
                               int batch, int compute, int algorithm) {
  for (int i = 0; i < batch; ++i)
    if (int status = cublasGemmEx(handle, opA, opB, m, n, k, alpha, static_cast<const float *>(a) + i * strideA, typeA,
                                  lda, static_cast<const float *>(b) + i * strideB, typeB, ldb, beta,
                                  static_cast<float *>(c) + i * strideC, typeC, ldc, compute, algorithm))
      return status;
  return 0;
}

int cublasLtCreate(void **handle) {
  *handle = reinterpret_cast<void *>(0x48);
  return 0;
}
int cublasLtDestroy(void *) {
  return 0;
}
int cublasLtMatmulDescCreate(void **desc, int, int scaleType) {
  *desc = new Operation;
  return scaleType == 0 ? 0 : notSupported;
}
int cublasLtMatmulDescDestroy(void *desc) {
  delete static_cast<Operation *>(desc);
  return 0;
}
int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t bytes) {
  auto *operation = static_cast<Operation *>(desc);
  int32_t biasType = 0;
  void *const fields[] = {&operation->transA, &operation->transB,           &operation->epilogue,
                          &operation->bias,   &operation->fastAccumulation, &biasType};
  const int attributes[] = {3, 4, 7, 8, 25, 26};
  const size_t sizes[] = {4, 4, 4, 8, 1, 4};
  for (int i = 0; i < 6; ++i)
    if (attributes[i] == attribute && sizes[i] == bytes) {
      std::memcpy(fields[i], value, bytes);
      return biasType == 0 ? 0 : notSupported;
    }
  return invalidValue;
}
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  *layout = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading};
  return (type == 0 || type == e4m3) && leading >= static_cast<int64_t>(rows) ? 0 : invalidValue;
}
int cublasLtMatrixLayoutDestroy(void *layout) {
  delete static_cast<Layout *>(layout);
  return 0;
}
int cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = new size_t(0);
  return 0;
}
int cublasLtMatmulPreferenceDestroy(void *preference) {
  delete static_cast<size_t *>(preference);
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void *, int attribute, const void *, size_t bytes) {
  return attribute == 1 && bytes == 8 ? 0 : invalidValue;
}
int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int wanted, void *result,
                                   int *found) {
  *found = std::min(wanted, 3); // of which the second does not run
  for (int i = 0; i < *found; ++i)
    static_cast<HeuristicResult *>(result)[i] = {{0xa1 + uint64_t(i)}, 0, 0, 1, {}};
  return 0;
}
int cublasLtMatmul(void *, void *desc, const void *alpha, const void *a, void *layoutA, const void *b, void *layoutB,
                   const void *beta, const void *, void *, void *d, void *layoutD, const void *algorithm,
                   void *workspace, size_t, void *) {
  constexpr uint32_t relu = 2, biased = 4;
  const auto &operation = *static_cast<Operation *>(desc);
  const auto &first = *static_cast<Layout *>(layoutA), &second = *static_cast<Layout *>(layoutB),
             &output = *static_cast<Layout *>(layoutD);
  // CUBLASLT_EPILOGUE_DEFAULT is 1; for 0 the real library computes something else.
  const uint64_t chosen = *static_cast<const uint64_t *>(algorithm);
  if ((chosen != 0xa1 && chosen != 0xa3) || !workspace || operation.epilogue == 0)
    return invalidValue;
  // 8-bit floats have k contiguous; those of the test's GEMM are added exactly either way.
  const bool isFloat8 = first.type == e4m3;
  if (isFloat8 != (second.type == e4m3) || output.type != 0 || (isFloat8 && (!operation.transA || operation.transB)) ||
      (!isFloat8 && operation.fastAccumulation))
    return notSupported;
  std::vector<float> widenedA, widenedB;
  a = widen(a, first, widenedA);
  b = widen(b, second, widenedB);
  const int64_t k = operation.transA ? first.rows : first.columns;
  if (int status = cublasGemmEx(nullptr, operation.transA, operation.transB, static_cast<int>(output.rows),
                                static_cast<int>(output.columns), static_cast<int>(k), alpha, a, 0,
                                static_cast<int>(first.leading), b, 0, static_cast<int>(second.leading), beta, d, 0,
                                static_cast<int>(output.leading), 0, 0))
    return status;
  float *out = static_cast<float *>(d);
  for (int64_t j = 0; j < output.columns; ++j)
    for (int64_t i = 0; i < output.rows; ++i) {
      float &value = out[j * output.leading + i];
      value += operation.epilogue & biased ? operation.bias[i] : 0;
      value = operation.epilogue & relu ? std::max(value, 0.0f) : value;
    }
  return 0;
}

} // extern "C"
