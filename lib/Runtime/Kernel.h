// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded artifact and its modules, one a CUDA context, loaded at first use.
//
// The launch path finds a module by scanning a short array of published entries: an entry is filled under the mutex,
// then published by a release store of `moduleCount`, and never changed again, so readers need no lock.
#pragma once

#include "Runtime/Artifact.h"
#include "Runtime/Scratch.h"
#include "Runtime/TensorMap.h"

#include <atomic>
#include <mutex>

namespace tile::runtime {

struct Variants;

/// What is known about the kernel in one context.
struct LoadedModule {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  int multiprocessors = 0;
};

/// One parameter, reduced to what a launch checks.
struct ParameterCheck {
  DataType type = DataType::I32;
  bool isPointer = false;
  uint64_t divisor = 1; ///< alignment of a pointer, divisibility of an integer
};

} // namespace tile::runtime

struct tile_runtime {
  std::unique_ptr<tile::runtime::Driver> driver;
  std::atomic<int> kernels = 0; ///< that are alive
};

struct tile_kernel {
  static constexpr unsigned maxModules = 64; // contexts in one process; more is an error

  tile_kernel();
  ~tile_kernel();

  tile_runtime *runtime = nullptr;
  tile::runtime::Artifact artifact;
  std::vector<std::string> typeNames;
  std::vector<tile::runtime::ParameterCheck> checks;
  std::vector<tile::runtime::Expression> grid, requirements;
  std::vector<tile::runtime::TensorMapPlan> tensorMaps;

  std::mutex loading;
  std::atomic<unsigned> moduleCount = 0;
  tile::runtime::LoadedModule modules[maxModules];
  std::unique_ptr<tile::runtime::ScratchBuffers> scratch; // null: the kernel takes none

  /// Of a kernel with several variants: these. The members above then are of variant 0, and no module is loaded.
  std::unique_ptr<tile::runtime::Variants> variants;
  /// The handle of variant 0 of a kernel without variants, made when it is asked for; shares all that is loaded.
  std::unique_ptr<tile_kernel> sole;
  /// Of a variant: the kernel that owns it, and its number there.
  tile_kernel *owner = nullptr;
  size_t index = 0;

  /// The kernel whose modules and scratch memory launches of this one use.
  tile_kernel &loader() { return owner && !owner->artifact.pack ? *owner : *this; }
};

namespace tile::runtime {

/// Takes over the artifact and compiles its expressions, and those of its variants.
Result<std::unique_ptr<tile_kernel>> makeKernel(tile_runtime *runtime, Artifact artifact);

/// The same for one variant of a kernel. Its image stays in the pack.
Result<std::unique_ptr<tile_kernel>> makeVariant(tile_kernel &owner, size_t index);

/// Variant `index` of a kernel, which has so many; made if need be.
Result<tile_kernel *> variantHandle(tile_kernel &kernel, size_t index);

/// The current context. Writes the thread's last error and returns null on failure; so too below.
CUcontext currentContext(const tile_kernel &kernel, tile_status &status);

/// Of the device of the current context.
struct DeviceLimits {
  CUdevice device = 0;
  int major = 0;
  int minor = 0;
  int sharedBytes = 0; ///< of a block
  int multiprocessors = 0;
};
Result<DeviceLimits> queryLimits(const Driver &driver);

/// The module in the current context, or in `context`, which is current, loaded if need be.
const LoadedModule *findModule(tile_kernel &kernel, tile_status &status);
const LoadedModule *findModule(tile_kernel &kernel, CUcontext context, tile_status &status);

/// Frees scratch memory, too.
void unloadModules(tile_kernel &kernel);

/// Checks the array itself; the status is also the thread's last error, here and below.
tile_status checkArgumentArray(const tile_kernel &kernel, void *const *arguments, size_t count);

/// The grid of programs for these arguments.
tile_status evaluateGrid(const tile_kernel &kernel, const ArgumentSlots &slots, int64_t grid[3]);

/// The grid of thread blocks that run these programs: the same, or few blocks that work them off. 0x0x0 is possible.
tile_status chooseBlocks(const tile_kernel &kernel, const int64_t programs[3], int multiprocessors, int64_t blocks[3]);

/// Whether the arguments are what the kernel was compiled for: alignments, divisors, requirements.
tile_status checkAssumptions(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots);

/// What a kernel takes after its parameters, in the order of its ABI, and the whole list of arguments.
struct HiddenArguments {
  TensorMap maps[mostTensorMaps];
  int32_t programs[3];
  CUdeviceptr scratch; ///< the caller's to fill
  void *all[TILE_MAX_PARAMETERS + mostTensorMaps + 3 + 1];
};
tile_status fillHiddenArguments(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots,
                                const int64_t programs[3], HiddenArguments &hidden);

/// Checks and launches; see tile_launch.
tile_status launch(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments, size_t count);

/// The same for a kernel of one variant, with arguments that are there, in `context`, which is current.
tile_status launchIn(tile_kernel &kernel, CUcontext context, const tile_launch_options *options,
                     void *const *arguments);

/// Reports a value that the integer parameter does not hold.
tile_status checkInteger(const tile_kernel &kernel, size_t index, int64_t value);

/// Writes one tagged value in the ABI of parameter `index` to `storage` (8 bytes).
tile_status convertValue(const tile_kernel &kernel, size_t index, const tile_value &value, void *storage);

} // namespace tile::runtime
