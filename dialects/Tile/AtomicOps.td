// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic read-modify-write operations on global memory.
#ifndef TILE_ATOMIC_OPS_TD
#define TILE_ATOMIC_OPS_TD

include "Tile/TileOpBase.td"

// Base of the atomic operations, which are executed once for each enabled element, in unspecified order.
class Tile_AtomicOp<string name, list<Trait> traits = []> : Tile_Op<name, !listconcat([
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>,
    TypesMatchWith<"result has the pointee type", "ptr", "result", "::tile::getPointeeValueType($_self)">,
    TypesMatchWith<"value has the pointee type", "ptr", "value", "::tile::getPointeeValueType($_self)">], traits)> {
  let results = (outs Tile_NumberTensor:$result);
  let hasVerifier = 1;
}

def Tile_AtomicRmwOp : Tile_AtomicOp<"atomic_rmw", [
    TypesMatchWith<"mask has the shape of the pointer", "ptr", "mask", "::tile::getMaskType($_self)",
                   "!::llvm::cast<::tile::AtomicRmwOp>($_op).getMask() || std::equal_to<>()">]> {
  let summary = "atomic read-modify-write, one element for each pointer";
  let description = [{
    Replaces `*ptr` by `kind(*ptr, value)` atomically for each element whose mask is true. The result is the previous
    value; it is undefined where the mask is false. Scalars are tensors of one element. Kinds: `add` for integers and
    floats, `max`, `min` (signed) and `umax`, `umin` for integers, `and`, `or`, `xor` for integers, `xchg` for both,
    `fmax`, `fmin` for 16-bit floats (a number wins over NaN). Integers have 32 or 64 bits. `order` and `scope` are
    defined by the PTX memory model ("Memory Consistency Model"): `order` says which accesses of this program are
    ordered with the operation, and `scope` says for which other threads. If two elements have the same address, both
    updates happen. `vector` has the same meaning as in `tile.load`: groups of that many elements have consecutive,
    aligned addresses and equal masks.

    Example:
    ```mlir
    %old = tile.atomic_rmw add relaxed gpu %p, %x mask %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope,
                       Tile_PtrTensor:$ptr, Tile_NumberTensor:$value, Optional<Tile_MaskTensor>:$mask,
                       DefaultValuedAttr<I32Attr, "1">:$vector);
  let assemblyFormat = "$kind $order $scope $ptr `,` $value (`mask` $mask^)? attr-dict `:` type($ptr)";
}

def Tile_AtomicCasOp : Tile_AtomicOp<"atomic_cas", [
    TypesMatchWith<"expected has the pointee type", "ptr", "expected", "::tile::getPointeeValueType($_self)">]> {
  let summary = "atomic compare-and-swap, one element for each pointer";
  let description = [{
    Replaces `*ptr` by `value` if it is bitwise equal to `expected`; the result is the previous value. Elements have 16,
    32 or 64 bits.

    Example: `%old = tile.atomic_cas acq_rel gpu %p, %zero, %one : tensor<1x!tile.ptr<i32>>`
  }];
  let arguments = (ins Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope, Tile_PtrTensor:$ptr,
                       Tile_NumberTensor:$expected, Tile_NumberTensor:$value);
  let assemblyFormat = "$order $scope $ptr `,` $expected `,` $value attr-dict `:` type($ptr)";
}

#endif
