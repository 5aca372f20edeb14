// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target attribute: the GPU for which a module is compiled.
#ifndef CTA_TARGET_ATTR_TD
#define CTA_TARGET_ATTR_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/CtaDialect.td"

def Cta_TargetAttr : AttrDef<CtaDialect, "Target"> {
  let mnemonic = "target";
  let summary = "the GPU for which a module is compiled";
  let description = [{
    Names a row of the table in `lib/Target/GpuTarget.cpp`. The attribute is attached to a module as `cta.target`, and
    passes read it through `cta::getTarget`. A module without it is compiled for sm_90a, the default of `tilec` without
    `--target`.

    Example: `module attributes {cta.target = #cta.target<sm_80>} { … }`
  }];
  let parameters = (ins AttrParameter<"const ::tile::target::GpuTarget *", "the GPU">:$gpu);
  let hasCustomAssemblyFormat = 1;
}

#endif
