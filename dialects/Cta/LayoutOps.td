// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement of tensors between layouts.
#ifndef CTA_LAYOUT_OPS_TD
#define CTA_LAYOUT_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_ConvertLayoutOp : Cta_Op<"convert_layout", [Pure]> {
  let summary = "change which threads hold which elements of a tensor";
  let description = [{
    Shape and element type are unchanged. `cta-lower-conversions` leaves only conversions that permute the registers of
    a thread.

    Example: `%y = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>`
  }];
  let arguments = (ins Tile_Tensor:$src);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Cta_SliceColumnsOp : Cta_Op<"slice_columns", [Pure]> {
  let summary = "consecutive columns of a matrix, without movement between threads";
  let description = [{
    Takes the columns `first`, `first` + 1, … of the operand. The result determines the number of columns, which must be
    a power of two that divides `first`. Every thread must already hold its elements of the result, and must hold the
    same number of elements of every slice of this width. The layout of the result lacks the register bits that select
    the slice.

    Example: `%y = cta.slice_columns %x {first = 64 : i32} : tensor<128x256xf16, #a> -> tensor<128x64xf16, #b>`
  }];
  let arguments = (ins Tile_Tensor:$src, I32Attr:$first);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_PartialReduceOp : Cta_Op<"partial_reduce", [Pure, SingleBlock]> {
  let summary = "reduce an axis within each warp";
  let description = [{
    Like `tile.reduce`, but every warp reduces only its own elements along `axis`. The results keep the axis. Along it,
    they have one element for each part of the axis that some warps hold, in the order of the warp bits.

    Example:
    ```mlir
    %s = cta.partial_reduce %x {axis = 0 : i32} : tensor<128xf32, #x> -> tensor<4xf32, #s> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<Tile_NumberTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1; // RegionOps.h
  let hasVerifier = 1;
}

def Cta_PartialScanOp : Cta_Op<"partial_scan", [Pure, SingleBlock]> {
  let summary = "scan an axis within each warp";
  let description = [{
    Like `tile.scan`, but every warp scans only its own elements along `axis`. The results are one scan per operand,
    followed by one tensor of totals per operand: the last element of each warp's scan (with `reverse`, the first), in
    the order of the warps along the axis.

    Example:
    ```mlir
    %s, %t = cta.partial_scan %x {axis = 0 : i32} : tensor<128xf32, #x> -> tensor<128xf32, #x>, tensor<4xf32, #t> {
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
  let extraClassDeclaration = [{
    mlir::ResultRange getScans() { return getResults().take_front(getSrcs().size()); }
    mlir::ResultRange getTotals() { return getResults().drop_front(getSrcs().size()); }
  }];
}

def Cta_ScanCarryOp : Cta_Op<"scan_carry", [Pure, SingleBlock]> {
  let summary = "combine a partial scan with the totals of the preceding warps";
  let description = [{
    The operands are the results of a `cta.partial_scan`: first the scans, then the totals. For each row of which a
    thread holds elements, the thread must hold the totals of all warps, in its lowest registers. The results are the
    same as those of the complete `tile.scan`.

    Example:
    ```mlir
    %y = cta.scan_carry %s, %t {axis = 0 : i32} : tensor<128xf32, #x>, tensor<4xf32, #all> -> tensor<128xf32, #x> {
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
  let extraClassDeclaration = [{
    mlir::OperandRange getScans() { return getSrcs().take_front(getResults().size()); }
    mlir::OperandRange getTotals() { return getSrcs().drop_front(getResults().size()); }
  }];
}

#endif
