// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that run before another one. What a kernel leaves in a buffer is what later kernels find in their buffer of
// the same name, unless they only write it; integers and floats of the same name have the same value.
//
//   EarlierKernels earlier;
//   earlier.add(earlier.optionsFor(options, partial, false), partial, device);
//   runKernel(earlier.optionsFor(options, combine, true), combine, other, name, earlier.last());
#pragma once

#include "Runner/Device/Execution.h"

namespace tile::runner {

class EarlierKernels {
public:
  /// Returns options with the arguments for this kernel, which runs after those that were added. `isLast`: also keeps
  /// arguments that no kernel has, so that they are reported, and options that apply to the last kernel only.
  RunOptions optionsFor(const RunOptions &options, const Manifest &manifest, bool isLast) const;
  /// Prepares a kernel; keeps references to manifest and device.
  Status add(RunOptions options, const Manifest &manifest, Device &device);
  /// Returns the kernel that runs directly before; null if there is none.
  Execution *last() const { return stages.empty() ? nullptr : stages.back()->execution.get(); }
  /// Returns "partial, reduce".
  std::string names() const;

private:
  struct Stage {
    RunOptions options;
    std::unique_ptr<Execution> execution;
  };
  std::vector<std::unique_ptr<Stage>> stages;
};

} // namespace tile::runner
