// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operator Softmax(x) in the domain "tile": float32, along the last dimension, for two execution providers. The
// CUDA version launches in the session's stream, on device memory. The CPU version copies the tensor to the GPU, or to
// the simulator, and back.
#include "../driver/driver.h"
#include "softmax.h"

// ONNX Runtime passes its API when it loads the library.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <memory>

namespace {

enum class Provider { Cpu, Cuda };

/// One node of a model. ONNX Runtime may run a node on several threads concurrently.
template <Provider provider> class SoftmaxKernel {
public:
  SoftmaxKernel() {
    if (provider == Provider::Cpu)
      runtime = driver::open();
    else
      driver::check(tile_runtime_create(nullptr, nullptr, &runtime));
    driver::check(softmax_load(runtime, &kernel));
  }
  ~SoftmaxKernel() {
    tile_kernel_destroy(kernel);
    tile_runtime_destroy(runtime);
  }
  SoftmaxKernel(const SoftmaxKernel &) = delete;
  SoftmaxKernel &operator=(const SoftmaxKernel &) = delete;

  OrtStatusPtr ComputeV2(OrtKernelContext *given) try {
    Ort::KernelContext context(given);
    const Ort::ConstValue x = context.GetInput(0);
    const std::vector<int64_t> shape = x.GetTensorTypeAndShapeInfo().GetShape();
    Ort::UnownedValue out = context.GetOutput(0, shape);
    const int64_t columns = shape.empty() ? 1 : shape.back();
    int64_t count = 1;
    for (const int64_t size : shape)
      count *= size;
    if (count > INT32_MAX)
      throw std::runtime_error("tile.Softmax: " + std::to_string(count) + " elements are too many");
    if (count != 0)
      compute(context.GetGPUComputeStream(), x.GetTensorData<float>(), out.GetTensorMutableData<float>(),
              int32_t(count / columns), int32_t(columns));
    return nullptr;
  } catch (const std::exception &failure) {
    return Ort::GetApi().CreateStatus(ORT_FAIL, failure.what());
  }

private:
  void compute(void *stream, const float *x, float *out, int32_t rows, int32_t columns) const {
    if (provider == Provider::Cuda) {
      driver::check(softmax_launch(kernel, stream, const_cast<float *>(x), out, rows, columns, columns, columns));
      return;
    }
    driver::check(tile_device_activate(runtime, 0)); // makes the device's context current in this thread
    const size_t bytes = size_t(rows) * size_t(columns) * sizeof(float);
    driver::Address memory = 0;
    driver::call("cuMemAlloc_v2", &memory, bytes);
    auto *values = reinterpret_cast<float *>(memory);
    driver::call("cuMemcpyHtoD_v2", memory, static_cast<const void *>(x), bytes);
    driver::check(softmax_launch(kernel, nullptr, values, values, rows, columns, columns, columns));
    driver::call("cuMemcpyDtoH_v2", static_cast<void *>(out), memory, bytes);
    driver::call("cuMemFree_v2", memory);
  }

  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
};

template <Provider provider>
struct Softmax : Ort::CustomOpBase<Softmax<provider>, SoftmaxKernel<provider>, /*WithStatus=*/true> {
  const char *GetName() const { return "Softmax"; }
  const char *GetExecutionProviderType() const {
    return provider == Provider::Cpu ? "CPUExecutionProvider" : "CUDAExecutionProvider";
  }
  size_t GetInputTypeCount() const { return 1; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }

  OrtStatusPtr CreateKernelV2(const OrtApi &api, const OrtKernelInfo *, void **kernel) const try {
    *kernel = new SoftmaxKernel<provider>;
    return nullptr;
  } catch (const std::exception &failure) {
    return api.CreateStatus(ORT_FAIL, failure.what());
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus *RegisterCustomOps(OrtSessionOptions *options,
                                                                               const OrtApiBase *base) try {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  static const Softmax<Provider::Cpu> onHost;
  static const Softmax<Provider::Cuda> onDevice;
  static const auto domain = [] {
    Ort::CustomOpDomain made("tile");
    made.Add(&onHost);
    made.Add(&onDevice);
    return made;
  }();
  Ort::UnownedSessionOptions(options).Add(domain);
  return nullptr;
} catch (const std::exception &failure) {
  return base->GetApi(ORT_API_VERSION)->CreateStatus(ORT_FAIL, failure.what());
}
