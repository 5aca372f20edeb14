// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of whole blocks by the tensor memory accelerator (TMA).
//
// A descriptor is a kernel argument with a `tile.tensor_map`; the box of one instruction is a panel of the buffer's
// layout (lib/Layout/SharedLayouts.h), so a copy may take several instructions.
#ifndef CTA_TMA_OPS_TD
#define CTA_TMA_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_TmaLoadOp : Cta_Op<"tma_load", [AttrSizedOperandSegments, Cta_CountsInSlot,
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "asynchronous TMA copy of a block from global to shared memory, by one thread";
  let description = [{
    PTX ISA, `cp.async.bulk.tensor`. `offsets` is the coordinate of the block's first element; elements outside the
    tensor read as zero. The buffer may omit leading dimensions of the block that have size 1. The bytes of the block
    are counted in the slot of a ring, or at a barrier at which a `cta.mbarrier_expect` has announced them. If the
    buffer's last panel has fewer columns than the others, `tail` must describe the same tensor with a box of that many
    columns. The operation must be in a single-thread role.

    Example:
    ```mlir
    cta.tma_load %d[%i, %j], %b, %ring[%slot]
      : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.ring<4 x [<128x64xf16, #s>]>
    cta.tma_load %d[%i, %j] tail %r, %b, %full[%slot]
      : !tile.desc<64x160xf16> tail !tile.desc<64x32xf16>, !cta.buffer<64x160xf16, #s>, !cta.mbarrier<4>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets, Optional<Tile_DescType>:$tail,
                       Arg<Cta_BufferType, "tile", [MemWrite<Cta_SignalledMemory>]>:$buffer,
                       Cta_RingOrMbarrier:$barrier, Cta_SlotOrIndex:$slot);
  let assemblyFormat = [{
    $desc `[` $offsets `]` (`tail` $tail^)? `,` $buffer `,` $barrier `[` $slot `]` attr-dict
    `:` type($desc) (`tail` type($tail)^)? `,` type($buffer) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

def Cta_TmaLoadSyncOp : Cta_Op<"tma_load_sync", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "TMA copy of a block from global to shared memory, awaited immediately";
  let description = [{
    Like `cta.tma_load`, but executed by all threads of the CTA or role, which synchronize before the copy begins and
    after it has completed. The barrier must have one slot and no other use; this operation initializes it.

    Example:
    ```mlir
    cta.tma_load_sync %d[%i, %j], %b, %m : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.mbarrier<1>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets, Optional<Tile_DescType>:$tail,
                       Arg<Cta_BufferType, "tile", [MemWrite<Cta_SignalledMemory>]>:$buffer, Cta_MbarrierType:$barrier);
  let assemblyFormat = [{
    $desc `[` $offsets `]` (`tail` $tail^)? `,` $buffer `,` $barrier attr-dict
    `:` type($desc) (`tail` type($tail)^)? `,` type($buffer) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

def Cta_TmaStoreOp : Cta_Op<"tma_store", [MemoryEffects<[MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "asynchronous TMA copy of a block from shared to global memory";
  let description = [{
    PTX ISA, `cp.async.bulk.tensor` and `cp.async.bulk.commit_group`, executed by one thread. Elements outside the
    tensor are dropped. Data that ordinary stores wrote to the buffer needs a `cta.proxy_fence` followed by a barrier
    before this operation. The buffer may omit leading dimensions of size 1, and may be a part of the block; `offsets`
    is then the coordinate of the part's first element. With `groups`, the block is divided among `groups` warp groups,
    in order: one thread of each group copies the group's share of the rows, or of the columns if the buffer has several
    panels. With `reduce` the block is combined with the contents of memory (`cp.reduce.async.bulk.tensor`): `add` for
    32-bit integers and for 16- and 32-bit floats, `and`, `or`, `xor`, and `fmin` and `fmax` for 16-bit floats.

    Example:
    ```mlir
    cta.tma_store %b, %d[%i, %j] : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
    cta.tma_store %b, %d[%i, %j] reduce add : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "tile", [MemRead<Cta_CopiedMemory>]>:$buffer, Tile_DescType:$desc,
                       Variadic<I32>:$offsets, DefaultValuedAttr<I32Attr, "1">:$groups,
                       OptionalAttr<Tile_AtomicKindAttr>:$reduce);
  let assemblyFormat = [{
    $buffer `,` $desc `[` $offsets `]` (`reduce` $reduce^)? attr-dict `:` type($buffer) `,` type($desc)
  }];
  let hasVerifier = 1;
}

def Cta_TmaStoreWaitOp : Cta_Op<"tma_store_wait", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "wait until at most `pending` TMA stores still read their buffers";
  let description = [{
    PTX ISA, `cp.async.bulk.wait_group.read`, executed by the thread that issues `cta.tma_store`; other threads may
    write to the buffers after a `cta.barrier`. With `written`, this is `cp.async.bulk.wait_group`: it waits until all
    but `pending` copies are complete in global memory; other threads may read the data there after a barrier.

    Example: `cta.tma_store_wait 1`, `cta.tma_store_wait 0 written`
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending, UnitAttr:$written);
  let assemblyFormat = "$pending (`written` $written^)? attr-dict";
}

def Cta_MakeTensorMapOp : Cta_Op<"make_tensor_map", [AttrSizedOperandSegments,
    MemoryEffects<[MemWrite<Tile_GlobalMemory>, MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "encode a tensor map in the kernel";
  let description = [{
    PTX ISA, `tensormap.replace` and `fence.proxy.tensormap`. One thread builds a tensor map in `staging`, 128 bytes of
    shared memory, and copies it to `place`, 128 bytes of global memory that belong to this CTA. This thread is the
    first thread of the CTA or role, and the other threads wait for it. With `single`, only one thread executes the
    operation, and no other thread may access memory through the descriptor. Reads through an earlier tensor map at
    `place` must be complete; this operation waits for writes. Shape and strides are as in `tile.make_desc`; `box` and
    `swizzle` are as in a `#tile.tensor_map`. If `needed` is false, no tensor map is built, and the descriptor must not
    be used.

    Example:
    ```mlir
    %d = cta.make_tensor_map %base, [%m, %n], [%ld, %one] at %p via %b if %c
      {box = array<i64: 64, 64>, swizzle = 128 : i32}
      : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #s> -> !tile.desc<64x64xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides, Tile_PtrType:$place,
                       Arg<Cta_BufferType, "staging", [MemWrite<Cta_SignalledMemory>]>:$staging, Optional<I1>:$needed,
                       DenseI64ArrayAttr:$box, I32Attr:$swizzle, UnitAttr:$single);
  let results = (outs Tile_DescType:$result);
  let assemblyFormat = [{
    (`single` $single^)? $base `,` `[` $shape `]` `,` `[` $strides `]` `at` $place `via` $staging (`if` $needed^)?
    attr-dict `:` type($base) `,` type($place) `,` type($staging) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Cta_TmaPrefetchOp : Cta_Op<"tma_prefetch", [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "prefetch a tensor map";
  let description = [{
    PTX ISA, `prefetch.tensormap`, executed by one thread, so that the first copy need not wait for the tensor map.

    Example: `cta.tma_prefetch %d : !tile.desc<128x64xf16>`
  }];
  let arguments = (ins Tile_DescType:$desc);
  let assemblyFormat = "$desc attr-dict `:` type($desc)";
}

def Cta_ProxyFenceOp : Cta_Op<"proxy_fence", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "order this thread's stores to shared memory before asynchronous reads";
  let description = [{
    PTX ISA, `fence.proxy.async`: the preceding stores are visible to TMA and wgmma once a barrier has synchronized
    the threads.

    Example: `cta.proxy_fence`
  }];
  let assemblyFormat = "attr-dict";
}

#endif
