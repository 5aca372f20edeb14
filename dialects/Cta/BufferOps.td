// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers in shared memory.
#ifndef CTA_BUFFER_OPS_TD
#define CTA_BUFFER_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_AllocOp : Cta_Op<"alloc", [MemoryEffects<[MemAlloc<Cta_SharedMemory>]>]> {
  let summary = "allocate a buffer in shared memory";
  let description = [{
    The buffer is live from this operation to its last use; buffers with disjoint lifetimes may share memory. `offset`
    is its byte offset in the CTA's shared memory (set by `cta-allocate-shared`; absent before).

    Example: `%b = cta.alloc : !cta.buffer<64x32xf16, #s>`
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
}

def Cta_SlotOp : Cta_Op<"slot", [Pure]> {
  let summary = "select one slot of a buffer";
  let description = [{
    `index` must be in [0, slots); otherwise the behaviour is undefined.

    Example: `%t = cta.slot %b[%i] : !cta.buffer<64x32xf16, #s, slots = 3> -> !cta.buffer<64x32xf16, #s>`
  }];
  let arguments = (ins Cta_BufferType:$buffer, I32:$index);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_NextSlotOp : Cta_Op<"next_slot", [Pure]> {
  let summary = "index of the slot after this one, modulo the number of slots";
  let description = [{
    `index` + 1, wrapping to 0 after the last of `slots` slots. A loop that cycles through the slots of its buffers
    carries such indices, so analyses can determine which slot an iteration accesses. `cta-lower-rings` lowers this
    operation to arithmetic.

    Example: `%j = cta.next_slot %i of 3`
  }];
  let arguments = (ins I32:$index, ConfinedAttr<I32Attr, [IntPositive]>:$slots);
  let results = (outs I32:$result);
  let assemblyFormat = "$index `of` $slots attr-dict";
  let hasFolder = 1;
}

def Cta_TransBufferOp : Cta_Op<"trans_buffer", [Pure]> {
  let summary = "transposed view of a buffer";
  let description = [{
    No data moves; the layout of the result has its coordinates swapped.

    Example: `%t = cta.trans_buffer %b : !cta.buffer<64x32xf16, #s> -> !cta.buffer<32x64xf16, #t>`
  }];
  let arguments = (ins Cta_BufferType:$buffer);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_LocalStoreOp : Cta_Op<"local_store", []> {
  let summary = "store a tensor to shared memory";
  let description = [{
    Each thread writes the elements that it holds. With `first`, if several threads hold an element, only the first of
    them writes it. Other threads may read the elements only after a `cta.barrier`.

    Example: `cta.local_store %x, %b : tensor<64x32xf16, #x>, !cta.buffer<64x32xf16, #s>`
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Cta_BufferType, "tile", [MemWrite<Cta_SharedMemory>]>:$buffer,
                       UnitAttr:$first);
  let assemblyFormat = "(`first` $first^)? $value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Cta_LocalLoadOp : Cta_Op<"local_load", []> {
  let summary = "load a tensor from shared memory";
  let description = [{
    Each thread reads the elements that the result's layout assigns to it: either from the whole tile, or from the slice
    that starts at `start` and has the shape of the result. Each coordinate of `start` must be a multiple of the
    corresponding size of the result.

    Example:
    ```mlir
    %x = cta.local_load %b : !cta.buffer<64x32xf16, #s> -> tensor<64x32xf16, #x>
    %y = cta.local_load %b at [0, 16] : !cta.buffer<64x32xf16, #s> -> tensor<64x16xf16, #y>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "tile", [MemRead<Cta_SharedMemory>]>:$buffer,
                       OptionalAttr<DenseI32ArrayAttr>:$start);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$buffer (`at` $start^)? attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_LocalGatherOp : Cta_Op<"local_gather", []> {
  let summary = "gather elements of a buffer along an axis by computed indices";
  let description = [{
    Like `tile.gather`, but reads from a buffer with a row-major layout. The result has the layout of the indices.

    Example:
    ```mlir
    %y = cta.local_gather %b[%i] {axis = 0 : i32} : !cta.buffer<64xf32, #s>, tensor<32xi32, #x> -> tensor<32xf32, #x>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "tile", [MemRead<Cta_SharedMemory>]>:$buffer, Tile_TensorOf<[I32]>:$indices,
                       I32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_LocalCountOp : Cta_Op<"local_count", [
    TypesMatchWith<"mask has the shape of the elements", "src", "mask", "::tile::getMaskType($_self)",
                   "!::llvm::cast<::tile::cta::LocalCountOp>($_op).getMask() || std::equal_to<>()">]> {
  let summary = "atomic increments in shared memory, one for each element of a tensor";
  let description = [{
    `buffer[src[i]] += 1`, atomically, for each element whose mask is true; an element that several threads hold is
    counted once. Elements that are not valid indices into the buffer are ignored.

    Example: `cta.local_count %x, %b mask %m : tensor<1024xi32, #x>, !cta.buffer<64xi32, #s>`
  }];
  let arguments = (ins Tile_TensorOf<[I32]>:$src,
                       Arg<Cta_BufferType, "counts", [MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>:$buffer,
                       Optional<Tile_MaskTensor>:$mask);
  let assemblyFormat = "$src `,` $buffer (`mask` $mask^)? attr-dict `:` type($src) `,` type($buffer)";
  let hasVerifier = 1;
}

def Cta_BarrierOp : Cta_Op<"barrier", [MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "barrier of the CTA, or of a part of its warps";
  let description = [{
    Shared-memory accesses before the barrier are visible to every thread after it. In a role of `cta.warp_roles`, the
    barrier synchronizes the warps of that role, or of one team if the role has several teams. With `groups`, each warp
    group synchronizes separately, and only accesses within a group are ordered.

    Example: `cta.barrier`
  }];
  let arguments = (ins UnitAttr:$groups);
  let assemblyFormat = "(`groups` $groups^)? attr-dict";
}

#endif
