// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch memory: global memory in which the thread blocks of a launch exchange partial accumulators and flags, or
// encode tensor maps.
//
//   (context, stream) ─▶ buffer: bytes per block x maximum blocks of a launch; zero before its first launch
//
// A launch leaves its flags zero. The launches in a stream are ordered, so they share a buffer without clearing it.
// Launches in different streams may overlap and must not share one. Buffers are found like modules (Kernel.h): an array
// of published entries, written under a mutex, read without one, freed with the kernel. An entry outlives its stream; a
// later stream with the same handle reuses the buffer.
#pragma once

#include "Runtime/Driver.h"

#include <atomic>
#include <mutex>

struct tile_kernel;

namespace tile::runtime {

struct LoadedModule;

/// Required alignment in bytes; cuMemAlloc returns multiples of 256.
constexpr uint64_t scratchAlignment = 128;

struct ScratchBuffer {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  uint64_t thread = 0; ///< owner of the per-thread default stream; 0: the handle is unique
  CUdeviceptr address = 0;
};

/// The buffers that the runtime has allocated for one kernel.
struct ScratchBuffers {
  static constexpr unsigned most = 128; // maximum number of streams of all contexts

  std::mutex making;
  std::atomic<unsigned> count = 0;
  ScratchBuffer entries[most];
};

/// Returns the bytes that the kernel needs on a device with this many multiprocessors; 0: it needs no scratch memory.
uint64_t scratchBytes(const tile_kernel &kernel, int multiprocessors);

/// Returns the runtime's buffer for the stream in the module's context, which is current; allocates it on demand. The
/// kernel must use scratch memory. Here and below, the status is also the thread's last error.
tile_status findScratch(tile_kernel &kernel, const LoadedModule &module, CUstream stream, CUdeviceptr &address);

/// Checks the scratch memory of the caller.
tile_status checkScratch(const tile_kernel &kernel, int multiprocessors, CUdeviceptr address, uint64_t bytes);

/// Frees the buffers of `context`, which is current.
void freeScratch(tile_kernel &kernel, CUcontext context);

} // namespace tile::runtime
