// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of operations that move elements without changing them.
#ifndef TILE_SHAPE_CHANGE_TD
#define TILE_SHAPE_CHANGE_TD

include "mlir/IR/OpBase.td"

def Tile_ShapeChange : OpInterface<"ShapeChange"> {
  let cppNamespace = "::tile";
  let description = [{
    Every element of the one result is an element of the first operand. Where each comes from is said dimension by
    dimension, so that what follows elements needs to know no operation by name: addresses and masks as polynomials,
    divisibility, and layouts.
  }];
  let methods = [
    InterfaceMethod<[{
      The dimension of the operand along which each dimension of the result runs; none where all elements along it are
      the same. Nothing at all if dimensions do not correspond, as those of a reshape.
    }], "::std::optional<::tile::SourceDims>", "getSourceDims">
  ];
  let extraClassDeclaration = [{
    /// The dimension of the result that runs along dimension `dim` of the operand, if there is one.
    ::std::optional<unsigned> getResultDim(unsigned dim);
  }];
}

#endif
