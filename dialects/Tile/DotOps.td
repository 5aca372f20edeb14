// Matrix multiplication.
#ifndef TILE_DOT_OPS_TD
#define TILE_DOT_OPS_TD

include "Tile/TileOpBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`, a is M x K, b is K x N, and the accumulator
    M x N; products are exact and accumulated in the accumulator's type.
    Element types (a and b equal, except that two 8-bit floats may differ) and accumulator types:
    f16 → f16 or f32, bf16 → f32, f8 → f32, f32 → f32, f64 → f64, i8 → i32. `precision` says how f32 operands are
    multiplied: `tf32` rounds them to 10 mantissa bits, `tf32x3` recovers about 21 of them with three products,
    `ieee` does not round. The order of the sum is not specified.

    Canonical form: the addition of a dot whose accumulator is zero, as `acc += tl.dot(a, b)` makes it, is a dot with
    that accumulator. Not of 8-bit floats, which tensor cores may accumulate with fewer bits than f32 has: there the
    program decides how many products are accumulated so.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       DefaultValuedAttr<Tile_InputPrecisionAttr, "::tile::InputPrecision::tf32">:$precision);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
