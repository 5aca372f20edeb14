// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target attribute: the GPU that a module is compiled for.
#ifndef CTA_TARGET_ATTR_TD
#define CTA_TARGET_ATTR_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/CtaDialect.td"

def Cta_TargetAttr : AttrDef<CtaDialect, "Target"> {
  let mnemonic = "target";
  let summary = "the GPU that a module is compiled for";
  let description = [{
    A row of the table in `lib/Target/GpuTarget.cpp`. It is the module attribute `cta.target`, which passes read through
    `cta::getTarget`. A module without it is compiled for sm_90a, the default of `tilec` without `--target`.

    Example: `module attributes {cta.target = #cta.target<sm_80>} { … }`
  }];
  let parameters = (ins AttrParameter<"const ::tile::target::GpuTarget *", "the GPU">:$gpu);
  let hasCustomAssemblyFormat = 1;
}

#endif
