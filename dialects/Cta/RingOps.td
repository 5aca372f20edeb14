// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rings: circular buffers in shared memory through which one warp role passes blocks to another.
//
// A role's position in a ring is not a value: each cta.ring_acquire and cta.ring_wait takes the next slot, in the order
// in which the role executes them. cta-lower-rings lowers rings to buffers, mbarriers and counters.
#ifndef CTA_RING_OPS_TD
#define CTA_RING_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_RingAllocOp : Cta_Op<"ring_alloc", [MemoryEffects<[MemAlloc<Cta_SharedMemory>]>]> {
  let summary = "allocate a ring of slots in shared memory";
  let description = [{
    All slots are initially empty. Any roles of a following `cta.warp_roles` may fill the ring, and any other roles may
    read it. A slot is full when each role that fills the ring has committed the slot, and empty again when each role
    that reads the ring has released it. With `ctas` above 1, the `ctas` CTAs of a cluster fill each other's slots, so
    the readers in all of these CTAs must release a slot before it is empty.

    Example: `%r = cta.ring_alloc : !cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "1">:$ctas);
  let results = (outs Cta_RingType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// Operations that wait for a slot or pass a slot on; no access moves across them.
class Cta_RingOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]>;

def Cta_RingAcquireOp : Cta_RingOp<"ring_acquire"> {
  let summary = "take the next slot to fill, as soon as it is empty";
  let description = [{
    Must be in a role of a `cta.warp_roles` that does not read the ring. The slot belongs to the role until
    `cta.ring_commit`.

    Example: `%s = cta.ring_acquire %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingCommitOp : Cta_RingOp<"ring_commit"> {
  let summary = "pass a slot to its readers: it is full when all copies to it are complete";
  let description = [{
    Must be executed once after each `cta.ring_acquire`, in the same block; does not wait. The copies that must complete
    are the copies to the slot between `cta.ring_acquire` and this operation; only a single-thread role can have such
    copies. In other roles, each warp passes on the data that it has written, including the data of each
    `cta.async_copy` that it has awaited; this data is also visible to copies and wgmmas of the readers. With `by_mma`,
    in a single-thread role without copies, the slot is full when all earlier `cta.tcgen05_mma` are complete.

    Example: `cta.ring_commit %r[%s] : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot, UnitAttr:$by_mma);
  let assemblyFormat = "$ring `[` $slot `]` (`by_mma` $by_mma^)? attr-dict `:` type($ring)";
}

def Cta_RingWaitOp : Cta_RingOp<"ring_wait"> {
  let summary = "take the next slot to read, as soon as it is full";
  let description = [{
    Must be in a role of a `cta.warp_roles` that does not fill the ring. The slot may be read until `cta.ring_release`.

    Example: `%s = cta.ring_wait %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingReleaseOp : Cta_Op<"ring_release", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "release a slot: this warp has read it";
  let description = [{
    Each warp of the role must execute this operation once after each `cta.ring_wait`; it does nothing if `condition` is
    false. The wgmmas of `tokens`, which read the slot, are complete before the slot is released: `cta-insert-waits`
    inserts a wait. A condition is lowered to a predicate, not to a branch. With `by_mma`, in a single-thread role, the
    slot is released when all earlier `cta.tcgen05_mma` are complete.

    Example: `cta.ring_release %r[%s] if %c after %t : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot, Optional<I1>:$condition,
                       Variadic<Cta_TokenType>:$tokens, UnitAttr:$by_mma);
  let assemblyFormat = [{
    $ring `[` $slot `]` (`by_mma` $by_mma^)? (`if` $condition^)? (`after` $tokens^)? attr-dict `:` type($ring)
  }];
}

def Cta_RingSkipOp : Cta_RingOp<"ring_skip"> {
  let summary = "skip the next slots, which belong to another team";
  let description = [{
    In a role with several teams, advances past the next `count` slots (at least 0); the warps of another team wait for
    these slots and release them.

    Example: `cta.ring_skip %r, %n : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, I32:$count);
  let assemblyFormat = "$ring `,` $count attr-dict `:` type($ring)";
}

def Cta_RingDrainOp : Cta_RingOp<"ring_drain"> {
  let summary = "wait until all committed slots are full";
  let description = [{
    Must be in a role that fills the ring, while the role holds no slot. Afterwards, memory that the role's copies have
    read indirectly, such as a tensor map, may be modified.

    Example: `cta.ring_drain %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingBuffersOp : Cta_Op<"ring_buffers", [Pure, InferTypeOpAdaptor]> {
  let summary = "the buffers of a slot";
  let description = [{
    The buffers are in the order in which the type of the ring lists them.

    Example: `%a, %b = cta.ring_buffers %r[%s] : !cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot);
  let results = (outs Variadic<Cta_BufferType>:$buffers);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Cta_RingNoneOp : Cta_Op<"ring_none", [Pure]> {
  let summary = "no slot";
  let description = [{
    The initial value for a loop that carries the slot of the previous iteration.

    Example: `%none = cta.ring_none`
  }];
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "attr-dict";
}

def Cta_RingHoldsOp : Cta_Op<"ring_holds", [Pure]> {
  let summary = "whether a value holds a slot rather than `cta.ring_none`";
  let description = [{
    A loop that carries the slot of the previous iteration has no slot in its first iteration; the result of this
    operation guards operations on the slot.

    Example: `%any = cta.ring_holds %s`
  }];
  let arguments = (ins Cta_RingSlotType:$slot);
  let results = (outs I1:$result);
  let assemblyFormat = "$slot attr-dict";
}

#endif
