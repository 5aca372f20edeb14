// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that change the shape or the order of a tensor's elements, but never their values.
#ifndef TILE_SHAPE_OPS_TD
#define TILE_SHAPE_OPS_TD

include "Tile/TileOpBase.td"

class Tile_ShapeOp<string name> : Tile_Op<name, [Pure, DeclareOpInterfaceMethods<Tile_ShapeChange>]> {
  let arguments = (ins Tile_Tensor:$src);
  let results = (outs Tile_Tensor:$result);
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_ShapeOp<"reshape"> {
  let summary = "change the shape, keeping the row-major order of elements";
  let description = [{
    Operand and result have the same number of elements.

    Example: `%y = tile.reshape %x : tensor<64x2xf32> -> tensor<128xf32>`
  }];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_BroadcastOp : Tile_ShapeOp<"broadcast"> {
  let summary = "repeat elements along dimensions of size 1";
  let description = [{
    The ranks must be equal, and each dimension of the operand must have the size of the result's dimension, or size 1.

    Example: `%y = tile.broadcast %x : tensor<64x1xf32> -> tensor<64x32xf32>`
  }];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_ExpandDimsOp : Tile_ShapeOp<"expand_dims"> {
  let summary = "insert a dimension of size 1";
  let description = [{
    `axis` is the position of the new dimension in the result.

    Example: `%y = tile.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>`
  }];
  let arguments = (ins Tile_Tensor:$src, I32Attr:$axis);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_TransOp : Tile_ShapeOp<"trans"> {
  let summary = "permute dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the operand.

    Example: `%y = tile.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>`
  }];
  let arguments = (ins Tile_Tensor:$src, DenseI32ArrayAttr:$order);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

#endif
