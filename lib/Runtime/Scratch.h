// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch memory: global memory in which the thread blocks of a launch pass each other partial sums and flags, or make
// tensor maps.
//
//   (context, stream) ─▶ buffer: bytes of a block x the most blocks of a launch; zero before its first launch
//
// A launch leaves its flags zero. So launches that come one after the other, as those of a stream do, share a buffer
// without clearing it; those of different streams may overlap and must not. Buffers are found like modules (Kernel.h):
// an array of published entries, written under a mutex, read without one, freed with the kernel. An entry outlives its
// stream; a later stream with the same handle takes the buffer over.
#pragma once

#include "Runtime/Driver.h"

#include <atomic>
#include <mutex>

struct tile_kernel;

namespace tile::runtime {

struct LoadedModule;

/// Addresses are multiples of this many bytes; cuMemAlloc's are of 256.
constexpr uint64_t scratchAlignment = 128;

struct ScratchBuffer {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  uint64_t thread = 0; ///< whose per-thread default stream it is; 0: the handle says it all
  CUdeviceptr address = 0;
};

/// The buffers that the runtime has made for one kernel.
struct ScratchBuffers {
  static constexpr unsigned most = 128; // streams of all contexts; more is an error

  std::mutex making;
  std::atomic<unsigned> count = 0;
  ScratchBuffer entries[most];
};

/// What the kernel needs on a device with so many multiprocessors; 0: it takes no scratch.
uint64_t scratchBytes(const tile_kernel &kernel, int multiprocessors);

/// The runtime's buffer for the stream in the module's context, which is current; made if need be. The kernel takes
/// scratch. The status is also the thread's last error, here and below.
tile_status findScratch(tile_kernel &kernel, const LoadedModule &module, CUstream stream, CUdeviceptr &address);

/// Whether the caller's memory will do.
tile_status checkScratch(const tile_kernel &kernel, int multiprocessors, CUdeviceptr address, uint64_t bytes);

/// Frees the buffers of `context`, which is current.
void freeScratch(tile_kernel &kernel, CUcontext context);

} // namespace tile::runtime
