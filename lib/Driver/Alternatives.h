// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alternatives of -O3: other schedules of the planned variants, which launches use only where measurements by
// `tile-run tune` have shown that they are faster.
//
//   general                     4 warps, 3 stages, all optimisations
//   general+warps.8             other numbers of warps
//   general+stages.2            shallower or deeper pipelines
//   general+no-async-copies     without one of the optimisations that do not always pay
//   general+ctas.4, +ctas.0     ptxas is asked for this number of CTAs per multiprocessor; 0: for none
//
// Each differs from its variant in one point. What the compiler expects to be fastest is the variant itself. With a
// table of earlier measurements, alternatives that it chooses have alternatives in turn: "general+warps.8+ctas.2".
#pragma once

#include "Driver/VariantPlan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::driver {

/// Maximum number of alternatives of one target in an artifact. With more variants, the changes that gain more often
/// come first.
constexpr size_t maxAlternatives = 256;

/// Appends the alternatives that `isWanted` accepts by name. Those of an alternative itself are considered if
/// `hasOthers` accepts its name.
void appendAlternatives(VariantPlans &plans, const target::GpuTarget &gpu,
                        llvm::function_ref<bool(llvm::StringRef)> isWanted,
                        llvm::function_ref<bool(llvm::StringRef)> hasOthers);

} // namespace tile::driver
