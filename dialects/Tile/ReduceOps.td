// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and other operations along one axis.
#ifndef TILE_REDUCE_OPS_TD
#define TILE_REDUCE_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "Tile/TileOpBase.td"

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlock]> {
  let summary = "reduce an axis with a region";
  let description = [{
    One or more tensors of equal shape are reduced together (for example, a value and its index). The region combines
    two accumulated tuples: its arguments are n left scalars and n right scalars, and it yields n scalars with
    `tile.yield`. The combination must be associative: elements are combined in the order of the axis, with the earlier
    elements on the left, but their grouping is unspecified. The grouping is the same in every run. The results lack
    dimension `axis`; reducing a one-dimensional tensor gives scalars.

    Example:
    ```mlir
    %sum = tile.reduce %x {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<Tile_NumberValue>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1; // RegionOps.h
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SingleBlock]> {
  let summary = "inclusive prefix scan along an axis with a region";
  let description = [{
    Element i of the results combines the elements 0 to i of the operands along `axis`; with `reverse`, it combines the
    elements from i to the last, with the last element leftmost. The region is like that of `tile.reduce`.

    Example:
    ```mlir
    %sums = tile.scan %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTensor>:$srcs, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_NumberTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1; // RegionOps.h
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "gather elements along an axis by computed indices";
  let description = [{
    `result[…, i, …] = src[…, indices[…, i, …], …]`, where i is the coordinate along `axis`. The shapes agree except
    along that axis. An index out of range gives an unspecified element (the interpreter reports it).

    Example: `%y = tile.gather %x[%i] {axis = 0 : i32} : tensor<128xf32>, tensor<64xi32> -> tensor<64xf32>`
  }];
  let arguments = (ins Tile_NumberTensor:$src, Tile_TensorOf<[I32]>:$indices, I32Attr:$axis);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` type($src) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ButterflyOp : Tile_Op<"butterfly", [Pure, SameOperandsAndResultType]> {
  let summary = "exchange elements whose indices differ in given bits";
  let description = [{
    `result[…, i, …] = src[…, i xor distance, …]`, where i is the coordinate along `axis`, whose size is a power of two
    above `distance`. A step of a bitonic sort compares its operand with the result, and a distance of `size - 1`
    reverses the axis.

    Example: `%y = tile.butterfly %x {axis = 0 : i32, distance = 4 : i32} : tensor<128xf32>`
  }];
  let arguments = (ins Tile_NumberTensor:$src, I32Attr:$axis, I32Attr:$distance);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure,
    TypesMatchWith<"mask has the shape of the elements", "src", "mask", "::tile::getMaskType($_self)",
                   "!::llvm::cast<::tile::HistogramOp>($_op).getMask() || std::equal_to<>()">]> {
  let summary = "count how often each integer from 0 on occurs";
  let description = [{
    `result[n]` is the number of elements of `src` that equal n and whose mask is true. Other values are ignored.

    Example: `%h = tile.histogram %x mask %m : tensor<1024xi32> -> tensor<64xi32>`
  }];
  let arguments = (ins Tile_TensorOf<[I32]>:$src, Optional<Tile_MaskTensor>:$mask);
  let results = (outs Tile_TensorOf<[I32]>:$result);
  let assemblyFormat = "$src (`mask` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "terminator of a region on scalars";
  let description = [{
    Ends the region of a `tile.reduce`, `tile.scan`, `tile.map` or `cta.partial_reduce`, with one scalar for each result
    of that operation; or ends the region of a `tile.programs`, without values.

    Example: `tile.yield %c : f32`
  }];
  let arguments = (ins Variadic<Tile_Number>:$values);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
