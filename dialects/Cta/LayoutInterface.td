// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of operations that relate the layouts of their operands and results to each other.
#ifndef CTA_LAYOUT_INTERFACE_TD
#define CTA_LAYOUT_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Cta_LayoutInterface : OpInterface<"LayoutInterface"> {
  let cppNamespace = "::tile::cta";
  let description = [{
    Describes an operation's layouts as long as no element moves between threads: the operand layout required for a
    result layout, the result layout implied by an operand layout, and how to recreate the operation in another layout
    or for a part of its result. All tensor operands have the same layout, and so do all results.

    For operations of other dialects, `Cta/OpLayouts.cpp` implements the interface.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the layout of the tensor operands if the results have layout `result`; null if there is none, or more than
      one. An operation without tensor operands returns `result` if it can be computed in that layout. The same relation
      holds between a part of the result and the corresponding part of the operands.
    }], "::tile::cta::LayoutAttr", "getOperandLayout", (ins "::tile::cta::LayoutAttr":$result)>,
    InterfaceMethod<[{
      Returns the layout of the results if the tensor operands have layout `operand`; null if there is none, or more
      than one.
    }], "::tile::cta::LayoutAttr", "getResultLayout", (ins "::tile::cta::LayoutAttr":$operand)>,
    InterfaceMethod<[{
      Returns the part of the tensor operands from which `part` of the only result is computed; nullopt if there is no
      such part.
    }], "::std::optional<::tile::cta::TensorPart>", "getOperandPart", (ins "::tile::cta::TensorPart":$part)>,
    InterfaceMethod<[{
      Creates `part` of the only result, with type `type`, from `operands`. Their layouts and parts must be those that
      the other methods return.
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
