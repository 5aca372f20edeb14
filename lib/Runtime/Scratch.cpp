// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocating a buffer is the slow path, once per stream. Operations that the driver prohibits during capture are
// rejected before they are attempted.
#include "Runtime/Scratch.h"

#include "Runtime/ErrorState.h"
#include "Runtime/Grid.h"
#include "Runtime/RelaxedCapture.h"
#include "Runtime/Variants.h"

namespace tile::runtime {
namespace {

/// Returns the number of the calling thread, from 1. Unlike identifiers of the driver and the system, it is never
/// reused.
uint64_t threadNumber() {
  static std::atomic<uint64_t> threads = 0;
  static thread_local const uint64_t number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

/// Returns the number of the thread that owns the stream, or 0 if its handle is unique. The per-thread default streams
/// of all threads have the same handle, but are separate streams.
uint64_t owningThread(CUstream stream) {
  return stream == cuda::streamPerThread ? threadNumber() : 0;
}

Status requireMemoryFunctions(const Driver &driver) {
  const std::pair<bool, const char *> functions[] = {{driver.memoryAllocate, "cuMemAlloc_v2"},
                                                     {driver.memoryFree, "cuMemFree_v2"},
                                                     {driver.fillBytes, "cuMemsetD8Async"},
                                                     {driver.streamIsCapturing, "cuStreamIsCapturing"}};
  for (const auto &[isAvailable, symbol] : functions)
    if (!isAvailable)
      return makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no {}; pass tile_launch_options.scratch", symbol);
  return Success{};
}

Status requireNoCapture(const Driver &driver, CUstream stream) {
  int capture = cuda::captureNone;
  const CUresult result = driver.streamIsCapturing(stream, &capture);
  if (result == cuda::success && capture == cuda::captureNone)
    return Success{};
  // The default stream cannot be queried while a stream that synchronizes with it is being captured.
  if (result == cuda::success || result == cuda::errorCaptureImplicit)
    return makeError(TILE_ERROR_UNSUPPORTED,
                     "none can be allocated while the stream is captured; first launch in this stream or call "
                     "tile_kernel_prepare_stream, or pass tile_launch_options.scratch");
  return driver.error(result, "cuStreamIsCapturing");
}

/// Allocates scratch memory in the current context, zeroed for later work in `stream`.
Result<CUdeviceptr> makeScratch(const Driver &driver, CUstream stream, uint64_t bytes) {
  if (Status status = requireMemoryFunctions(driver); !status)
    return status.error();
  if (Status status = requireNoCapture(driver, stream); !status)
    return status.error();
  const RelaxedCapture relaxed(driver);
  CUdeviceptr address = 0;
  if (Status status = driver.check(driver.memoryAllocate(&address, bytes), "cuMemAlloc"); !status)
    return status.error();
  if (Status status = driver.check(driver.fillBytes(address, 0, bytes, stream), "cuMemsetD8Async"); !status) {
    (void)driver.memoryFree(address); // if freeing fails too, report the first error
    return status.error();
  }
  return address;
}

const ScratchBuffer *findBuffer(const ScratchBuffers &buffers, const ScratchBuffer &wanted) {
  const unsigned known = buffers.count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i) {
    const ScratchBuffer &entry = buffers.entries[i];
    if (entry.stream == wanted.stream && entry.context == wanted.context && entry.thread == wanted.thread)
      return &entry;
  }
  return nullptr;
}

} // namespace

uint64_t scratchBytes(const tile_kernel &kernel, int multiprocessors) {
  if (kernel.variants)
    return scratchOfVariants(*kernel.variants, multiprocessors);
  const LaunchInfo &launch = kernel.artifact.manifest.launch;
  return static_cast<uint64_t>(launch.scratchPerCta) * static_cast<uint64_t>(residentBlocks(launch, multiprocessors));
}

tile_status findScratch(tile_kernel &asked, const LoadedModule &module, CUstream stream, CUdeviceptr &address) {
  tile_kernel &kernel = asked.loader();
  ScratchBuffers &buffers = *kernel.scratch;
  ScratchBuffer wanted{module.context, stream, owningThread(stream)};
  if (const ScratchBuffer *found = findBuffer(buffers, wanted)) {
    address = found->address;
    return TILE_OK;
  }
  const std::lock_guard<std::mutex> lock(buffers.making);
  if (const ScratchBuffer *found = findBuffer(buffers, wanted)) { // another thread has allocated it in the meantime
    address = found->address;
    return TILE_OK;
  }
  const std::string &name = kernel.artifact.manifest.kernel;
  const unsigned known = buffers.count.load(std::memory_order_relaxed);
  if (known == ScratchBuffers::most)
    return reportError(TILE_ERROR_RESOURCES,
                       "kernel '{}' has scratch memory for {} streams, the maximum; pass "
                       "tile_launch_options.scratch",
                       name, known);
  const uint64_t bytes = scratchBytes(kernel, module.multiprocessors);
  Result<CUdeviceptr> made = makeScratch(*kernel.runtime->driver, stream, bytes);
  if (!made)
    return reportError(made.error().code, "kernel '{}', {} bytes of scratch memory for stream {}: {}", name, bytes,
                       static_cast<void *>(stream), made.error().message);
  address = wanted.address = *made;
  buffers.entries[known] = wanted;
  buffers.count.store(known + 1, std::memory_order_release);
  return TILE_OK;
}

tile_status checkScratch(const tile_kernel &kernel, int multiprocessors, CUdeviceptr address, uint64_t bytes) {
  const std::string &name = kernel.artifact.manifest.kernel;
  const LaunchInfo &launch = kernel.artifact.manifest.launch;
  if (address % scratchAlignment != 0)
    return reportError(TILE_ERROR_ASSUMPTION,
                       "scratch is {:#x}, which is not a multiple of {} bytes; kernel '{}' requires that", address,
                       scratchAlignment, name);
  const uint64_t needed = scratchBytes(kernel, multiprocessors);
  if (bytes >= needed)
    return TILE_OK;
  if (kernel.variants)
    return reportError(TILE_ERROR_INVALID_ARGUMENT,
                       "scratch_bytes is {}; the {} variants of kernel '{}' need {} on this device", bytes,
                       kernel.variants->kernels.size(), name, needed);
  return reportError(TILE_ERROR_INVALID_ARGUMENT,
                     "scratch_bytes is {}; kernel '{}' needs {} on this device, {} for each of {} thread blocks", bytes,
                     name, needed, launch.scratchPerCta, residentBlocks(launch, multiprocessors));
}

void freeScratch(tile_kernel &kernel, CUcontext context) {
  if (!kernel.scratch)
    return;
  const unsigned known = kernel.scratch->count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i)
    if (const ScratchBuffer &entry = kernel.scratch->entries[i]; entry.context == context)
      (void)kernel.runtime->driver->memoryFree(entry.address); // after a device fault all calls fail, so ignore errors
}

} // namespace tile::runtime
