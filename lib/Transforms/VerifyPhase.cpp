// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-verify-phase: check that the kernel is in a phase's form (Analysis/KernelForm.h).
#include "Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEVERIFYPHASE
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

std::optional<Form> parsePhase(StringRef name) {
  return llvm::StringSwitch<std::optional<Form>>(name)
      .Case("tile", Form::tile)
      .Case("layout", Form::layout)
      .Case("async", Form::async)
      .Case("scheduled", Form::scheduled)
      .Case("allocated", Form::allocated)
      .Default(std::nullopt);
}

struct TileVerifyPhase : tile::impl::TileVerifyPhaseBase<TileVerifyPhase> {
  using TileVerifyPhaseBase::TileVerifyPhaseBase;

  void runOnOperation() override {
    std::optional<Form> known = parsePhase(phase.getValue());
    if (!known)
      getOperation().emitError() << "unknown phase '" << phase
                                 << "'; expected tile, layout, async, scheduled or allocated";
    // This is where tilec verifies operations; it does not do so after each pass, unless it prints the IR.
    if (!known || failed(mlir::verify(getOperation())) ||
        failed(verifyForm(getOperation(), *known, "phase " + phase.getValue())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

void FormPass::runOnOperation() {
  if (!isTrusted() && failed(verifyRequired(getOperation(), getRequired(), getArgument())))
    return signalPassFailure();
  runOnKernel();
}
