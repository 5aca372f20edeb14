// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of a loaded kernel: each a kernel by itself, whose image is decompressed and loaded when it is first
// taken, and what is known in each context to choose among them.
//
//   tile_launch(kernel) ─▶ context's DeviceVariants ─▶ Chooser ─▶ launch(variant, its arguments)
//
// Contexts are found like modules (Kernel.h): an array of published entries, read without a lock. What an entry points
// at is replaced by a new one if another tuning table is to be used; the old one stays as long as the kernel.
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
  /// Of each variant: which of the kernel's parameters it takes.
  std::vector<std::vector<uint8_t>> parameters;

  std::mutex changing;
  std::atomic<unsigned> contextCount = 0;
  ContextVariants contexts[tile_kernel::maxModules];
  std::vector<std::unique_ptr<const DeviceVariants>> made; ///< all that an entry has pointed at
  std::vector<TuningTable> tables;                         ///< those given, the last one first, then the artifact's
};

/// Of a kernel whose artifact has a pack.
Result<std::unique_ptr<Variants>> makeVariants(tile_kernel &kernel);

/// What is known in the current context. Writes the thread's last error and returns null on failure; so too below.
const ContextVariants *findContext(const tile_kernel &kernel, tile_status &status);

/// What tile_kernel_choice and tile_kernel_estimate ask about: the current context's device if there is one, else that
/// which variant 0 is compiled for; in any case with so many multiprocessors.
Result<std::shared_ptr<const DeviceVariants>> assumedDevice(const tile_kernel &kernel, const Chooser &chooser,
                                                            int multiprocessors);

tile_status useTuning(tile_kernel &kernel, const char *path);

/// Loads all variants that run in the current context; with their scratch memory for launches in `*stream`, if given.
tile_status prepareVariants(tile_kernel &kernel, const CUstream *stream);

/// Chooses and launches.
tile_status launchVariant(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments);

/// Scratch memory of all variants: one after the other, since each leaves sums where another has flags; of variants
/// for different targets, of which a device runs one, the most.
uint64_t scratchOfVariants(const Variants &variants, int multiprocessors);

} // namespace tile::runtime
