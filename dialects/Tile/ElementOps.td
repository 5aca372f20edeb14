// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computations on each element alone that neither `arith` nor `math` can say.
#ifndef TILE_ELEMENT_OPS_TD
#define TILE_ELEMENT_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "Tile/TileOpBase.td"

def Tile_MapOp : Tile_Op<"map", [Elementwise, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "apply a region on scalars to each element";
  let description = [{
    Tensors of one shape. The region is executed once for each place: its arguments are the operands' elements there,
    and it yields the results' with `tile.yield`. Other than in `arith.select`, a branch that is not taken is not
    executed, and loops end when they do for this element. The region computes with scalars and has no other effects.

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
    `rn` rounds to the nearest number (of two, to the even one), `rz` towards zero, `rd` down and `ru` up; nothing is
    ever fused with it. `add`, `sub`, `mul`, `div`, `fma` (x * y + z), `rcp` (1 / x) and `sqrt` are of f32 and f64.
    `cast` is from f64 to f32 and between these and integers of 32 and 64 bits, which are unsigned with `isUnsigned`;
    what no integer can hold becomes the next one, and NaN becomes 0, or the integer of the highest bit alone if f64 or
    64 bits are involved (PTX ISA, "cvt").

    A `cast` from a wider float to a float of 8 bits, `rn` or `rz`, saturates: an infinity becomes the largest finite
    number, which `arith.truncf` leaves open, and its folds keep the infinity of f8E5M2.

    Example: `%z = tile.rounded add rz(%x, %y) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>`
  }];
  let arguments = (ins Tile_RoundedKindAttr:$kind, Tile_RoundingAttr:$rounding, Variadic<Tile_NumberValue>:$args,
                       UnitAttr:$isUnsigned);
  let results = (outs Tile_NumberValue:$result);
  let assemblyFormat = [{
    $kind $rounding (`unsigned` $isUnsigned^)? `(` $args `)` attr-dict `:` functional-type($args, $result)
  }];
  let extraClassDeclaration = [{
    /// How many arguments the computation has.
    static unsigned countArguments(RoundedKind kind);
  }];
  let hasVerifier = 1;
}

def Tile_HintOp : Tile_Op<"hint", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "promise of the program about the elements of a value";
  let description = [{
    The result is `src`. Along dimension d, from index 0 on, each group of `contiguity[d]` elements counts up by one (for
    pointers: by one pointee), and each of `constancy[d]` elements is the same; what is said of more than 16 elements
    holds for each 16. Elements that begin such a group, or a larger one that is known, along all dimensions are multiples
    of `divisibility[d]` (for pointers: the addresses in bytes). A scalar has one entry, and what is absent says nothing.
    The compiler may use it; if it does not hold, behaviour is undefined (the interpreter reports divisors and constants that are wrong).

    Example: `%q = tile.hint %p divisibility [16, 16] : tensor<64x64x!tile.ptr<f16>>`
  }];
  let arguments = (ins Tile_Value:$src, OptionalAttr<DenseI64ArrayAttr>:$divisibility,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguity, OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $src (`divisibility` $divisibility^)? (`contiguity` $contiguity^)? (`constancy` $constancy^)? attr-dict `:` type($src)
  }];
  let extraClassDeclaration = [{
    /// Most elements of a group that are looked at together: what one access moves at most, 16 bytes.
    static constexpr int64_t mostElements = 16;
  }];
  let hasVerifier = 1;
}

#endif
