// Reductions along one axis.
#ifndef TILE_REDUCE_OPS_TD
#define TILE_REDUCE_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "Tile/TileOpBase.td"

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlock]> {
  let summary = "combination of all elements along an axis";
  let description = [{
    One or more tensors of equal shape are reduced together (a value and its index, for example). The region combines
    two accumulated tuples: its arguments are n left scalars and n right scalars, and it yields n scalars with
    `tile.yield`. The combination must be associative and commutative; the order is not specified but is the same in
    every run. The results lack dimension `axis`; reducing a one-dimensional tensor gives scalars.

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
  let assemblyFormat = "$srcs attr-dict `:` type($srcs) `->` type($results) $combine";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "results of a combine region";
  let description = [{
    Example: `tile.yield %c : f32`
  }];
  let arguments = (ins Variadic<Tile_Number>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
