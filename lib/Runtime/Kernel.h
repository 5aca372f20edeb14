// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded artifact and its modules, one per CUDA context, loaded at first use.
//
// The launch path finds a module by scanning a short array of published entries. An entry is filled under the mutex,
// published by a release store of `moduleCount`, and never changed again, so readers need no lock.
#pragma once

#include "Runtime/Artifact.h"
#include "Runtime/Scratch.h"
#include "Runtime/TensorMap.h"

#include <atomic>
#include <mutex>

namespace tile::runtime {

struct Variants;

/// State of the kernel in one context.
struct LoadedModule {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  int multiprocessors = 0;
};

/// The properties of a parameter that a launch checks.
struct ParameterCheck {
  DataType type = DataType::I32;
  bool isPointer = false;
  uint64_t divisor = 1; ///< alignment of a pointer, divisibility of an integer
};

} // namespace tile::runtime

struct tile_runtime {
  std::unique_ptr<tile::runtime::Driver> driver;
  std::atomic<int> kernels = 0; ///< number of live kernels
};

struct tile_kernel {
  static constexpr unsigned maxModules = 64; // maximum number of contexts in a process

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
  std::unique_ptr<tile::runtime::ScratchBuffers> scratch; // null: the kernel needs none

  /// The variants, if the kernel has several. The members above then describe variant 0, and `modules` stays empty.
  std::unique_ptr<tile::runtime::Variants> variants;
  /// The handle of variant 0 if the kernel has a single variant. Created on demand; uses the modules of this kernel.
  std::unique_ptr<tile_kernel> sole;
  /// For a variant: the kernel that owns it, and its index.
  tile_kernel *owner = nullptr;
  size_t index = 0;

  /// Returns the kernel whose modules and scratch memory are used by launches of this one.
  tile_kernel &loader() { return owner && !owner->artifact.pack ? *owner : *this; }
};

namespace tile::runtime {

/// Takes ownership of the artifact and compiles its expressions, including those of its variants.
Result<std::unique_ptr<tile_kernel>> makeKernel(tile_runtime *runtime, Artifact artifact);

/// Makes a kernel for one variant, whose image stays in the pack.
Result<std::unique_ptr<tile_kernel>> makeVariant(tile_kernel &owner, size_t index);

/// Returns the existing variant `index` of a kernel as a kernel, which is created on demand.
Result<tile_kernel *> variantHandle(tile_kernel &kernel, size_t index);

/// Returns the current context. On failure sets the thread's last error and returns null; so do the functions below.
CUcontext currentContext(const tile_kernel &kernel, tile_status &status);

/// Limits of the device of the current context.
struct DeviceLimits {
  CUdevice device = 0;
  int major = 0;
  int minor = 0;
  int sharedBytes = 0; ///< maximum per block
  int multiprocessors = 0;
};
Result<DeviceLimits> queryLimits(const Driver &driver);

/// Returns the module in the current context, or in `context`, which must be current; loads it on demand.
const LoadedModule *findModule(tile_kernel &kernel, tile_status &status);
const LoadedModule *findModule(tile_kernel &kernel, CUcontext context, tile_status &status);

/// Unloads the modules and frees scratch memory, in all contexts.
void unloadModules(tile_kernel &kernel);

/// Checks the number of arguments and that no pointer is null. Here and below, the status is also the thread's last
/// error.
tile_status checkArgumentArray(const tile_kernel &kernel, void *const *arguments, size_t count);

/// Evaluates the grid of programs for these arguments.
tile_status evaluateGrid(const tile_kernel &kernel, const ArgumentSlots &slots, int64_t grid[3]);

/// Computes the grid of thread blocks for a grid of programs. A persistent kernel gets its resident blocks; any other
/// kernel gets one block per program, or one cluster per program if blocks share programs. The result may be 0x0x0.
tile_status chooseBlocks(const tile_kernel &kernel, const int64_t programs[3], int multiprocessors, int64_t blocks[3]);

/// Checks the assumptions of the kernel about its arguments: alignments, divisors, requirements.
tile_status checkAssumptions(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots);

/// The hidden arguments after the parameters of a kernel, in ABI order, and the complete argument list.
struct HiddenArguments {
  TensorMap maps[maxTensorMaps];
  int32_t programs[3];
  CUdeviceptr scratch; ///< filled by the caller
  void *all[TILE_MAX_PARAMETERS + maxTensorMaps + 3 + 1];
};
tile_status fillHiddenArguments(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots,
                                const int64_t programs[3], HiddenArguments &hidden);

/// Checks and launches; see tile_launch.
tile_status launch(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments, size_t count);

/// Launches a kernel of one variant in `context`, which is current; the arguments have been checked.
tile_status launchIn(tile_kernel &kernel, CUcontext context, const tile_launch_options *options,
                     void *const *arguments);

/// Reports a value that the type of the integer parameter cannot represent.
tile_status checkInteger(const tile_kernel &kernel, size_t index, int64_t value);

/// Writes one tagged value to `storage` (8 bytes), in the ABI of parameter `index`.
tile_status convertValue(const tile_kernel &kernel, size_t index, const tile_value &value, void *storage);

} // namespace tile::runtime
