// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of operations that move elements without changing them.
#ifndef TILE_SHAPE_CHANGE_TD
#define TILE_SHAPE_CHANGE_TD

include "mlir/IR/OpBase.td"

def Tile_ShapeChange : OpInterface<"ShapeChange"> {
  let cppNamespace = "::tile";
  let description = [{
    Every element of the only result is an element of the first operand. The interface describes, for each dimension,
    where the elements come from. So analyses of elements (addresses and masks as polynomials, divisibility, layouts)
    need not handle each operation by name.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns, for each dimension of the result, the dimension of the operand to which it corresponds, or nullopt if all
      elements along it are equal. Returns nullopt as a whole if dimensions do not correspond to each other, as in a
      reshape.
    }], "::std::optional<::tile::SourceDims>", "getSourceDims">
  ];
  let extraClassDeclaration = [{
    /// Returns the dimension of the result that corresponds to dimension `dim` of the operand, if there is one.
    ::std::optional<unsigned> getResultDim(unsigned dim);
  }];
}

#endif
