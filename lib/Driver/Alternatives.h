// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alternatives for -O3: other schedules of the planned variants. Launches use an alternative only where measurements by
// `tile-run tune` have shown that it is faster.
//
//   general                     4 warps, 3 stages, all optimisations
//   general+warps.8             other numbers of warps
//   general+stages.2            shallower or deeper pipelines
//   general+no-async-copies     without one of the optimisations that are not always faster
//   general+ctas.4, +ctas.0     ptxas is asked to fit this number of CTAs on a multiprocessor; 0: no request
//
// Each alternative differs from its variant in one respect; the variant itself is what the compiler expects to be
// fastest. If a table of earlier measurements chooses an alternative, that alternative has alternatives in turn:
// "general+warps.8+ctas.2".
#pragma once

#include "Driver/VariantPlan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::driver {

/// Maximum number of alternatives for one target in an artifact. If there are more, the changes that more often improve
/// performance are kept.
constexpr size_t maxAlternatives = 256;

/// Appends the alternatives whose names `isWanted` accepts. Also considers alternatives of an alternative if
/// `hasOthers` accepts its name.
void appendAlternatives(VariantPlans &plans, const target::GpuTarget &gpu,
                        llvm::function_ref<bool(llvm::StringRef)> isWanted,
                        llvm::function_ref<bool(llvm::StringRef)> hasOthers);

} // namespace tile::driver
