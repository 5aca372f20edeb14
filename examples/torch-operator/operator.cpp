// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operator tile::softmax(Tensor x) -> Tensor, along the last dimension. For CUDA tensors it launches in PyTorch's
// current stream; CPU tensors are copied to the GPU, or to the simulator, and back.
#include "../driver/driver.h"
#include "softmax.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#ifdef WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace {

/// Loads the kernel once per process; it may be launched from all threads and on all devices.
tile_kernel *loadKernel(tile_runtime *runtime) {
  tile_kernel *kernel = nullptr;
  driver::check(softmax_load(runtime, &kernel));
  return kernel;
}

/// A tensor of any rank as rows along its last dimension.
struct Rows {
  int32_t count = 0, columns = 0;

  explicit Rows(const at::Tensor &x) {
    TORCH_CHECK(x.dim() > 0 && x.scalar_type() == at::kFloat,
                "tile::softmax takes float32 of one dimension or more, not ", x.toString(), " of ", x.dim());
    const int64_t width = x.size(-1), height = width ? x.numel() / width : 0;
    TORCH_CHECK(width <= INT32_MAX && height <= INT32_MAX, "tile::softmax: ", height, " rows of ", width,
                " columns are too many");
    columns = int32_t(width);
    count = int32_t(height);
  }
};

at::Tensor softmaxOnHost(const at::Tensor &input) {
  static tile_runtime *runtime = driver::open();
  static tile_kernel *kernel = loadKernel(runtime);
  const at::Tensor x = input.contiguous();
  const Rows rows(x);
  at::Tensor out = at::empty_like(x);
  if (x.numel() == 0)
    return out;
  const size_t bytes = x.nbytes();
  driver::check(tile_device_activate(runtime, 0)); // makes the device's context current in this thread
  driver::Address memory = 0;
  driver::call("cuMemAlloc_v2", &memory, bytes);
  auto *values = reinterpret_cast<float *>(memory);
  driver::call("cuMemcpyHtoD_v2", memory, static_cast<const void *>(x.data_ptr()), bytes);
  driver::check(softmax_launch(kernel, nullptr, values, values, rows.count, rows.columns, rows.columns, rows.columns));
  driver::call("cuMemcpyDtoH_v2", out.data_ptr(), memory, bytes);
  driver::call("cuMemFree_v2", memory);
  return out;
}

#ifdef WITH_CUDA
at::Tensor softmaxOnDevice(const at::Tensor &input) {
  static tile_runtime *runtime = [] {
    tile_runtime *made = nullptr;
    driver::check(tile_runtime_create(nullptr, nullptr, &made));
    return made;
  }();
  static tile_kernel *kernel = loadKernel(runtime);
  const c10::cuda::CUDAGuard guard(input.device()); // makes the device's context current
  const at::Tensor x = input.contiguous();
  const Rows rows(x);
  at::Tensor out = at::empty_like(x);
  driver::check(softmax_launch(kernel, c10::cuda::getCurrentCUDAStream().stream(), x.data_ptr<float>(),
                               out.data_ptr<float>(), rows.count, rows.columns, rows.columns, rows.columns));
  return out;
}
#endif

} // namespace

TORCH_LIBRARY(tile, library) {
  library.def("softmax(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(tile, CPU, library) {
  library.impl("softmax", softmaxOnHost);
}
#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(tile, CUDA, library) {
  library.impl("softmax", softmaxOnDevice);
}
#endif
