// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations that neither `arith` nor `math` can express.
#ifndef TILE_ELEMENT_OPS_TD
#define TILE_ELEMENT_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "Tile/TileOpBase.td"

def Tile_MapOp : Tile_Op<"map", [Elementwise, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "apply a region on scalars to each element";
  let description = [{
    Operands and results are tensors of one shape. The region is executed once per position: its arguments are the
    operands' elements at that position, and it yields the results' elements with `tile.yield`. Unlike the operands of
    `arith.select`, a branch that is not taken is not executed, and the trip counts of loops may differ between
    elements. The region computes with scalars and has no other effects.

    Example:
    ```mlir
    %y = tile.map %x : tensor<128xf32> -> tensor<128xf32> {
    ^bb0(%a: f32):
      %b = scf.if %c -> f32 { … }
      tile.yield %b : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTensor>:$srcs);
  let results = (outs Variadic<Tile_NumberTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1; // RegionOps.h
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_RoundedOp : Tile_Op<"rounded", [Pure, Elementwise]> {
  let summary = "arithmetic with an explicit rounding mode";
  let description = [{
    `rn` rounds to nearest even, `rz` towards zero, `rd` down and `ru` up; the operation is never fused with others.
    `add`, `sub`, `mul`, `div`, `fma` (x * y + z), `rcp` (1 / x) and `sqrt` take f32 and f64. `cast` converts from f64
    to f32 and between floats and integers of 32 and 64 bits, which are unsigned with `isUnsigned`. A value out of range
    becomes the nearest integer that is representable; NaN becomes 0, or the integer with only the highest bit set if
    f64 or 64-bit integers are involved (PTX ISA, "cvt").

    A `cast` from a wider float to an 8-bit float, with `rn` or `rz`, saturates: an infinity becomes the largest finite
    value. `arith.truncf` leaves this open, and its folders keep the infinity of f8E5M2.

    Example: `%z = tile.rounded add rz(%x, %y) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>`
  }];
  let arguments = (ins Tile_RoundedKindAttr:$kind, Tile_RoundingAttr:$rounding, Variadic<Tile_NumberValue>:$args,
                       UnitAttr:$isUnsigned);
  let results = (outs Tile_NumberValue:$result);
  let assemblyFormat = [{
    $kind $rounding (`unsigned` $isUnsigned^)? `(` $args `)` attr-dict `:` functional-type($args, $result)
  }];
  let extraClassDeclaration = [{
    /// Returns the number of arguments of the computation.
    static unsigned countArguments(RoundedKind kind);
  }];
  let hasVerifier = 1;
}

def Tile_HintOp : Tile_Op<"hint", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "assumption about the elements of a value";
  let description = [{
    The result is `src`. Along dimension d, starting at index 0, each group of `contiguity[d]` elements consists of
    consecutive integers (for pointers: of consecutive pointees), and all elements of each group of `constancy[d]`
    elements are equal. Values above 16 are treated as 16. If an element starts such a group, or a larger known group,
    along all dimensions, it is a multiple of `divisibility[d]` (for pointers, its byte address is). For a scalar, each
    attribute has one entry; an absent attribute states nothing. The compiler may use the hint; if it does not hold,
    behaviour is undefined (the interpreter reports wrong divisibilities and constancies).

    Example: `%q = tile.hint %p divisibility [16, 16] : tensor<64x64x!tile.ptr<f16>>`
  }];
  let arguments = (ins Tile_Value:$src, OptionalAttr<DenseI64ArrayAttr>:$divisibility,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguity, OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $src (`divisibility` $divisibility^)? (`contiguity` $contiguity^)? (`constancy` $constancy^)? attr-dict
    `:` type($src)
  }];
  let extraClassDeclaration = [{
    /// The size of the largest group that is considered, since one access moves at most 16 bytes.
    static constexpr int64_t maxElements = 16;
  }];
  let hasVerifier = 1;
}

#endif
