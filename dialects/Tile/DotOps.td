// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication.
#ifndef TILE_DOT_OPS_TD
#define TILE_DOT_OPS_TD

include "Tile/Engine.td"
include "Tile/TileOpBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "matrix multiply-accumulate";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`. a is M x K, b is K x N, and the accumulator is M x N.
    Products are exact and are accumulated in the accumulator's type. a and b must have the same element type, except
    that different 8-bit floats may be combined. These element types and accumulator types are allowed: f16 → f16 or
    f32, bf16 → f32, f8 → f32, f32 → f32, f64 → f64, i8 → i32. `precision` says how f32 operands are multiplied: `tf32`
    rounds them to 10 mantissa bits, `tf32x3` keeps about 21 mantissa bits by computing three MMAs, and `ieee` does not
    round. The order of summation is unspecified.

    Tensor cores may accumulate products of 8-bit floats with fewer mantissa bits than f32 has (14 bits on Hopper).
    `max_num_imprecise_acc` is the number of elements along k that may be accumulated this way before their sum is added
    to `acc` in f32: 0 requests as few as possible; with a value above K, even `acc` itself may be added imprecisely.
    For other element types it must be 0.

    Canonical form: if a dot with a zero accumulator is added to a value, as in `acc += tl.dot(a, b)`, the value becomes
    the accumulator of the dot; for 8-bit floats, the sum of the dot is still added to the value in f32.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```

    With scales, each element is multiplied by the scale of its group of elements along k before the products are added.
    A group has 32 elements if scales are i8 (which stand for 2^(s - 127)), and 16 elements if they are f8E4M3FN.
    `a_scale` is M x (K / group), and `b_scale` is N x (K / group). Operands are 8-bit floats, or i8 tensors with two
    e2m1 elements in each byte, so K is twice the inner size. `tile-lower-scaled-dots` creates such dots only for tensor
    cores that support scales.
    ```mlir
    %d = tile.dot %a, %b, %c scales %s, %t : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>,
         tensor<128x4xi8>, tensor<128x4xi8>
    ```

    `engine`, once it has been chosen, says how the target computes the dot; it is required from phase *tile* on.
    ```mlir
    %d = tile.dot %a, %b, %c {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>}
       : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       Optional<Tile_NumberTensor>:$a_scale, Optional<Tile_NumberTensor>:$b_scale,
                       DefaultValuedAttr<Tile_InputPrecisionAttr, "::tile::InputPrecision::tf32">:$precision,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$max_num_imprecise_acc,
                       OptionalAttr<Tile_Engine>:$engine);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`scales` $a_scale^ `,` $b_scale)? attr-dict `:` type($a) `,` type($b) `->` type($result)
    (`,` type($a_scale)^ `,` type($b_scale))?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
                                 "::tile::InputPrecision":$precision, "uint32_t":$maxNumImpreciseAcc,
                                 "::tile::Engine":$engine), [{
    build($_builder, $_state, acc.getType(), a, b, acc, /*aScale=*/::mlir::Value(), /*bScale=*/::mlir::Value(),
          precision, maxNumImpreciseAcc, engine);
  }]>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    bool isScaled() { return bool(getAScale()); }
    /// Returns the element type with which an operand is multiplied: f4E2M1FN for i8 with scales, otherwise its element
    /// type.
    ::mlir::Type getMultipliedType(::mlir::Value operand);
    /// Returns the number of elements along k; with scales, each byte of an i8 operand contains two elements.
    int64_t getDepth();
    /// Returns the number of elements along k that share a scale; 0 without scales.
    int64_t getScaleGroup();
    /// Returns true if partial sums of 8-bit floats are added to `acc` in f32.
    bool isPromoted();
  }];
}

def Tile_DotScaledOp : Tile_Op<"dot_scaled", [Pure, AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "matrix multiply-accumulate of operands in microscaling formats";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[k, n]`, where each element of an operand with scales is first
    multiplied by the scale of its group of elements along k. A group has 32 elements if scales are i8 (s stands for
    2^(s - 127), and 255 for NaN), and 16 elements if they are f8E4M3FN, which must not be negative. `a_scale` is M x (K
    / group), and `b_scale` is N x (K / group). Source: OCP, "Microscaling Formats (MX)".

    Tensors of e2m1 are i8, with two elements per byte, the first one in the low half. The two elements are neighbours
    along k or, with `a_packed_by_row` and `b_packed_by_column`, along m or n. Tensors of e4m3 and e5m2 have the
    corresponding type or i8; tensors of the other formats have the corresponding type. Scaled elements are rounded to
    bf16, or to f16 if an operand has that format; the accumulator is f32.

    Example:
    ```mlir
    %d = tile.dot_scaled %a scale %s as e2m1, %b as bf16, %c
       : (tensor<128x32xi8>, tensor<64x128xbf16>, tensor<128x128xf32>, tensor<128x2xi8>) -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       Optional<Tile_NumberTensor>:$a_scale, Optional<Tile_NumberTensor>:$b_scale,
                       Tile_ScaledFormatAttr:$a_format, Tile_ScaledFormatAttr:$b_format,
                       UnitAttr:$a_packed_by_row, UnitAttr:$b_packed_by_column);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `as` `` $a_format `,` $b (`scale` $b_scale^)? `as` `` $b_format `,` $acc attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the axis of an operand along which two elements share a byte.
    unsigned getPackedAxisOfA() { return getAPackedByRow() ? 0 : 1; }
    unsigned getPackedAxisOfB() { return getBPackedByColumn() ? 1 : 0; }
    /// Returns the number of elements along k.
    int64_t getDepth();
  }];
}

#endif
