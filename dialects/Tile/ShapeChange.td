// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of operations that move elements without changing them.
#ifndef TILE_SHAPE_CHANGE_TD
#define TILE_SHAPE_CHANGE_TD

include "mlir/IR/OpBase.td"

def Tile_ShapeChange : OpInterface<"ShapeChange"> {
  let cppNamespace = "::tile";
  let description = [{
    Every element of the only result is an element of the first operand. The source is described per dimension, so that
    analyses of elements need not know operations by name: addresses and masks as polynomials, divisibility, and
    layouts.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns, for each dimension of the result, the dimension of the operand along which it runs; none if all elements
      along it are equal. Returns nothing if dimensions do not correspond, as in a reshape.
    }], "::std::optional<::tile::SourceDims>", "getSourceDims">
  ];
  let extraClassDeclaration = [{
    /// Returns the dimension of the result that runs along dimension `dim` of the operand, if there is one.
    ::std::optional<unsigned> getResultDim(unsigned dim);
  }];
}

#endif
