// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declares the functions and constants of cublasLt.h that a GEMM with an epilogue needs, with their documented values.
#include "Lab/Bench/CublasLt.h"

#include <cmath>
#include <dlfcn.h>
#include <limits>

namespace tile::runner {

using runtime::makeError;
using runtime::Success;

namespace {

// cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t, cublasLtMatmulPreferenceAttributes_t.
constexpr int descTransA = 3, descTransB = 4, descEpilogue = 7, descBiasPointer = 8, descFastAccumulation = 25,
              descBiasType = 26;
constexpr uint32_t epilogueNone = 1, epilogueRelu = 2, epilogueBias = 4;
constexpr int preferenceWorkspace = 1;

} // namespace

/// cublasLtMatmulHeuristicResult_t.
struct CublasLtMatmul::Heuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

struct CublasLtMatmul::Functions {
  int (*create)(void **handle) = nullptr;
  int (*destroy)(void *handle) = nullptr;
  int (*descCreate)(void **desc, int compute, int scaleType) = nullptr;
  int (*descDestroy)(void *desc) = nullptr;
  int (*descSet)(void *desc, int attribute, const void *value, size_t bytes) = nullptr;
  int (*layoutCreate)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) = nullptr;
  int (*layoutDestroy)(void *layout) = nullptr;
  int (*preferenceCreate)(void **preference) = nullptr;
  int (*preferenceDestroy)(void *preference) = nullptr;
  int (*preferenceSet)(void *preference, int attribute, const void *value, size_t bytes) = nullptr;
  int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int wanted,
                   Heuristic *results, int *found) = nullptr;
  int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *layoutA, const void *b, void *layoutB,
                const void *beta, const void *c, void *layoutC, void *d, void *layoutD, const void *algorithm,
                void *workspace, size_t workspaceBytes, void *stream) = nullptr;
};

Result<std::shared_ptr<CublasLtMatmul>> CublasLtMatmul::create(void *library, const GemmPlan &plan,
                                                               const Cublas::Pointers &pointers,
                                                               runtime::CUdeviceptr workspace, size_t workspaceBytes) {
  auto matmul = std::make_shared<CublasLtMatmul>();
  matmul->functions = std::make_unique<Functions>();
  Functions &f = *matmul->functions;
  const std::pair<const char *, void **> symbols[] = {
      {"cublasLtCreate", reinterpret_cast<void **>(&f.create)},
      {"cublasLtDestroy", reinterpret_cast<void **>(&f.destroy)},
      {"cublasLtMatmulDescCreate", reinterpret_cast<void **>(&f.descCreate)},
      {"cublasLtMatmulDescDestroy", reinterpret_cast<void **>(&f.descDestroy)},
      {"cublasLtMatmulDescSetAttribute", reinterpret_cast<void **>(&f.descSet)},
      {"cublasLtMatrixLayoutCreate", reinterpret_cast<void **>(&f.layoutCreate)},
      {"cublasLtMatrixLayoutDestroy", reinterpret_cast<void **>(&f.layoutDestroy)},
      {"cublasLtMatmulPreferenceCreate", reinterpret_cast<void **>(&f.preferenceCreate)},
      {"cublasLtMatmulPreferenceDestroy", reinterpret_cast<void **>(&f.preferenceDestroy)},
      {"cublasLtMatmulPreferenceSetAttribute", reinterpret_cast<void **>(&f.preferenceSet)},
      {"cublasLtMatmulAlgoGetHeuristic", reinterpret_cast<void **>(&f.heuristic)},
      {"cublasLtMatmul", reinterpret_cast<void **>(&f.matmul)}};
  for (const auto &[symbol, slot] : symbols)
    if (!(*slot = dlsym(library, symbol)))
      return makeError(TILE_ERROR_UNSUPPORTED, "cuBLAS has no function {}", symbol);
  matmul->pointers = pointers;
  matmul->workspace = workspace;
  matmul->workspaceBytes = workspaceBytes;
  if (Status status = matmul->describe(plan); !status)
    return status.error();
  Result<std::vector<Heuristic>> first = matmul->queryHeuristic(1);
  if (!first)
    return first.error();
  std::copy_n(first->front().algorithm, 8, matmul->algorithm);
  return matmul;
}

CublasLtMatmul::~CublasLtMatmul() {
  for (void *layout : {first, second, output})
    if (layout)
      (void)functions->layoutDestroy(layout);
  if (operation)
    (void)functions->descDestroy(operation);
  if (handle)
    (void)functions->destroy(handle);
}

Status CublasLtMatmul::describe(const GemmPlan &plan) {
  const Functions &f = *functions;
  const int firstType = cudaDataType(pointers.firstType), secondType = cudaDataType(pointers.secondType),
            outputType = cudaDataType(pointers.outputType);
  int status = f.create(&handle);
  if (status == 0)
    status = f.descCreate(&operation, cublasComputeType(pointers.firstType, plan), cudaDataType(DataType::F32));
  const auto set = [&](int attribute, const auto &value) {
    if (status == 0)
      status = f.descSet(operation, attribute, &value, sizeof(value));
  };
  set(descTransA, int32_t(plan.first.isTransposed ? cublas::opT : cublas::opN));
  set(descTransB, int32_t(plan.second.isTransposed ? cublas::opT : cublas::opN));
  const uint32_t epilogue = (plan.hasRelu ? epilogueRelu : 0) | (plan.bias.empty() ? 0 : epilogueBias);
  set(descEpilogue, epilogue == 0 ? epilogueNone : epilogue);
  if (!plan.bias.empty()) {
    set(descBiasPointer, reinterpret_cast<const void *>(pointers.bias));
    set(descBiasType, int32_t(cudaDataType(pointers.biasType)));
  }
  if (runtime::dataTypeSize(pointers.firstType) == 1) // scales default to 1
    set(descFastAccumulation, int8_t(!pointers.isPrecise));
  const auto layout = [&](void *&slot, const GemmOperand &operand, int type, int64_t rows, int64_t columns) {
    if (operand.isTransposed)
      std::swap(rows, columns);
    if (status == 0)
      status = f.layoutCreate(&slot, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                              operand.leadingDimension);
  };
  layout(first, plan.first, firstType, plan.m, plan.k);
  layout(second, plan.second, secondType, plan.k, plan.n);
  layout(output, plan.output, outputType, plan.m, plan.n);
  if (status == 0)
    return Success{};
  return makeError(TILE_ERROR_UNSUPPORTED, "cublasLt refused the GEMM with status {}", status);
}

Result<std::vector<CublasLtMatmul::Heuristic>> CublasLtMatmul::queryHeuristic(int wanted) {
  const Functions &f = *functions;
  void *preference = nullptr;
  std::vector<Heuristic> results(static_cast<size_t>(wanted));
  int found = 0;
  int status = f.preferenceCreate(&preference);
  if (status == 0)
    status = f.preferenceSet(preference, preferenceWorkspace, &workspaceBytes, sizeof(workspaceBytes));
  if (status == 0)
    status = f.heuristic(handle, operation, first, second, output, output, preference, wanted, results.data(), &found);
  if (preference)
    (void)f.preferenceDestroy(preference);
  results.resize(static_cast<size_t>(std::max(found, 0)));
  std::erase_if(results, [](const Heuristic &result) { return result.state != 0; });
  if (status != 0 || results.empty())
    return makeError(TILE_ERROR_UNSUPPORTED, "cublasLt has no algorithm for this GEMM (status {})", status);
  return results;
}

Result<int> CublasLtMatmul::search(const std::function<Result<double>()> &measure) {
  Result<std::vector<Heuristic>> candidates = queryHeuristic(maxAlgorithms);
  if (!candidates)
    return candidates.error();
  double best = std::numeric_limits<double>::infinity();
  uint64_t fastest[8] = {};
  Error last{TILE_ERROR_UNSUPPORTED, "cublasLt has no algorithm"};
  for (const Heuristic &candidate : *candidates) {
    std::copy_n(candidate.algorithm, 8, algorithm);
    Result<double> time = measure();
    if (!time)
      last = time.error();
    else if (*time < best) {
      best = *time;
      std::copy_n(algorithm, 8, fastest);
    }
  }
  if (!std::isfinite(best))
    return last;
  std::copy_n(fastest, 8, algorithm);
  return static_cast<int>(candidates->size());
}

Status CublasLtMatmul::launch(runtime::CUstream stream) {
  const float one = 1, zero = 0;
  void *out = reinterpret_cast<void *>(pointers.output);
  const int status = functions->matmul(handle, operation, &one, reinterpret_cast<const void *>(pointers.first), first,
                                       reinterpret_cast<const void *>(pointers.second), second, &zero, out, output, out,
                                       output, algorithm, reinterpret_cast<void *>(workspace), workspaceBytes, stream);
  if (status == 0)
    return Success{};
  return makeError(TILE_ERROR_DRIVER, "cublasLtMatmul failed with status {}", status);
}

} // namespace tile::runner
