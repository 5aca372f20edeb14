// A libcublas.so.13 for tests: the column-major f32 product of cublasGemmEx, as its documentation defines it.
#include <cstddef>
#include <cstdint>

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
  constexpr int notSupported = 15, invalidValue = 7;
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

} // extern "C"
