// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory, and the MMAs of Blackwell that accumulate there.
//
// An MMA reads buffers in shared memory and writes an accumulator in tensor memory. Both happen asynchronously, after
// the operation. They are complete after a cta.tcgen05_await, or when the readers of a ring have waited for the slot
// that the MMA completes.
#ifndef CTA_TENSOR_MEMORY_OPS_TD
#define CTA_TENSOR_MEMORY_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_TensorMemoryOpenOp : Cta_Op<"tensor_memory_open", [
    MemoryEffects<[MemAlloc<Cta_TensorMemory>, MemWrite<Cta_TensorMemory>]>]> {
  let summary = "allocate the tensor memory of the CTA";
  let description = [{
    All warps of the CTA must execute this operation once. It waits until `columns` columns are free on the
    multiprocessor. The address of the first column passes through shared memory at `place`. Source: PTX ISA,
    `tcgen05.alloc`.

    Example: `%base = cta.tensor_memory_open 256 through %place : !cta.buffer<4xi32, #s>`
  }];
  let arguments = (ins I32Attr:$columns, Arg<Cta_BufferType, "buffer for the address",
                                             [MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>:$place);
  let results = (outs I32:$base);
  let assemblyFormat = "$columns `through` $place attr-dict `:` type($place)";
  let hasVerifier = 1;
}

def Cta_TensorMemoryCloseOp : Cta_Op<"tensor_memory_close", [
    MemoryEffects<[MemFree<Cta_TensorMemory>, MemRead<Cta_TensorMemory>, MemWrite<Cta_TensorMemory>]>]> {
  let summary = "free the tensor memory of the CTA";
  let description = [{
    All warps of a role, or of the CTA, must execute this operation once; no role may access tensor memory afterwards.
    The first warp frees the memory when all of these warps have arrived. Source: PTX ISA, `tcgen05.dealloc`.

    Example: `cta.tensor_memory_close %base, 256`
  }];
  let arguments = (ins I32:$base, I32Attr:$columns);
  let assemblyFormat = "$base `,` $columns attr-dict";
}

def Cta_TensorMemoryAllocOp : Cta_Op<"tensor_memory_alloc", [MemoryEffects<[MemAlloc<Cta_TensorMemory>]>]> {
  let summary = "an accumulator, an operand or scales in tensor memory";
  let description = [{
    Must be in the kernel's body. `cta-allocate-tensor-memory` assigns columns to each allocation: those that start
    `offset` columns after `base`.

    Example: `%acc = cta.tensor_memory_alloc : !cta.tensor_memory<128x256xf32>`,
    `%acc = cta.tensor_memory_alloc at %base + 128 : !cta.tensor_memory<128x128xf32>`
  }];
  let arguments = (ins Optional<I32>:$base, OptionalAttr<I32Attr>:$offset);
  let results = (outs Cta_TensorMemoryType:$result);
  let assemblyFormat = "(`at` $base^ `+` $offset)? attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    /// Returns true if the memory holds the left operand of an MMA.
    bool holdsOperand();
    /// Returns true if the memory holds the scales of MMAs.
    bool holdsScales();
  }];
}

def Cta_TensorMemorySlotOp : Cta_Op<"tensor_memory_slot", [Pure]> {
  let summary = "one of several accumulators";
  let description = [{
    Selected by the slot of a ring or, after `cta-lower-rings`, by the index of a slot, which must be in [0, slots).

    Example: `%a = cta.tensor_memory_slot %m[%s : !cta.ring_slot] : !cta.tensor_memory<128x256xf32, slots = 2> ->
    !cta.tensor_memory<128x256xf32>`
  }];
  let arguments = (ins Cta_TensorMemoryType:$memory, Cta_SlotOrIndex:$slot);
  let results = (outs Cta_TensorMemoryType:$result);
  let assemblyFormat = "$memory `[` $slot `:` type($slot) `]` attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_TensorMemoryLoadOp : Cta_Op<"tensor_memory_load"> {
  let summary = "load an accumulator from tensor memory";
  let description = [{
    All warps of the role load the accumulator, in the register layout of its type. MMAs that write the accumulator must
    be complete (`cta.tcgen05_await`). With `columns`, only the first `columns` columns have been computed; the others
    need not be loaded. If the result has fewer than 64 rows, the accumulator has 64 rows, in which the rows of the
    result are repeated. Source: PTX ISA, `tcgen05.ld`, `tcgen05.wait::ld`.

    Example: `%x = cta.tensor_memory_load %acc : !cta.tensor_memory<128x256xf32> -> tensor<128x256xf32, #r>`
  }];
  let arguments = (ins Arg<Cta_TensorMemoryType, "accumulator", [MemRead<Cta_TensorMemory>]>:$memory,
                       OptionalAttr<I32Attr>:$columns);
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_TensorMemoryStoreOp : Cta_Op<"tensor_memory_store"> {
  let summary = "store an accumulator, or a left operand, to tensor memory";
  let description = [{
    All warps of the role store the tensor, in the register layout of the memory's type; the store is complete when the
    operation ends. `columns`, and tensors with fewer than 64 rows, are treated as in `cta.tensor_memory_load`. Source:
    PTX ISA, `tcgen05.st`, `tcgen05.wait::st`.

    Example: `cta.tensor_memory_store %x, %acc : tensor<128x256xf32, #r>, !cta.tensor_memory<128x256xf32>`
  }];
  let arguments = (ins Tile_NumberTensor:$value,
                       Arg<Cta_TensorMemoryType, "accumulator or operand", [MemWrite<Cta_TensorMemory>]>:$memory,
                       OptionalAttr<I32Attr>:$columns);
  let assemblyFormat = "$value `,` $memory attr-dict `:` type($value) `,` type($memory)";
  let hasVerifier = 1;
}

def Cta_Tcgen05MmaOp : Cta_Op<"tcgen05_mma", [AttrSizedOperandSegments]> {
  let summary = "asynchronous matrix multiply-accumulate into tensor memory";
  let description = [{
    `acc += a * b`, or `acc = a * b` if `accumulate` is given and false, with instructions m x n x 32 bytes of k (PTX
    ISA, `tcgen05.mma`). The buffers must have swizzled layouts that a matrix descriptor can express; a may be in tensor
    memory instead. One thread issues the instructions. In a role of several threads, it does so when all threads of the
    role have arrived, so that everything that these threads have stored to the operands and the accumulator is visible
    to the instructions.

    With scales, which have one byte, each group of elements along k is multiplied by the scales of its row of a and its
    column of b. The scales are copied to the tensor memory `scales`, those of a first, from buffers in the layout that
    `tcgen05.cp` reads (`lib/Layout/TensorMemoryLayout.h`). The elements must then be 8-bit floats, or i8 with two e2m1
    values each; the scales are e8m0, stored as i8, or e4m3.

    If b has fewer columns than the accumulator, whose number of columns is a power of two, only the columns of b are
    computed.

    Example:
    ```mlir
    cta.tcgen05_mma %a, %b, %acc if %c {m = 128 : i32, n = 256 : i32}
      : !cta.buffer<128x64xf16, #a>, !cta.buffer<64x256xf16, #b>, !cta.tensor_memory<128x256xf32>
    cta.tcgen05_mma %a, %b, %acc scales %s, %t in %memory {m = 128 : i32, n = 128 : i32}
      : !cta.buffer<128x64xi8, #a>, !cta.buffer<64x128xi8, #b>, !cta.tensor_memory<128x128xf32>,
        !cta.buffer<128x4xi8, #s>, !cta.buffer<128x4xi8, #s>, !cta.tensor_memory<128x8xi32>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[Cta_BufferType, Cta_TensorMemoryType]>, "left tile",
                           [MemRead<Cta_SignalledMemory>]>:$a,
                       Arg<Cta_BufferType, "right tile", [MemRead<Cta_SignalledMemory>]>:$b,
                       Arg<Cta_TensorMemoryType, "accumulator",
                           [MemRead<Cta_TensorMemory>, MemWrite<Cta_TensorMemory>]>:$acc,
                       Optional<I1>:$accumulate,
                       Arg<Optional<Cta_BufferType>, "scales of a", [MemRead<Cta_SignalledMemory>]>:$a_scale,
                       Arg<Optional<Cta_BufferType>, "scales of b", [MemRead<Cta_SignalledMemory>]>:$b_scale,
                       Arg<Optional<Cta_TensorMemoryType>, "memory of the scales",
                           [MemRead<Cta_TensorMemory>, MemWrite<Cta_TensorMemory>]>:$scales,
                       I32Attr:$m, I32Attr:$n);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`if` $accumulate^)? (`scales` $a_scale^ `,` $b_scale `in` $scales)? attr-dict `:`
    type($a) `,` type($b) `,` type($acc) (`,` type($a_scale)^ `,` type($b_scale) `,` type($scales))?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of a, if a is in shared memory; otherwise null.
    BufferType getBufferA() { return ::mlir::dyn_cast<BufferType>(getA().getType()); }
    ::llvm::ArrayRef<int64_t> getShapeA();
    /// Returns the element type with which a buffer (or a) is multiplied: f4E2M1FN for i8 with scales, otherwise its
    /// element type.
    ::mlir::Type getMultipliedType(BufferType buffer);
    ::mlir::Type getMultipliedTypeA();
    /// Returns the number of elements along k that share a scale; 0 without scales.
    unsigned getScaleGroup();
  }];
}

def Cta_Tcgen05CommitOp : Cta_Op<"tcgen05_commit", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "arrive at an mbarrier when all MMAs of the issuing thread are complete";
  let description = [{
    Causes one arrival at the barrier when all earlier `cta.tcgen05_mma` of the role are complete. Does not wait.
    Source: PTX ISA, `tcgen05.commit`.

    Example: `cta.tcgen05_commit %done[%slot] : !cta.mbarrier<1>`
  }];
  let arguments = (ins Cta_MbarrierType:$barrier, I32:$slot);
  let assemblyFormat = "$barrier `[` $slot `]` attr-dict `:` type($barrier)";
}

def Cta_Tcgen05AwaitOp : Cta_Op<"tcgen05_await", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>, MemRead<Cta_TensorMemory>,
                   MemWrite<Cta_TensorMemory>]>]> {
  let summary = "wait until the MMAs of the last commit at a barrier are complete";
  let description = [{
    All threads of the role must execute this operation once after each `cta.tcgen05_commit` at the barrier.
    `cta-lower-rings` inserts a counter of the barrier's phases.

    Example: `cta.tcgen05_await %done : !cta.mbarrier<1>`
  }];
  let arguments = (ins Cta_MbarrierType:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def Cta_TensorMemoryFenceOp : Cta_Op<"tensor_memory_fence", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>, MemRead<Cta_TensorMemory>,
                   MemWrite<Cta_TensorMemory>]>]> {
  let summary = "order accesses to tensor memory with those of other threads";
  let description = [{
    With `before`, earlier accesses precede the next synchronization of this thread; otherwise, later accesses follow
    the last synchronization. Source: PTX ISA, `tcgen05.fence`.

    Example: `cta.tensor_memory_fence before`
  }];
  let arguments = (ins UnitAttr:$before);
  let assemblyFormat = "(`before` $before^)? attr-dict";
}

#endif
