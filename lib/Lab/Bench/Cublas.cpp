// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declares the seven functions and the few constants of cublas_api.h that a GEMM needs. Constants have their documented
// values.
#include "Lab/Bench/Cublas.h"

#include "Lab/Bench/CublasLt.h"

#include <dlfcn.h>

namespace tile::runner {

using runtime::makeError;
using runtime::Success;

int cudaDataType(DataType type) {
  switch (type) {
  case DataType::F32:
    return 0;
  case DataType::F64:
    return 1;
  case DataType::F16:
    return 2;
  case DataType::I8:
    return 3;
  case DataType::I32:
    return 10;
  case DataType::BF16:
    return 14;
  case DataType::F8E4M3:
    return 28;
  case DataType::F8E5M2:
    return 29;
  default:
    return -1;
  }
}

int cublasComputeType(DataType input, const GemmPlan &plan) {
  switch (input) {
  case DataType::F64:
    return cublas::compute64F;
  case DataType::I8:
    return cublas::compute32I;
  case DataType::F32:
    // Tensor cores compute f32 as TF32 by default, as our kernels do.
    return plan.needsFp32 ? cublas::compute32F : cublas::compute32FFastTf32;
  default:
    return cublas::compute32F;
  }
}

struct Cublas::Functions {
  int (*create)(void **handle) = nullptr;
  int (*destroy)(void *handle) = nullptr;
  int (*setStream)(void *handle, void *stream) = nullptr;
  int (*setWorkspace)(void *handle, void *workspace, size_t bytes) = nullptr;
  int (*getVersion)(void *handle, int *version) = nullptr;
  int (*gemmEx)(void *handle, int opA, int opB, int m, int n, int k, const void *alpha, const void *a, int typeA,
                int lda, const void *b, int typeB, int ldb, const void *beta, void *c, int typeC, int ldc, int compute,
                int algorithm) = nullptr;
  int (*gemmBatched)(void *handle, int opA, int opB, int m, int n, int k, const void *alpha, const void *a, int typeA,
                     int lda, long long strideA, const void *b, int typeB, int ldb, long long strideB, const void *beta,
                     void *c, int typeC, int ldc, long long strideC, int batch, int compute, int algorithm) = nullptr;
};

Result<std::unique_ptr<Cublas>> Cublas::load(const std::string &path, runtime::CUdeviceptr workspace) {
  void *library = nullptr;
  std::vector<std::string> candidates = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  if (!path.empty())
    candidates = {path};
  for (size_t i = 0; i < candidates.size() && !library; ++i)
    library = dlopen(candidates[i].c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return makeError(TILE_ERROR_UNSUPPORTED, "cuBLAS not found ({}); name it with --cublas=FILE", reason ? reason : "");
  }
  auto cublas = std::make_unique<Cublas>();
  cublas->workspace = workspace;
  cublas->library = library;
  cublas->functions = std::make_unique<Functions>();
  Functions &f = *cublas->functions;
  const std::pair<const char *, void **> symbols[] = {
      {"cublasCreate_v2", reinterpret_cast<void **>(&f.create)},
      {"cublasDestroy_v2", reinterpret_cast<void **>(&f.destroy)},
      {"cublasSetStream_v2", reinterpret_cast<void **>(&f.setStream)},
      {"cublasSetWorkspace_v2", reinterpret_cast<void **>(&f.setWorkspace)},
      {"cublasGetVersion_v2", reinterpret_cast<void **>(&f.getVersion)},
      {"cublasGemmEx", reinterpret_cast<void **>(&f.gemmEx)},
      {"cublasGemmStridedBatchedEx", reinterpret_cast<void **>(&f.gemmBatched)}};
  for (const auto &[symbol, slot] : symbols)
    if (!(*slot = dlsym(library, symbol)))
      return makeError(TILE_ERROR_UNSUPPORTED, "cuBLAS has no function {}", symbol);
  if (const int status = f.create(&cublas->handle); status != 0)
    return makeError(TILE_ERROR_UNSUPPORTED, "cublasCreate failed with status {}", status);
  int version = 0;
  (void)f.getVersion(cublas->handle, &version); // used only for the name
  cublas->versionName = fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  return cublas;
}

Cublas::~Cublas() {
  if (handle)
    (void)functions->destroy(handle);
}

static bool isFloat8(DataType type) {
  return type == DataType::F8E4M3 || type == DataType::F8E5M2;
}

bool Cublas::supports(DataType first, DataType second, DataType output) {
  if (isFloat8(first) && isFloat8(second)) // according to the table of types of cublasLtMatmul
    return (first == DataType::F8E4M3 || second == DataType::F8E4M3) &&
           (output == DataType::F16 || output == DataType::BF16 || output == DataType::F32);
  if (first != second || cudaDataType(first) < 0)
    return false;
  switch (first) {
  case DataType::F16:
  case DataType::BF16:
    return output == first || output == DataType::F32;
  case DataType::I8:
    return output == DataType::I32;
  case DataType::F32:
  case DataType::F64:
    return output == first;
  default:
    return false;
  }
}

Result<std::function<Status(runtime::CUstream)>> Cublas::prepare(const GemmPlan &plan, const Pointers &pointers) {
  if (!plan.hasEpilogue() && !isFloat8(pointers.firstType))
    return std::function<Status(runtime::CUstream)>(
        [this, plan, pointers](runtime::CUstream stream) { return launchGemmEx(plan, pointers, stream); });
  Result<std::shared_ptr<CublasLtMatmul>> matmul = prepareLt(plan, pointers);
  if (!matmul)
    return matmul.error();
  return std::function<Status(runtime::CUstream)>(
      [matmul = *matmul](runtime::CUstream stream) { return matmul->launch(stream); });
}

Result<std::shared_ptr<CublasLtMatmul>> Cublas::prepareLt(const GemmPlan &plan, const Pointers &pointers) {
  return CublasLtMatmul::create(library, plan, pointers, workspace, workspaceBytes);
}

Status Cublas::launchGemmEx(const GemmPlan &plan, const Pointers &pointers, runtime::CUstream stream) {
  if (const int status = functions->setStream(handle, stream); status != 0)
    return makeError(TILE_ERROR_DRIVER, "cublasSetStream failed with status {}", status);
  // Setting the stream restored the default workspace, which cuBLAS itself allocates.
  if (const int status = functions->setWorkspace(handle, reinterpret_cast<void *>(workspace), workspaceBytes); status)
    return makeError(TILE_ERROR_DRIVER, "cublasSetWorkspace failed with status {}", status);
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const int32_t oneInteger = 1, zeroInteger = 0;
  const void *alpha = &one32, *beta = &zero32;
  if (pointers.firstType == DataType::F64)
    alpha = &one64, beta = &zero64;
  else if (pointers.firstType == DataType::I8)
    alpha = &oneInteger, beta = &zeroInteger;
  const int inputType = cudaDataType(pointers.firstType), outputType = cudaDataType(pointers.outputType);
  const int opFirst = plan.first.isTransposed ? cublas::opT : cublas::opN,
            opSecond = plan.second.isTransposed ? cublas::opT : cublas::opN;
  const int m = static_cast<int>(plan.m), n = static_cast<int>(plan.n), k = static_cast<int>(plan.k);
  const int leadingFirst = static_cast<int>(plan.first.leadingDimension),
            leadingSecond = static_cast<int>(plan.second.leadingDimension),
            leadingOutput = static_cast<int>(plan.output.leadingDimension);
  const auto *first = reinterpret_cast<const void *>(pointers.first);
  const auto *second = reinterpret_cast<const void *>(pointers.second);
  auto *output = reinterpret_cast<void *>(pointers.output);
  const int compute = cublasComputeType(pointers.firstType, plan);
  const int status =
      plan.batch == 1
          ? functions->gemmEx(handle, opFirst, opSecond, m, n, k, alpha, first, inputType, leadingFirst, second,
                              inputType, leadingSecond, beta, output, outputType, leadingOutput, compute,
                              cublas::gemmDefault)
          : functions->gemmBatched(handle, opFirst, opSecond, m, n, k, alpha, first, inputType, leadingFirst,
                                   plan.first.batchStride, second, inputType, leadingSecond, plan.second.batchStride,
                                   beta, output, outputType, leadingOutput, plan.output.batchStride,
                                   static_cast<int>(plan.batch), compute, cublas::gemmDefault);
  if (status == 0)
    return Success{};
  return makeError(TILE_ERROR_DRIVER, "{} failed with status {}",
                   plan.batch == 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx", status);
}

} // namespace tile::runner
