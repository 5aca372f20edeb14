// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies from global to shared memory.
#ifndef CTA_COPY_OPS_TD
#define CTA_COPY_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_AsyncCopyOp : Cta_Op<"async_copy", [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "copy from global to shared memory by cp.async, one element for each pointer";
  let description = [{
    PTX ISA, `cp.async`. Writes zeros where `mask` is false. The copy is complete after a `cta.async_wait` that covers
    the group in which `cta.async_commit` placed it. One instruction copies `vector` consecutive elements (4, 8 or 16
    bytes); addresses and mask must satisfy the same requirements as for `tile.load`.

    Example: `cta.async_copy %p, %b mask %m {vector = 8 : i32} : tensor<64x32x!tile.ptr<f16>, #x>,
    !cta.buffer<64x32xf16, #s>`
  }];
  let arguments = (ins Tile_TensorOf<[Tile_PtrType]>:$ptr,
                       Arg<Cta_BufferType, "tile", [MemWrite<Cta_CopiedMemory>]>:$buffer,
                       Optional<Tile_TensorOf<[I1]>>:$mask, I32Attr:$vector,
                       DefaultValuedAttr<Tile_CacheModifierAttr, "::tile::CacheModifier::none">:$cache);
  let assemblyFormat = [{
    $ptr `,` $buffer (`mask` $mask^ `:` type($mask))? attr-dict `:` type($ptr) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Cta_AsyncCommitOp : Cta_Op<"async_commit", [MemoryEffects<[MemWrite<Cta_SharedMemory>]>]> {
  let summary = "close a group of cp.async copies";
  let description = [{
    PTX ISA, `cp.async.commit_group`: the copies since the last commit form one group, which may be empty.

    Example: `cta.async_commit`
  }];
  let assemblyFormat = "attr-dict";
}

def Cta_AsyncWaitOp : Cta_Op<"async_wait", [MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "wait until at most `pending` groups of cp.async copies are in flight";
  let description = [{
    PTX ISA, `cp.async.wait_group`. A thread waits for its own copies; the copied data is visible to other threads
    after a `cta.barrier`.

    Example: `cta.async_wait 2`
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif
