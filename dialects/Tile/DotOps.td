// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication.
#ifndef TILE_DOT_OPS_TD
#define TILE_DOT_OPS_TD

include "Tile/Engine.td"
include "Tile/TileOpBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`. a is M x K, b is K x N, and the accumulator is M x N.
    Products are exact and are accumulated in the accumulator's type. Element types (a and b equal, except that two
    8-bit floats may differ) and accumulator types: f16 → f16 or f32, bf16 → f32, f8 → f32, f32 → f32, f64 → f64, i8 →
    i32. `precision` says how f32 operands are multiplied: `tf32` rounds them to 10 mantissa bits, `tf32x3` recovers
    about 21 of them with three MMAs, `ieee` does not round. The order of summation is unspecified.

    Tensor cores may accumulate products of 8-bit floats with fewer bits than f32 has (on Hopper 14).
    `max_num_imprecise_acc` is the number of elements along k that may be accumulated this way before their sum is added
    to `acc` in f32: 0 asks for as few as possible; with a value above K, `acc` may itself be one of the addends. It is
    0 for other element types.

    Canonical form: the addition of a dot with a zero accumulator, as written by `acc += tl.dot(a, b)`, is folded into a
    dot with that accumulator; for 8-bit floats the dot is then added to it in f32.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```

    `engine` says how the target computes the dot, once that is chosen; it is required from phase *tile* on.
    ```mlir
    %d = tile.dot %a, %b, %c {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>}
       : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       DefaultValuedAttr<Tile_InputPrecisionAttr, "::tile::InputPrecision::tf32">:$precision,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$max_num_imprecise_acc,
                       OptionalAttr<Tile_Engine>:$engine);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Returns true if partial sums of 8-bit floats are added to `acc` in f32.
    bool isPromoted();
  }];
}

#endif
