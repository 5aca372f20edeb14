// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-attach-target: attach the GPU that the module is compiled for.
//
//   module { … }   ==>   module attributes {cta.target = #cta.target<sm_80>} { … }
//
// The pass is for textual pipelines, as in tests; tilec attaches the target itself after it has read its input.
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace tile {
#define GEN_PASS_DEF_CTAATTACHTARGET
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CtaAttachTarget : tile::impl::CtaAttachTargetBase<CtaAttachTarget> {
  using CtaAttachTargetBase::CtaAttachTargetBase;

  void runOnOperation() override {
    const target::GpuTarget *gpu = target::findTarget(name);
    if (!gpu) {
      getOperation().emitError() << "unknown target '" << name << "'; expected one of " << target::listTargets();
      return signalPassFailure();
    }
    cta::setTarget(getOperation(), *gpu);
  }
};

} // namespace
