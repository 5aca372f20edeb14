// Matrix multiplication.
#ifndef TILE_DOT_OPS_TD
#define TILE_DOT_OPS_TD

include "Tile/Engine.td"
include "Tile/TileOpBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`, with products exact and sums in the accumulator's type.
    Element types (a and b equal, except that two 8-bit floats may differ) and accumulator types:
    f16 → f16 or f32, bf16 → f32, f8 → f32, f32 → f32, f64 → f64, i8 → i32. `precision` says how f32 operands are
    multiplied: `tf32` rounds them to 10 mantissa bits, `tf32x3` recovers about 21 of them with three products,
    `ieee` does not round. The order of the sum is not specified.

    Canonical form: a sum with a product whose accumulator is zero, as `acc += tl.dot(a, b)` makes it, is a product with
    that accumulator. Not of 8-bit floats, whose products tensor cores may add with fewer bits than f32 has: there the
    program decides how many are added so.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```

    `engine` says what multiplies on the target, once that is chosen: it is needed from phase *tile* on.
    ```mlir
    %d = tile.dot %a, %b, %c {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>}
       : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       DefaultValuedAttr<Tile_InputPrecisionAttr, "::tile::InputPrecision::tf32">:$precision,
                       OptionalAttr<Tile_Engine>:$engine);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
