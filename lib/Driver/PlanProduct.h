// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a matrix product whose blocks are left open: for one class of promises, those that sizes need.
#pragma once

#include "Driver/PromiseClasses.h"
#include "Driver/VariantMode.h"
#include "Runtime/Cost.h"
#include "Target/KernelSet.h"

namespace tile::driver {

struct PlannedKernel {
  frontend::TileChoices tiles;
  KernelLimits limits; ///< beside the options'
  runtime::CostSpec cost;
};

struct ProductPlan {
  target::KernelSet set;              ///< which of the sizes each is for
  std::vector<PlannedKernel> kernels; ///< those of the set, in its order
};

/// For options with the class's promises.
ProductPlan planProduct(KernelInspector &inspector, const CompilerOptions &options, const target::GpuTarget &gpu,
                        const frontend::OpenProduct &product, const PromiseClass &promises, VariantMode mode);

/// What a kernel with these sizes of blocks is expected to take, where nothing is left open; nothing if a size is
/// unknown.
std::optional<runtime::CostSpec> costOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                                        const frontend::OpenProduct &product, const PromiseClass &promises,
                                        const KernelFacts &facts);

/// "128x256x64", with what is special: "-split2", "-pingpong", "-tail".
std::string nameOf(const target::GemmKernel &kernel);

} // namespace tile::driver
