// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies rows: logits = x @ w by cuBLAS, then their softmax by a kernel of tile, in the program's own stream and
// with the memory that it has. What the kernel adds to the program is marked.
#include "softmax.h" // tile: made by tile_add_kernel

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(cublasGetStatusString(status));
}

void check(tile_status status) {
  if (status != TILE_OK)
    throw std::runtime_error(tile_last_error());
}

float *upload(const std::vector<float> &values) {
  float *memory = nullptr;
  check(cudaMalloc(&memory, values.size() * sizeof(float)));
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return memory;
}

std::vector<float> makeValues(size_t count, int step) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(float(i * step % 17) / 8 - 1);
  return values;
}

} // namespace

int main() try {
  constexpr int rows = 200, inputs = 64, classes = 1000;
  check(cudaSetDevice(0));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas));
  check(cublasSetStream(blas, stream));
  const std::vector<float> hostX = makeValues(rows * inputs, 5), hostW = makeValues(inputs * classes, 7);
  float *x = upload(hostX), *w = upload(hostW), *logits = nullptr;
  check(cudaMalloc(&logits, rows * classes * sizeof(float)));

  // tile: the context of cudaSetDevice is current, and is used.
  tile_runtime *runtime = nullptr;
  tile_kernel *softmax = nullptr;
  check(tile_runtime_create(nullptr, nullptr, &runtime));
  check(softmax_load(runtime, &softmax));

  // cuBLAS counts columns first: the transposed product of the transposed operands.
  const float one = 1, zero = 0;
  check(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, classes, rows, inputs, &one, w, classes, x, inputs, &zero, logits,
                    classes));
  // tile: behind the product in the same stream, and in place.
  check(softmax_launch(softmax, stream, logits, logits, rows, classes, classes, classes));

  std::vector<float> result(rows * classes);
  check(cudaMemcpyAsync(result.data(), logits, result.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> exponentials(classes);
    double sum = 0;
    for (int i = 0; i < classes; ++i) {
      double logit = 0;
      for (int k = 0; k < inputs; ++k)
        logit += double(hostX[row * inputs + k]) * hostW[k * classes + i];
      sum += exponentials[i] = std::exp(logit);
    }
    for (int i = 0; i < classes; ++i)
      worst = std::max(worst, std::abs(exponentials[i] / sum - result[row * classes + i]));
  }
  std::printf("largest error %.1e: %s\n", worst, worst < 1e-5 ? "right" : "WRONG");

  tile_kernel_destroy(softmax); // tile
  check(tile_runtime_destroy(runtime));
  check(cublasDestroy(blas));
  return worst < 1e-5 ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
