// A persistent kernel whose programs each accumulate over one main loop: what can be cut along k.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tile {

struct GemmPrograms {
  mlir::scf::ForOp programs; ///< From the CTA's number on, by the number of CTAs.
  mlir::scf::ForOp steps;    ///< Carries one accumulator, which starts from zero and only has dots added to it.

  cta::WgmmaOp getProduct() { return mlir::cast<cta::WgmmaOp>(*steps.getRegionIterArg(0).user_begin()); }
  mlir::RankedTensorType getSumType() { return mlir::cast<mlir::RankedTensorType>(steps.getResult(0).getType()); }
};

/// None if the kernel has another form, or does something before the main loop that must not happen twice.
std::optional<GemmPrograms> findGemmPrograms(KernelOp kernel);

/// Whether the kernel goes through the programs of its grid by itself (tile-make-persistent), which it then knows.
bool isPersistent(KernelOp kernel);

/// A copy of `value`, which is computed inside of `outer`, at the insertion point outside of it; null if it depends on
/// the iteration of a loop, on a branch or on memory.
mlir::Value hoistOutOf(mlir::Operation *outer, mlir::Value value, mlir::RewriterBase &rewriter);

} // namespace tile
