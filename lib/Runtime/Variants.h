// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of a loaded kernel. Each is a separate kernel whose image is decompressed and loaded at its first use.
// The data needed to choose among them are kept for each context.
//
//   tile_launch(kernel) ─▶ context's DeviceVariants ─▶ Chooser ─▶ launch(variant, its arguments)
//
// Contexts are found like modules (Kernel.h): an array of published entries, read without a lock. A new tuning table
// replaces the object to which an entry points; the old object lives as long as the kernel.
#pragma once

#include "Runtime/Choice.h"
#include "Runtime/Kernel.h"

namespace tile::runtime {

struct ContextVariants {
  CUcontext context = nullptr;
  DeviceFacts facts;
  std::string device; ///< name
  int driver = 0;     ///< version; 0: unknown
  std::atomic<const DeviceVariants *> variants = nullptr;
};

struct Variants {
  explicit Variants(Chooser chooser) : chooser(std::move(chooser)) {}

  Chooser chooser;
  std::vector<std::unique_ptr<tile_kernel>> kernels;
  /// For each variant: the indices of the kernel's parameters that it takes.
  std::vector<std::vector<uint8_t>> parameters;

  std::mutex changing;
  std::atomic<unsigned> contextCount = 0;
  ContextVariants contexts[tile_kernel::maxModules];
  std::vector<std::unique_ptr<const DeviceVariants>> made; ///< all objects to which entries have pointed
  /// Tables given by the caller, the most recent one first, then those of the artifact.
  std::vector<TuningTable> tables;
};

/// Makes the variants of a kernel whose artifact has a pack.
Result<std::unique_ptr<Variants>> makeVariants(tile_kernel &kernel);

/// Returns the state for the current context. On failure sets the thread's last error and returns null; so do the
/// functions below.
const ContextVariants *findContext(const tile_kernel &kernel, tile_status &status);

/// Returns the device for tile_kernel_choice and tile_kernel_estimate: the device of the current context or, without a
/// context, a device of the target of variant 0. It always has the given number of multiprocessors.
Result<std::shared_ptr<const DeviceVariants>> assumedDevice(const tile_kernel &kernel, const Chooser &chooser,
                                                            int multiprocessors);

tile_status useTuning(tile_kernel &kernel, const char *path);

/// Loads all variants that run in the current context and, if `stream` is given, allocates their scratch memory for
/// launches in it.
tile_status prepareVariants(tile_kernel &kernel, const CUstream *stream);

/// Chooses a variant and launches it.
tile_status launchVariant(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments);

/// Returns the size of the scratch memory of all variants. The variants for one target have consecutive, separate
/// parts: if they shared memory, one variant would leave accumulators where another one expects flags of zero. A device
/// runs the variants of one target only, so the result is the maximum over targets.
uint64_t scratchOfVariants(const Variants &variants, int multiprocessors);

} // namespace tile::runtime
