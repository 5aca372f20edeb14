// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that run before another one. The contents that a kernel leaves in a buffer become the contents of the later
// kernels' buffers of the same name, unless a kernel only writes the buffer. Scalars of the same name have the same
// value in all kernels.
//
//   EarlierKernels earlier;
//   earlier.add(earlier.optionsFor(options, partial, false), partial, device);
//   runKernel(earlier.optionsFor(options, combine, true), combine, other, name, earlier.last());
#pragma once

#include "Runner/Device/Execution.h"

namespace tile::runner {

class EarlierKernels {
public:
  /// Returns options with the arguments for this kernel, which runs after those that were added. If `isLast`, also
  /// keeps options that apply to the last kernel only, and arguments that match no parameter of any kernel, so that
  /// they are reported as errors.
  RunOptions optionsFor(const RunOptions &options, const Manifest &manifest, bool isLast) const;
  /// Prepares a kernel and appends it. Keeps references to the manifest and the device.
  Status add(RunOptions options, const Manifest &manifest, Device &device);
  /// Returns the kernel that runs directly before the next one, or null if there is none.
  Execution *last() const { return stages.empty() ? nullptr : stages.back()->execution.get(); }
  /// Returns the names of the kernels: "partial, reduce".
  std::string names() const;

private:
  struct Stage {
    RunOptions options;
    std::unique_ptr<Execution> execution;
  };
  std::vector<std::unique_ptr<Stage>> stages;
};

} // namespace tile::runner
