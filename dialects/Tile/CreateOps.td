// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that create tensors from scalars or from nothing.
#ifndef TILE_CREATE_OPS_TD
#define TILE_CREATE_OPS_TD

include "Tile/TileOpBase.td"

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "one-dimensional tensor of consecutive integers";
  let description = [{
    Returns the integers from `start` (included) to `end` (excluded). The result is one-dimensional and has
    `end - start` elements; there must be at least one.

    Example: `%r = tile.arange 0 to 128 : tensor<128xi32>`
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs Tile_TensorOf<[I32]>:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure, DeclareOpInterfaceMethods<Tile_ShapeChange>]> {
  let summary = "broadcast a scalar to a tensor";
  let description = [{
    The type of the scalar must be the element type of the tensor.

    Example: `%t = tile.splat %x : f32 -> tensor<64x32xf32>`
  }];
  let arguments = (ins Tile_Element:$scalar);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
