// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements tile_check_arguments and tile_device_target, which query the driver and are never called by a launch.
#include "Runtime/ApiGuard.h"
#include "Runtime/Choice.h"
#include "Runtime/Kernel.h"
#include "Runtime/Variants.h"

#include <cstring>

namespace tile::runtime {
namespace {

// CUDA driver API, CUpointer_attribute and CUmemorytype.
constexpr int attributeMemoryType = 2, attributeDevice = 9, attributeRangeStart = 11, attributeRangeBytes = 12;
constexpr unsigned memoryOfHost = 1;

struct Extent {
  int64_t before = 0, after = 0; ///< accessed bytes below the address, and from the address on
};

/// Returns the bytes that a buffer's shape and strides span, or nullopt on failure, which has been reported.
std::optional<Extent> extentOf(const tile_kernel &kernel, const Parameter &parameter, const ArgumentSlots &slots) {
  const BufferSpec &buffer = *parameter.buffer;
  const ExpressionNames names = expressionNames(kernel.artifact.manifest);
  const auto valueOf = [&](const std::string &text) -> std::optional<int64_t> {
    Result<Expression> expression = Expression::compile(text, names);
    if (expression)
      return evaluate(kernel, *expression, slots, TILE_ERROR_INVALID_ARGUMENT, "buffer");
    reportError(expression.error());
    return std::nullopt;
  };
  Extent extent;
  int64_t rowMajor = 1, highest = 0, lowest = 0;
  bool isEmpty = false, overflows = false;
  for (size_t i = buffer.shape.size(); i-- > 0;) {
    const std::optional<int64_t> size = valueOf(buffer.shape[i]);
    const std::optional<int64_t> stride = buffer.strides.empty() ? rowMajor : valueOf(buffer.strides[i]);
    if (!size || !stride)
      return std::nullopt;
    isEmpty |= *size <= 0;
    if (isEmpty)
      continue;
    int64_t distance = 0;
    overflows |= __builtin_mul_overflow(*size - 1, *stride, &distance) ||
                 __builtin_mul_overflow(rowMajor, *size, &rowMajor) ||
                 __builtin_add_overflow(distance < 0 ? lowest : highest, distance, distance < 0 ? &lowest : &highest);
  }
  const int64_t bytes = dataTypeSize(parameter.type);
  if (isEmpty)
    return extent;
  overflows |= __builtin_sub_overflow(0, lowest, &lowest) || __builtin_add_overflow(highest, 1, &highest) ||
               __builtin_mul_overflow(lowest, bytes, &extent.before) ||
               __builtin_mul_overflow(highest, bytes, &extent.after);
  if (!overflows)
    return extent;
  reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter '{}': the buffer's size does not fit in 64 bits", parameter.name);
  return std::nullopt;
}

tile_status checkPointer(const Driver &driver, const tile_kernel &kernel, size_t index, uint64_t address,
                         CUdevice device, const ArgumentSlots &slots) {
  const Parameter &parameter = kernel.artifact.manifest.parameters[index];
  Extent extent = {0, 1}; // unknown extent: at least one byte
  if (parameter.buffer) {
    const std::optional<Extent> known = extentOf(kernel, parameter, slots);
    if (!known)
      return TILE_ERROR_INVALID_ARGUMENT;
    extent = *known;
  }
  if (extent.after == 0)
    return TILE_OK; // no access
  const auto fail = [&](const auto &text) {
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}': {:#x} {}", index, parameter.name, address,
                       text);
  };
  unsigned type = 0;
  int ordinal = -1;
  uint64_t start = 0;
  size_t bytes = 0;
  if (driver.pointerGetAttribute(&type, attributeMemoryType, address) != cuda::success)
    return fail("is not device memory");
  if (type == memoryOfHost)
    return fail("is host memory");
  if (driver.pointerGetAttribute(&ordinal, attributeDevice, address) == cuda::success && ordinal != device)
    return fail(fmt::format("is memory of device {}, but the current context is on device {}", ordinal, device));
  if (driver.pointerGetAttribute(&start, attributeRangeStart, address) != cuda::success ||
      driver.pointerGetAttribute(&bytes, attributeRangeBytes, address) != cuda::success)
    return TILE_OK; // the range is unknown, because the memory is mapped in parts
  const uint64_t offset = address - start;
  if (offset < static_cast<uint64_t>(extent.before))
    return fail(fmt::format("is {} bytes after the start of its allocation, but the kernel accesses {} before it",
                            offset, extent.before));
  if (bytes - offset < static_cast<uint64_t>(extent.after))
    return fail(
        fmt::format("has {} bytes left in its allocation, but the kernel accesses {}", bytes - offset, extent.after));
  return TILE_OK;
}

} // namespace
} // namespace tile::runtime

using namespace tile::runtime;

extern "C" {

tile_status tile_device_target(tile_runtime *runtime, char *name, size_t bytes) {
  if (!runtime || !name)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "tile_device_target: '{}' is a null pointer",
                       runtime ? "name" : "runtime");
  const Driver &driver = *runtime->driver;
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (driver.contextGetDevice(&device) != cuda::success)
    return reportError(TILE_ERROR_NO_DEVICE, "no context is current; see tile_device_activate");
  for (const auto &[attribute, value] :
       {std::pair(cuda::attributeComputeMajor, &major), std::pair(cuda::attributeComputeMinor, &minor)})
    if (const CUresult result = driver.deviceGetAttribute(value, attribute, device); result != cuda::success)
      return reportError(driver.error(result, "cuDeviceGetAttribute"));
  const auto written = fmt::format_to_n(name, bytes, "sm_{}{}", major, minor);
  if (written.size >= bytes)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "tile_device_target: 'name' has {} bytes; 16 are needed", bytes);
  name[written.size] = '\0';
  return TILE_OK;
}

tile_status tile_kernel_buffer_bytes(const tile_kernel *kernel, uint32_t index, void *const *arguments, size_t count,
                                     int num_sms, size_t *bytes) {
  if (!kernel || !bytes)
    return nullArgument("tile_kernel_buffer_bytes", kernel ? "bytes" : "kernel");
  if (const tile_status status = checkArgumentArray(*kernel, arguments, count); status != TILE_OK)
    return status;
  const std::vector<Parameter> &parameters = kernel->artifact.manifest.parameters;
  if (index >= parameters.size() || !parameters[index].buffer)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has no parameter {} with a declared buffer",
                       kernel->artifact.manifest.kernel, index);
  return guarded([&] {
    const std::optional<Extent> extent = extentOf(*kernel, parameters[index], readSlots(*kernel, arguments, num_sms));
    int64_t total = 0;
    if (!extent || __builtin_add_overflow(extent->before, extent->after, &total))
      return extent ? reportError(TILE_ERROR_INVALID_ARGUMENT,
                                  "parameter '{}': the buffer's size does not fit in 64 "
                                  "bits",
                                  parameters[index].name)
                    : TILE_ERROR_INVALID_ARGUMENT;
    *bytes = static_cast<size_t>(total);
    return TILE_OK;
  });
}

tile_status tile_check_arguments(tile_kernel *kernel, void *const *arguments, size_t count) {
  if (!kernel)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "tile_check_arguments: 'kernel' is a null pointer");
  if (const tile_status status = checkArgumentArray(*kernel, arguments, count); status != TILE_OK)
    return status;
  if (!kernel->runtime || !kernel->runtime->driver->pointerGetAttribute)
    return reportError(TILE_ERROR_NO_DRIVER, "{}",
                       kernel->runtime ? "the driver has no cuPointerGetAttribute"
                                       : "the kernel was loaded without a runtime");
  return guarded([&] {
    const Driver &driver = *kernel->runtime->driver;
    Result<DeviceLimits> limits = queryLimits(driver);
    if (!limits)
      return reportError(limits.error());
    const ArgumentSlots slots = readSlots(*kernel, arguments, limits->multiprocessors);
    // Variant 0 makes the fewest assumptions.
    if (const tile_status status = checkAssumptions(*kernel, arguments, slots); status != TILE_OK)
      return status;
    for (size_t i = 0; i < count; ++i)
      if (kernel->artifact.manifest.parameters[i].isPointer)
        if (const tile_status status =
                checkPointer(driver, *kernel, i, readAs<uint64_t>(arguments[i]), limits->device, slots);
            status != TILE_OK)
          return status;
    return TILE_OK;
  });
}

} // extern "C"
