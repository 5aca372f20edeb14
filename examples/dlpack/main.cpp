// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the softmax of matrices that another library owns and passes as a DLManagedTensor: first a contiguous
// matrix, then a view of some columns of a wider matrix. Then tries three tensors that the launcher rejects.
#include "../driver/driver.h"
#include "launch.h"
#include "softmax.h"

#include <cmath>
#include <cstdio>

namespace {

/// Owns a tensor as a framework does: memory, shape and strides live until the deleter is called.
struct Owner {
  driver::Address memory = 0;
  int64_t shape[2] = {}, strides[2] = {};
  DLManagedTensor managed = {};

  static void destroy(DLManagedTensor *tensor) {
    auto *owner = static_cast<Owner *>(tensor->manager_ctx);
    driver::call("cuMemFree_v2", owner->memory);
    delete owner;
  }
};

/// Returns a view of `columns` of the `width` columns of a matrix, starting at column `first`.
DLManagedTensor *makeTensor(const std::vector<float> &values, int64_t width, int64_t first, int64_t columns) {
  auto *owner = new Owner;
  owner->memory = reinterpret_cast<driver::Address>(driver::upload(values));
  owner->shape[0] = int64_t(values.size()) / width;
  owner->shape[1] = columns;
  owner->strides[0] = width;
  owner->strides[1] = 1;
  DLTensor &tensor = owner->managed.dl_tensor;
  tensor.data = reinterpret_cast<void *>(owner->memory);
  tensor.device = {kDLCUDA, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = owner->shape;
  tensor.strides = owner->strides;
  tensor.byte_offset = uint64_t(first) * sizeof(float);
  owner->managed.manager_ctx = owner;
  owner->managed.deleter = Owner::destroy;
  return &owner->managed;
}

void softmax(tile_kernel *kernel, const DLTensor &x, const DLTensor &out) {
  launch(kernel, nullptr, 0, {&x, &out, x.shape[0], x.shape[1], rowStride(x), rowStride(out)});
}

/// Returns the largest difference from the softmax computed on the host.
double largestError(const std::vector<float> &x, int width, int first, int columns, const std::vector<float> &out) {
  double worst = 0;
  for (size_t row = 0; row < x.size() / width; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(double(x[row * width + first + i]));
    for (int i = 0; i < columns; ++i)
      worst = std::max(worst, std::abs(std::exp(double(x[row * width + first + i])) / sum - out[row * columns + i]));
  }
  return worst;
}

void refuse(tile_kernel *kernel, const DLTensor &x, const DLTensor &out) {
  try {
    softmax(kernel, x, out);
    std::printf("NOT REFUSED\n");
  } catch (const std::invalid_argument &reason) {
    std::printf("refused: %s\n", reason.what());
  }
}

} // namespace

int main() try {
  tile_runtime *runtime = driver::open();
  tile_kernel *kernel = nullptr;
  driver::check(softmax_load(runtime, &kernel));

  constexpr int rows = 5, width = 48, first = 16, columns = 20;
  std::vector<float> values;
  for (int i = 0; i < rows * width; ++i)
    values.push_back(float(i * 37 % 101) / 25 - 2);

  bool isRight = true;
  for (const auto &[begin, count] : {std::pair(0, width), std::pair(first, columns)}) {
    DLManagedTensor *x = makeTensor(values, width, begin, count);
    DLManagedTensor *out = makeTensor(std::vector<float>(rows * count), count, 0, count);
    softmax(kernel, x->dl_tensor, out->dl_tensor);
    const auto *memory = static_cast<const float *>(out->dl_tensor.data);
    const double error = largestError(values, width, begin, count, driver::download(memory, rows * count));
    isRight &= error < 1e-6;
    std::printf("columns %d to %d: %s\n", begin, begin + count, error < 1e-6 ? "right" : "WRONG");
    x->deleter(x);
    out->deleter(out);
  }

  DLManagedTensor *out = makeTensor(values, width, 0, width);
  DLTensor x = out->dl_tensor;
  x.device = {kDLCPU, 0};
  refuse(kernel, x, out->dl_tensor);
  x = out->dl_tensor;
  x.dtype = {kDLFloat, 64, 1};
  refuse(kernel, x, out->dl_tensor);
  int64_t strides[] = {1, rows};
  x = out->dl_tensor;
  x.strides = strides; // transposed
  refuse(kernel, x, out->dl_tensor);
  out->deleter(out);
  tile_kernel_destroy(kernel);
  driver::check(tile_runtime_destroy(runtime));
  return isRight ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
