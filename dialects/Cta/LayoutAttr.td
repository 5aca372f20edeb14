// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout attribute, through which the IR uses the layout algebra.
#ifndef CTA_LAYOUT_ATTR_TD
#define CTA_LAYOUT_ATTR_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "Cta/CtaDialect.td"

def Cta_LayoutAttr : AttrDef<CtaDialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "where the elements of a tensor or buffer are, as a linear map over GF(2)";
  let description = [{
    A tensor's layout maps (register, lane, warp) to coordinates; a buffer's layout maps the element offset to
    coordinates. Each input bit has a basis, which is a coordinate; the coordinate of the element at an input is the XOR
    of the bases of the bits that are set in the input. A zero basis means that the element is replicated (broadcast).
    See `lib/Layout/LinearLayout.h`.

    Example: `#cta.layout<[2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>`
  }];
  let parameters = (ins AttrParameter<"::tile::layout::LinearLayout", "the map",
                                       "const ::tile::layout::LinearLayout &">:$layout);
  let hasCustomAssemblyFormat = 1;
}

#endif
