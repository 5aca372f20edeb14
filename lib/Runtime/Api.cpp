// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: checks its arguments, catches exceptions (out of memory), and delegates.
#include "Runtime/ApiGuard.h"
#include "Runtime/FloatFormat.h"
#include "Runtime/Variants.h"

namespace tile::runtime {

char *lastErrorBuffer() {
  static thread_local char buffer[longestErrorText] = "";
  return buffer;
}

namespace {

tile_status checkVariantIndex(const tile_kernel &kernel, uint32_t index) {
  const size_t count = kernel.variants ? kernel.variants->kernels.size() : 1;
  if (index < count)
    return TILE_OK;
  return reportError(TILE_ERROR_INVALID_ARGUMENT, "variant {} does not exist; kernel '{}' has {}", index,
                     kernel.artifact.manifest.kernel, count);
}

tile_status checkMultiprocessors(int count) {
  return count >= 1 ? TILE_OK : reportError(TILE_ERROR_INVALID_ARGUMENT, "num_sms is {}; expected at least 1", count);
}

/// Calls body(chooser, device) for arguments that have been checked.
template <typename Body>
tile_status withChooser(const tile_kernel &kernel, void *const *arguments, size_t count, int multiprocessors,
                        Body body) {
  if (const tile_status status = checkMultiprocessors(multiprocessors); status != TILE_OK)
    return status;
  if (const tile_status status = checkArgumentArray(kernel, arguments, count); status != TILE_OK)
    return status;
  return guarded([&] {
    std::optional<Chooser> only; // only if the kernel has a single variant
    if (!kernel.variants) {
      Result<Chooser> made = Chooser::make({&kernel.artifact.manifest}, {hasPtx(kernel.artifact, 0)});
      if (!made)
        return reportError(made.error());
      only = std::move(*made);
    }
    const Chooser &chooser = only ? *only : kernel.variants->chooser;
    Result<std::shared_ptr<const DeviceVariants>> device = assumedDevice(kernel, chooser, multiprocessors);
    return device ? body(chooser, **device) : reportError(device.error());
  });
}

} // namespace

tile_status finishLoading(tile_runtime *runtime, Result<Artifact> artifact, tile_kernel **kernel) {
  if (!artifact)
    return reportError(artifact.error());
  Result<std::unique_ptr<tile_kernel>> made = makeKernel(runtime, std::move(*artifact));
  if (!made)
    return reportError(made.error());
  *kernel = made->release();
  if (runtime)
    ++runtime->kernels;
  return TILE_OK;
}

} // namespace tile::runtime

using namespace tile::runtime;

extern "C" {

const char *tile_last_error(void) {
  return lastErrorBuffer();
}

const char *tile_version(void) {
  return TILE_VERSION;
}

const char *tile_status_name(tile_status status) {
  switch (status) {
  case TILE_OK:
    return "ok";
  case TILE_ERROR_INVALID_ARGUMENT:
    return "invalid argument";
  case TILE_ERROR_FILE:
    return "file error";
  case TILE_ERROR_NOT_AN_ARTIFACT:
    return "not an artifact";
  case TILE_ERROR_MANIFEST:
    return "bad manifest";
  case TILE_ERROR_NO_DRIVER:
    return "no CUDA driver";
  case TILE_ERROR_NO_DEVICE:
    return "no CUDA device";
  case TILE_ERROR_ARCHITECTURE:
    return "wrong architecture";
  case TILE_ERROR_RESOURCES:
    return "not enough resources";
  case TILE_ERROR_ASSUMPTION:
    return "broken assumption";
  case TILE_ERROR_GRID:
    return "bad grid";
  case TILE_ERROR_DRIVER:
    return "CUDA error";
  case TILE_ERROR_OUT_OF_MEMORY:
    return "out of memory";
  case TILE_ERROR_UNSUPPORTED:
    return "unsupported";
  case TILE_ERROR_CHECK:
    return "wrong result";
  case TILE_ERROR_COMPILE:
    return "compilation failed";
  case TILE_ERROR_PEER:
    return "another rank failed";
  case TILE_ERROR_TIMEOUT:
    return "time limit passed";
  case TILE_ERROR_NCCL:
    return "NCCL error";
  }
  return "unknown status";
}

tile_status tile_runtime_create(tile_symbol_lookup lookup, void *user, tile_runtime **runtime) {
  if (!runtime)
    return nullArgument("tile_runtime_create", "runtime");
  *runtime = nullptr;
  return guarded([&] {
    Result<std::unique_ptr<Driver>> driver = loadDriver(lookup, user);
    if (!driver)
      return reportError(driver.error());
    *runtime = new tile_runtime{std::move(*driver), 0};
    return TILE_OK;
  });
}

tile_status tile_runtime_destroy(tile_runtime *runtime) {
  if (const int alive = runtime ? runtime->kernels.load() : 0; alive != 0)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "the runtime has {} kernel{}; destroy {} first", alive,
                       alive == 1 ? "" : "s", alive == 1 ? "it" : "them");
  delete runtime;
  return TILE_OK;
}

tile_status tile_device_count(tile_runtime *runtime, int *count) {
  if (!runtime || !count)
    return nullArgument("tile_device_count", runtime ? "count" : "runtime");
  const CUresult result = runtime->driver->deviceGetCount(count);
  return result == cuda::success ? TILE_OK : reportError(runtime->driver->error(result, "cuDeviceGetCount"));
}

tile_status tile_device_activate(tile_runtime *runtime, int device) {
  if (!runtime)
    return nullArgument("tile_device_activate", "runtime");
  const Driver &driver = *runtime->driver;
  int count = 0;
  if (const tile_status status = tile_device_count(runtime, &count); status != TILE_OK)
    return status;
  if (device < 0 || device >= count)
    return reportError(TILE_ERROR_NO_DEVICE, "device {} does not exist; this machine has {}", device, count);
  CUdevice handle = 0;
  CUcontext context = nullptr;
  if (const CUresult result = driver.deviceGet(&handle, device); result != cuda::success)
    return reportError(driver.error(result, "cuDeviceGet"));
  if (const CUresult result = driver.primaryContextRetain(&context, handle); result != cuda::success)
    return reportError(driver.error(result, "cuDevicePrimaryCtxRetain"));
  if (const CUresult result = driver.contextSetCurrent(context); result != cuda::success) {
    (void)driver.primaryContextRelease(handle);
    return reportError(driver.error(result, "cuCtxSetCurrent"));
  }
  return TILE_OK;
}

tile_status tile_kernel_load_memory(tile_runtime *runtime, const void *data, size_t size, tile_kernel **kernel) {
  if (kernel)
    *kernel = nullptr;
  if (!data || !kernel)
    return nullArgument("tile_kernel_load_memory", kernel ? "data" : "kernel");
  return guarded(
      [&] { return finishLoading(runtime, readArtifact({static_cast<const uint8_t *>(data), size}), kernel); });
}

tile_status tile_kernel_load_file(tile_runtime *runtime, const char *path, tile_kernel **kernel) {
  if (kernel)
    *kernel = nullptr;
  if (!path || !kernel)
    return nullArgument("tile_kernel_load_file", kernel ? "path" : "kernel");
  return guarded([&] { return finishLoading(runtime, readArtifactFile(path), kernel); });
}

void tile_kernel_destroy(tile_kernel *kernel) {
  if (!kernel || kernel->owner) // a variant is destroyed with the kernel that owns it
    return;
  unloadModules(*kernel);
  if (kernel->runtime)
    --kernel->runtime->kernels;
  delete kernel;
}

tile_status tile_kernel_manifest(const tile_kernel *kernel, const char **json) {
  if (!kernel || !json)
    return nullArgument("tile_kernel_manifest", kernel ? "json" : "kernel");
  *json = kernel->artifact.manifestText.c_str();
  return TILE_OK;
}

tile_status tile_kernel_describe(const tile_kernel *kernel, tile_kernel_info *info) {
  if (!kernel || !info)
    return nullArgument("tile_kernel_describe", kernel ? "info" : "kernel");
  const Manifest &manifest = kernel->artifact.manifest;
  info->entry = manifest.entry.c_str();
  info->target = manifest.target.c_str();
  info->threads_per_cta = static_cast<uint32_t>(manifest.launch.threadsPerCta);
  for (int i = 0; i < 3; ++i)
    info->cluster[i] = static_cast<uint32_t>(manifest.launch.cluster[i]);
  info->shared_static = static_cast<uint32_t>(manifest.launch.sharedStatic);
  info->shared_dynamic = static_cast<uint32_t>(manifest.launch.sharedDynamic);
  info->registers = static_cast<uint32_t>(manifest.launch.registers);
  info->parameter_count = static_cast<uint32_t>(manifest.parameters.size());
  info->tensor_map_count = static_cast<uint32_t>(manifest.tensorMaps.size());
  info->persistent = manifest.launch.persistent;
  info->may_overlap = manifest.launch.pdl;
  if (kernel->variants)
    for (size_t i = 0; i < kernel->variants->chooser.size(); ++i)
      info->may_overlap |= kernel->variants->chooser.manifest(i).launch.pdl;
  return TILE_OK;
}

tile_status tile_kernel_parameter(const tile_kernel *kernel, uint32_t index, tile_parameter *parameter) {
  if (!kernel || !parameter)
    return nullArgument("tile_kernel_parameter", kernel ? "parameter" : "kernel");
  const std::vector<Parameter> &parameters = kernel->artifact.manifest.parameters;
  if (index >= parameters.size())
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} does not exist; kernel '{}' has {}", index,
                       kernel->artifact.manifest.kernel, parameters.size());
  const Parameter &source = parameters[index];
  parameter->name = source.name.c_str();
  parameter->type = kernel->typeNames[index].c_str();
  parameter->kind = source.isPointer ? TILE_POINTER : source.isInteger() ? TILE_INTEGER : TILE_FLOAT;
  parameter->size = source.argumentSize();
  parameter->alignment = static_cast<uint64_t>(source.requiredAlignment());
  parameter->divisibility = static_cast<uint64_t>(source.divisibility);
  return TILE_OK;
}

tile_status tile_kernel_prepare(tile_kernel *kernel) {
  if (!kernel)
    return nullArgument("tile_kernel_prepare", "kernel");
  return guarded([&] {
    tile_status status = TILE_OK;
    if (kernel->variants)
      return prepareVariants(*kernel, /*stream=*/nullptr);
    (void)findModule(*kernel, status);
    return status;
  });
}

tile_status tile_kernel_prepare_stream(tile_kernel *kernel, void *stream) {
  if (!kernel)
    return nullArgument("tile_kernel_prepare_stream", "kernel");
  return guarded([&] {
    tile_status status = TILE_OK;
    const CUstream own = static_cast<CUstream>(stream);
    if (kernel->variants)
      return prepareVariants(*kernel, &own);
    const LoadedModule *module = findModule(*kernel, status);
    CUdeviceptr address = 0;
    return module && kernel->scratch ? findScratch(*kernel, *module, own, address) : status;
  });
}

tile_status tile_kernel_scratch_bytes(const tile_kernel *kernel, int num_sms, size_t *bytes) {
  if (!kernel || !bytes)
    return nullArgument("tile_kernel_scratch_bytes", kernel ? "bytes" : "kernel");
  if (const tile_status status = checkMultiprocessors(num_sms); status != TILE_OK)
    return status;
  *bytes = scratchBytes(*kernel, num_sms);
  return TILE_OK;
}

tile_status tile_kernel_grid(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                             int64_t grid[3]) {
  if (!kernel || !grid)
    return nullArgument("tile_kernel_grid", kernel ? "grid" : "kernel");
  if (const tile_status status = checkMultiprocessors(num_sms); status != TILE_OK)
    return status;
  if (const tile_status status = checkArgumentArray(*kernel, arguments, count); status != TILE_OK)
    return status;
  return evaluateGrid(*kernel, readSlots(*kernel, arguments, num_sms), grid);
}

tile_status tile_kernel_blocks(const tile_kernel *kernel, const int64_t grid[3], int num_sms, int64_t blocks[3]) {
  if (!kernel || !grid || !blocks)
    return nullArgument("tile_kernel_blocks", !kernel ? "kernel" : !grid ? "grid" : "blocks");
  if (const tile_status status = checkMultiprocessors(num_sms); status != TILE_OK)
    return status;
  return chooseBlocks(*kernel, grid, num_sms, blocks);
}

tile_status tile_kernel_encode_tensor_map(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                          size_t count, void *map) {
  if (!kernel || !map)
    return nullArgument("tile_kernel_encode_tensor_map", kernel ? "map" : "kernel");
  if (index >= kernel->tensorMaps.size())
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "tensor map {} does not exist; kernel '{}' has {}", index,
                       kernel->artifact.manifest.kernel, kernel->tensorMaps.size());
  if (!kernel->runtime)
    return reportError(TILE_ERROR_NO_DRIVER, "the kernel was loaded without a runtime and can only be described");
  if (const tile_status status = checkArgumentArray(*kernel, arguments, count); status != TILE_OK)
    return status;
  return guarded([&] {
    TensorMap encoded; // the caller's memory need not be aligned
    const ArgumentSlots slots = readSlots(*kernel, arguments, /*multiprocessors=*/0);
    const tile_status status = encodeTensorMap(*kernel, index, arguments, slots, encoded);
    if (status == TILE_OK)
      std::memcpy(map, &encoded, sizeof(encoded));
    return status;
  });
}

tile_status tile_kernel_variant_count(const tile_kernel *kernel, uint32_t *count) {
  if (!kernel || !count)
    return nullArgument("tile_kernel_variant_count", kernel ? "count" : "kernel");
  *count = kernel->variants ? static_cast<uint32_t>(kernel->variants->kernels.size()) : 1;
  return TILE_OK;
}

tile_status tile_kernel_variant(tile_kernel *kernel, uint32_t index, tile_kernel **variant) {
  if (variant)
    *variant = nullptr;
  if (!kernel || !variant)
    return nullArgument("tile_kernel_variant", kernel ? "variant" : "kernel");
  if (const tile_status status = checkVariantIndex(*kernel, index); status != TILE_OK)
    return status;
  return guarded([&] {
    Result<tile_kernel *> found = variantHandle(*kernel, index);
    if (!found)
      return reportError(found.error());
    *variant = *found;
    return TILE_OK;
  });
}

tile_status tile_kernel_choice(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                               uint32_t *index) {
  if (!kernel || !index)
    return nullArgument("tile_kernel_choice", kernel ? "index" : "kernel");
  return withChooser(*kernel, arguments, count, num_sms, [&](const Chooser &chooser, const DeviceVariants &device) {
    const Call call{arguments, nullptr};
    const Choice choice = chooser.choose(call, device);
    if (choice.index < 0)
      return reportError(chooser.explainAll(call, device, longestErrorText - 1));
    *index = static_cast<uint32_t>(choice.index);
    return TILE_OK;
  });
}

tile_status tile_kernel_estimate(const tile_kernel *kernel, uint32_t index, void *const *arguments, size_t count,
                                 int num_sms, tile_variant *variant) {
  if (!kernel || !variant)
    return nullArgument("tile_kernel_estimate", kernel ? "variant" : "kernel");
  if (const tile_status status = checkVariantIndex(*kernel, index); status != TILE_OK)
    return status;
  return withChooser(*kernel, arguments, count, num_sms, [&](const Chooser &chooser, const DeviceVariants &device) {
    const Call call{arguments, nullptr};
    const Manifest &manifest = chooser.manifest(index);
    const Status serves = chooser.explain(index, call, device);
    *variant = {manifest.variant.c_str(), manifest.target.c_str(), chooser.estimate(index, call, device),
                static_cast<int32_t>(bool(serves))};
    if (!serves)
      (void)reportError(serves.error());
    return TILE_OK;
  });
}

tile_status tile_kernel_use_tuning(tile_kernel *kernel, const char *path) {
  if (!kernel || !path)
    return nullArgument("tile_kernel_use_tuning", kernel ? "path" : "kernel");
  return guarded([&] { return useTuning(*kernel, path); });
}

tile_status tile_kernel_tuning(const tile_kernel *kernel, const char **text) {
  if (!kernel || !text)
    return nullArgument("tile_kernel_tuning", kernel ? "text" : "kernel");
  *text = "one variant";
  if (!kernel->variants)
    return TILE_OK;
  return guarded([&] {
    tile_status status = TILE_OK;
    if (const ContextVariants *context = findContext(*kernel, status))
      *text = context->variants.load(std::memory_order_acquire)->tuningNote.c_str();
    return status;
  });
}

tile_status tile_launch(tile_kernel *kernel, const tile_launch_options *options, void *const *arguments, size_t count) {
  if (!kernel)
    return nullArgument("tile_launch", "kernel");
  return guarded([&] { return launch(*kernel, options, arguments, count); });
}

tile_status tile_launch_values(tile_kernel *kernel, const tile_launch_options *options, const tile_value *values,
                               size_t count) {
  if (!kernel || (!values && count > 0))
    return nullArgument("tile_launch_values", kernel ? "values" : "kernel");
  return guarded([&] {
    if (count != kernel->checks.size())
      return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' takes {} arguments, but {} were given",
                         kernel->artifact.manifest.kernel, kernel->checks.size(), count);
    uint64_t storage[TILE_MAX_PARAMETERS];
    void *arguments[TILE_MAX_PARAMETERS];
    for (size_t i = 0; i < count; ++i) {
      if (const tile_status status = convertValue(*kernel, i, values[i], &storage[i]); status != TILE_OK)
        return status;
      arguments[i] = &storage[i];
    }
    return launch(*kernel, options, arguments, count);
  });
}

tile_f16 tile_f16_from(double value) {
  return {static_cast<uint16_t>(encodeFloat(DataType::F16, value))};
}

tile_bf16 tile_bf16_from(double value) {
  return {static_cast<uint16_t>(encodeFloat(DataType::BF16, value))};
}

tile_status tile_check_integer(const tile_kernel *kernel, uint32_t index, int64_t value) {
  if (!kernel)
    return nullArgument("tile_check_integer", "kernel");
  return guarded([&] {
    if (index >= kernel->checks.size() || kernel->checks[index].isPointer || isFloatType(kernel->checks[index].type))
      return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has no integer parameter {}",
                         kernel->artifact.manifest.kernel, index);
    return checkInteger(*kernel, index, value);
  });
}

} // extern "C"
