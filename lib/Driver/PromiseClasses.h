// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes of calls by the assumptions that their kernels make: from none to all that widen global memory accesses.
#pragma once

#include "Driver/KernelInspector.h"

namespace tile::driver {

/// Assumptions of a class of calls, in addition to the assumptions of the options.
struct PromiseClass {
  std::string name; ///< "general", "aligned", "loads", "pieces4"
  std::map<std::string, int> assumptions = {};
  std::map<std::string, std::string> definitions = {}; ///< strides that are 1
  KernelLimits limits = {};
  bool widensStores = true; ///< whether stores are widened, too; false: only loads
  size_t maxKernels = 2;    ///< limit over all sizes; higher for classes whose kernels can be faster
  std::string why;

  /// Formats the assumptions as "lda:8, stride_ak=1"; empty if there are none.
  std::string describe() const;
};

/// Returns the options with the assumptions of the class added.
CompilerOptions withPromises(const CompilerOptions &options, const PromiseClass &promises);

/// Returns the general class, followed by the classes that make this kernel faster. Returns no class if the front end
/// rejects the kernel.
std::vector<PromiseClass> findPromiseClasses(KernelInspector &inspector, const CompilerOptions &options,
                                             const target::GpuTarget &gpu);

} // namespace tile::driver
