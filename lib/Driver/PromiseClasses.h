// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an artifact's kernels promise each other's callers: classes of calls, from nothing at all to all that makes
// accesses to global memory wide.
#pragma once

#include "Driver/KernelInspector.h"

namespace tile::driver {

/// Beside the options.
struct PromiseClass {
  std::string name; ///< "general", "aligned", "loads", "pieces4"
  std::map<std::string, int> assumptions = {};
  std::map<std::string, std::string> definitions = {}; ///< strides of 1
  KernelLimits limits = {};
  bool widensStores = true; ///< not only loads
  size_t mostKernels = 2;   ///< how many sizes may need: more where speed is to be had
  std::string why;

  /// "lda:8, stride_ak=1"; empty if it promises nothing.
  std::string describe() const;
};

/// The options with what the class adds.
CompilerOptions withPromises(const CompilerOptions &options, const PromiseClass &promises);

/// At least the general one, which is first; what gains nothing for this kernel is not there. Empty if the front end
/// rejects the kernel.
std::vector<PromiseClass> findPromiseClasses(KernelInspector &inspector, const CompilerOptions &options,
                                             const target::GpuTarget &gpu);

} // namespace tile::driver
