// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global memory through pointers and through descriptors.
#ifndef TILE_MEMORY_OPS_TD
#define TILE_MEMORY_OPS_TD

include "Tile/TileOpBase.td"

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "advance a pointer by a number of elements";
  let description = [{
    Increases the address by `offset` times the size of the pointee; `offset` is signed and has the pointer's shape.

    Example: `%q = tile.addptr %p, %offset : tensor<128x!tile.ptr<f16>>, tensor<128xi32>`
  }];
  let arguments = (ins Tile_PtrValue:$ptr, Tile_IntValue:$offset);
  let results = (outs Tile_PtrValue:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasVerifier = 1;
}

def Tile_AddressCastOp : Tile_Op<"address_cast", [Pure, Elementwise]> {
  let summary = "reinterpret an address as another type";
  let description = [{
    Casts a pointer to its 64-bit address or to a pointer with another pointee, or an address to a pointer. The address
    and its alignment stay the same. Nothing is known about the allocation into which the result points.

    Example: `%q = tile.address_cast %a : tensor<4xi64> -> tensor<4x!tile.ptr<f16>>`
  }];
  let arguments = (ins Tile_AddressValue:$src);
  let results = (outs Tile_AddressValue:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

// A mask or value operand whose type follows from the type of the pointer; an absent optional operand always matches.
class Tile_FollowsPointer<string operand, string transform, string present>
    : TypesMatchWith<operand # " has the shape of the pointer", "ptr", operand, transform,
                     "!" # present # " || std::equal_to<>()">;

def Tile_LoadOp : Tile_Op<"load", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result has the pointee type", "ptr", "result", "::tile::getPointeeValueType($_self)">,
    Tile_FollowsPointer<"mask", "::tile::getMaskType($_self)", "::llvm::cast<::tile::LoadOp>($_op).getMask()">,
    Tile_FollowsPointer<"other", "::tile::getPointeeValueType($_self)",
                        "::llvm::cast<::tile::LoadOp>($_op).getOther()">]> {
  let summary = "load from global memory, one element for each pointer";
  let description = [{
    Where `mask` is false, nothing is read and the result is `other`, or zero if `other` is absent. `mask` and `other`
    have the pointer's shape. `cache` and `evict` are performance hints; `volatile` accesses are neither merged nor
    dropped.

    `vector` is the number of consecutive elements that one thread may read with one instruction: the addresses are
    consecutive and aligned to `vector` elements, and the mask is constant over them unless the access is `partial`. In
    a `partial` access, a thread uses wide instructions only if all of its elements are enabled, and otherwise reads
    element by element. `cta-vectorize-access` sets `vector` and `partial`; a `vector` of 1 is always correct.

    With `first`, if several threads hold an element, only the first of them reads it; the other threads get `other`,
    and nothing may depend on their result (`cta-insert-barriers`). The groups of an `unaligned` load are consecutive
    but may start at any address: a thread reads the aligned 16-byte chunks that cover its `vector` elements and
    realigns them with funnel shifts. Other elements of these chunks, possibly beyond the end of a tensor, are dropped.

    Example: `%x = tile.load %p mask %m other %o : tensor<128x!tile.ptr<f32>>`
  }];
  let arguments = (ins Tile_PtrValue:$ptr, Optional<Tile_MaskValue>:$mask, Optional<Tile_NumberValue>:$other,
                       DefaultValuedAttr<Tile_CacheModifierAttr, "::tile::CacheModifier::none">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicyAttr, "::tile::EvictionPolicy::normal">:$evict,
                       UnitAttr:$isVolatile, DefaultValuedAttr<I32Attr, "1">:$vector, UnitAttr:$partial,
                       UnitAttr:$first, UnitAttr:$unaligned);
  let results = (outs Tile_NumberValue:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? (`other` $other^)? (`volatile` $isVolatile^)? (`partial` $partial^)? (`first` $first^)?
    (`unaligned` $unaligned^)? attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [
    MemoryEffects<[MemWrite<Tile_GlobalMemory>]>,
    TypesMatchWith<"value has the pointee type", "ptr", "value", "::tile::getPointeeValueType($_self)">,
    Tile_FollowsPointer<"mask", "::tile::getMaskType($_self)", "::llvm::cast<::tile::StoreOp>($_op).getMask()">]> {
  let summary = "store to global memory, one element for each pointer";
  let description = [{
    Where `mask` is false, nothing is written. If several elements of one store have the same address, one of the values
    is written. The hints, `vector` and `partial` have the same meaning as in `tile.load`.

    Example: `tile.store %p, %x mask %m : tensor<128x!tile.ptr<f32>>`
  }];
  let arguments = (ins Tile_PtrValue:$ptr, Tile_NumberValue:$value, Optional<Tile_MaskValue>:$mask,
                       DefaultValuedAttr<Tile_CacheModifierAttr, "::tile::CacheModifier::none">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicyAttr, "::tile::EvictionPolicy::normal">:$evict,
                       DefaultValuedAttr<I32Attr, "1">:$vector, UnitAttr:$partial);
  let assemblyFormat = "$ptr `,` $value (`mask` $mask^)? (`partial` $partial^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

def Tile_MakeDescOp : Tile_Op<"make_desc", [Pure, AttrSizedOperandSegments]> {
  let summary = "descriptor of a strided tensor in global memory";
  let description = [{
    `shape` (i32) and `strides` (i64, in elements) have one entry per dimension of the block shape, 1 to 5; the last
    stride is 1. TMA requires that the innermost block dimension cover at least 16 bytes; the program must ensure that
    `base` is 16-byte aligned and that the other strides are non-negative multiples of 16 bytes.

    If `place` is given, the kernel encodes a tensor map for TMA there; `place` must point to 128 bytes of global memory
    that belong to this CTA (set by `tile-device-descriptors`). If `needed` is false, the descriptor must not be used
    for accesses.

    Example:
    ```mlir
    %d = tile.make_desc %base, [%m, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x32xf16>
    %e = tile.make_desc %base, [%m, %n], [%ld, %one] at %p if %c
      : !tile.ptr<f16>, !tile.ptr<i8> -> !tile.desc<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides, Optional<Tile_PtrType>:$place,
                       Optional<I1>:$needed);
  let results = (outs Tile_DescType:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` (`at` $place^)? (`if` $needed^)? attr-dict
    `:` type($base) (`,` type($place)^)? `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$base, "::mlir::ValueRange":$shape,
                                 "::mlir::ValueRange":$strides),
                            [{ build($_builder, $_state, type, base, shape, strides, {}, {}); }]>];
  let hasVerifier = 1;
}

def Tile_DescLoadOp : Tile_Op<"desc_load", [MemoryEffects<[MemRead<Tile_GlobalMemory>]>]> {
  let summary = "load one block of a global tensor through a descriptor";
  let description = [{
    `offsets` (i32, elements) is the coordinate of the block's first element. Elements outside the tensor read as zero,
    or as NaN if the descriptor says so. The result may be padded: sizes of the block that are not powers of two are
    rounded up, and the elements beyond the block are undefined.

    Example: `%x = tile.desc_load %d[%i, %j] : !tile.desc<64x32xf16> -> tensor<64x32xf16>`
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$desc `[` $offsets `]` attr-dict `:` type($desc) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DescStoreOp : Tile_Op<"desc_store", [MemoryEffects<[MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "store one block of a global tensor through a descriptor";
  let description = [{
    `offsets` (i32, elements) is the coordinate of the block's first element. Elements outside the tensor are dropped.
    The value may be padded like the result of `tile.desc_load`; elements beyond the block are not written. With
    `reduce`, the value is combined with the contents of memory instead of replacing them, each element atomically, in
    unspecified order (the kinds of `tile.atomic_rmw` except `xchg`; `fmax` and `fmin` only for 16-bit floats).

    Example:
    ```mlir
    tile.desc_store %d[%i, %j], %x : !tile.desc<64x32xf16>, tensor<64x32xf16>
    tile.desc_store %d[%i, %j], %x reduce add : !tile.desc<64x32xf16>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets, Tile_NumberTensor:$value,
                       OptionalAttr<Tile_AtomicKindAttr>:$reduce);
  let assemblyFormat = [{
    $desc `[` $offsets `]` `,` $value (`reduce` $reduce^)? attr-dict `:` type($desc) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_CreateTensorMapOp : Tile_Op<"create_tensor_map", [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "encode a tensor map in global memory in the program";
  let description = [{
    Writes 128 bytes, 64-byte aligned, at `place`: the tensor map of a row-major tensor of `shape` (i32, one or two
    dimensions) for accesses in blocks of `block` elements. Nothing else may access this memory concurrently. TMA
    requires that `base` and the length of a row in bytes be multiples of 16.

    Example: `tile.create_tensor_map %p, %base, [%m, %n] {block = array<i64: 64, 32>} : !tile.ptr<i8>, !tile.ptr<f16>`
  }];
  let arguments = (ins Tile_PtrType:$place, Tile_PtrType:$base, Variadic<I32>:$shape, DenseI64ArrayAttr:$block);
  let assemblyFormat = "$place `,` $base `,` `[` $shape `]` attr-dict `:` type($place) `,` type($base)";
  let hasVerifier = 1;
}

def Tile_AcquireTensorMapOp : Tile_Op<"acquire_tensor_map", [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "acquire fence between the writes of a tensor map and the accesses through it";
  let description = [{
    Required if this or another program has written the tensor map since the grid started.

    Example: `tile.acquire_tensor_map %p : !tile.ptr<i8>`
  }];
  let arguments = (ins Tile_PtrType:$place);
  let assemblyFormat = "$place attr-dict `:` type($place)";
}

def Tile_OpenTensorMapOp : Tile_Op<"open_tensor_map", [Pure]> {
  let summary = "descriptor from a tensor map in global memory";
  let description = [{
    Each access through the descriptor reads the tensor map, the 128 bytes at `place`, which `tile.create_tensor_map` or
    the host (CUDA driver API, `cuTensorMapEncodeTiled`) has written. The tensor map must have elements of the same size
    as the descriptor, a box with the same rows as the descriptor's block, but of at most 128 bytes each, and the widest
    swizzle that fits these rows. Only TMA can use such a descriptor.

    Example: `%d = tile.open_tensor_map %p : !tile.ptr<i8> -> !tile.desc<64x32xf16>`
  }];
  let arguments = (ins Tile_PtrType:$place);
  let results = (outs Tile_DescType:$result);
  let assemblyFormat = "$place attr-dict `:` type($place) `->` type($result)";
}

#endif
