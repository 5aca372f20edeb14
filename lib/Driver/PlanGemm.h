// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the kernels of a GEMM whose block sizes are left open. For each class of assumptions, these are the kernels
// that are fastest for some of the expected sizes.
#pragma once

#include "Driver/PromiseClasses.h"
#include "Driver/VariantMode.h"
#include "Runtime/Cost.h"
#include "Target/KernelSet.h"

namespace tile::driver {

struct PlannedKernel {
  frontend::TileChoices tiles;
  KernelLimits limits; ///< limits in addition to the limits of the options
  runtime::CostSpec cost;
};

struct OpenGemmPlan {
  target::KernelSet set;              ///< maps sizes to kernels
  std::vector<PlannedKernel> kernels; ///< the kernels of the set, in the same order
};

/// Plans the kernels. The options must include the assumptions of the class.
OpenGemmPlan planOpenGemm(KernelInspector &inspector, const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenGemm &gemm, const PromiseClass &promises, VariantMode mode);

/// Returns the expected cost of a kernel with these block sizes and no open parameters, or nullopt if a size is
/// unknown.
std::optional<runtime::CostSpec> costOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                                        const frontend::OpenGemm &gemm, const PromiseClass &promises,
                                        const KernelFacts &facts);

/// Returns a name such as "128x256x64", with suffixes for the schedule: "-split2", "-pingpong", "-tail".
std::string nameOf(const target::GemmKernel &kernel);

} // namespace tile::driver
