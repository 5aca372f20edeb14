// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of operations that tie the layouts of their operands and results.
#ifndef CTA_LAYOUT_INTERFACE_TD
#define CTA_LAYOUT_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Cta_LayoutInterface : OpInterface<"LayoutInterface"> {
  let cppNamespace = "::tile::cta";
  let description = [{
    What an operation does to layouts as long as no element moves between threads: which layout its tensor operands must
    have for a layout of the results, which one the results have for a layout of the operands, and how it is created
    again for another layout or for a part of its result. All tensor operands have one layout, and all results.

    Operations of other dialects implement it in `Cta/OpLayouts.cpp`.
  }];
  let methods = [
    InterfaceMethod<[{
      The layout of the tensor operands if the results have `result`; null if there is none, or more than one. An operation
      without tensor operands gives `result` if it can be computed in it. Of a part of the result, for which there is a part of the
      operands, the same.
    }], "::tile::cta::LayoutAttr", "getOperandLayout", (ins "::tile::cta::LayoutAttr":$result)>,
    InterfaceMethod<[{
      The layout of the results if the tensor operands have `operand`; null if there is none, or more than one.
    }], "::tile::cta::LayoutAttr", "getResultLayout", (ins "::tile::cta::LayoutAttr":$operand)>,
    InterfaceMethod<[{
      The part of the tensor operands from which `part` of the only result is computed; none if there is no such part.
    }], "::std::optional<::tile::cta::TensorPart>", "getOperandPart", (ins "::tile::cta::TensorPart":$part)>,
    InterfaceMethod<[{
      `part` of the only result, of type `type`, computed from these operands: their layout and part are what the other
      methods say.
    }], "::mlir::Value", "recreate", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
                                          "::mlir::RankedTensorType":$type, "::tile::cta::TensorPart":$part),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      ::mlir::Operation *clone = builder.clone(*$_op.getOperation());
      clone->setOperands(operands);
      clone->getResult(0).setType(type);
      return clone->getResult(0);
    }]>
  ];
}

#endif
