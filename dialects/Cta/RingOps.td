// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rings: circular buffers in shared memory through which one warp role hands blocks to another.
//
// A role's place in a ring is not a value: each cta.ring_acquire and cta.ring_wait takes the next slot, in the order in
// which the role executes them. cta-lower-rings makes buffers, mbarriers and counters of all this.
#ifndef CTA_RING_OPS_TD
#define CTA_RING_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_RingAllocOp : Cta_Op<"ring_alloc", [MemoryEffects<[MemAlloc<Cta_SharedMemory>]>]> {
  let summary = "allocate a ring of slots in shared memory";
  let description = [{
    All slots are empty. Any roles of a `cta.warp_roles` that follows may fill it, and any others read it: a slot is full
    when each role that fills the ring has committed it, and empty again when each role that reads the ring has released
    it. With `ctas` above 1, as many CTAs of a cluster fill each other's slots, so the readers of all CTAs release them.

    Example: `%r = cta.ring_alloc : !cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "1">:$ctas);
  let results = (outs Cta_RingType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// What waits for a slot or hands it over; no access moves across.
class Cta_RingOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]>;

def Cta_RingAcquireOp : Cta_RingOp<"ring_acquire"> {
  let summary = "take the next slot to fill, when it is empty";
  let description = [{
    In a role of a `cta.warp_roles`, which does not read the ring. The slot belongs to the role until `cta.ring_commit`.

    Example: `%s = cta.ring_acquire %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingCommitOp : Cta_RingOp<"ring_commit"> {
  let summary = "hand a slot over: it is full when all copies to it have come";
  let description = [{
    Once after each `cta.ring_acquire` and in its block; does not wait. The copies are those between the two that name
    the slot: only a role of one thread has such. In others each warp hands over what it has written, with the values
    of a `cta.async_copy` that it has awaited; those are visible to copies and products of the readers, too.

    Example: `cta.ring_commit %r[%s] : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Cta_RingWaitOp : Cta_RingOp<"ring_wait"> {
  let summary = "take the next slot to read, when it is full";
  let description = [{
    In a role of a `cta.warp_roles`, which does not fill the ring. The slot may be read until `cta.ring_release`.

    Example: `%s = cta.ring_wait %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingReleaseOp : Cta_Op<"ring_release", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "hand a slot back: this warp has read it";
  let description = [{
    By each warp of the role, once after each `cta.ring_wait`; nothing if `condition` is false. The products of
    `tokens`, which read the slot, are complete first: `cta-insert-waits` sees to that. Has no branch if there is a
    condition.

    Example: `cta.ring_release %r[%s] if %c after %t : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot, Optional<I1>:$condition,
                       Variadic<Cta_TokenType>:$tokens);
  let assemblyFormat = [{
    $ring `[` $slot `]` (`if` $condition^)? (`after` $tokens^)? attr-dict `:` type($ring)
  }];
}

def Cta_RingSkipOp : Cta_RingOp<"ring_skip"> {
  let summary = "leave the next slots to another team";
  let description = [{
    In a role of several teams: goes on after the next `count` slots (at least 0), which other warps wait for and release.

    Example: `cta.ring_skip %r, %n : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, I32:$count);
  let assemblyFormat = "$ring `,` $count attr-dict `:` type($ring)";
}

def Cta_RingDrainOp : Cta_RingOp<"ring_drain"> {
  let summary = "wait until all slots that have been handed over are full";
  let description = [{
    In a role that fills the ring, between slots: what its copies read through, such as a tensor map in memory, may be changed
    afterwards.

    Example: `cta.ring_drain %r : !cta.ring<3 x [<64x32xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingBuffersOp : Cta_Op<"ring_buffers", [Pure, InferTypeOpAdaptor]> {
  let summary = "the buffers of a slot";
  let description = [{
    In the order of the ring's type.

    Example: `%a, %b = cta.ring_buffers %r[%s] : !cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let arguments = (ins Cta_RingType:$ring, Cta_RingSlotType:$slot);
  let results = (outs Variadic<Cta_BufferType>:$buffers);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Cta_RingNoneOp : Cta_Op<"ring_none", [Pure]> {
  let summary = "no slot";
  let description = [{
    For a loop that carries the slot of the iteration before.

    Example: `%none = cta.ring_none`
  }];
  let results = (outs Cta_RingSlotType:$slot);
  let assemblyFormat = "attr-dict";
}

def Cta_RingHoldsOp : Cta_Op<"ring_holds", [Pure]> {
  let summary = "whether there is a slot, and not `cta.ring_none`";
  let description = [{
    What a loop carries in its first iteration may be no slot: what is done with one of the iteration before asks.

    Example: `%any = cta.ring_holds %s`
  }];
  let arguments = (ins Cta_RingSlotType:$slot);
  let results = (outs I1:$result);
  let assemblyFormat = "$slot attr-dict";
}

#endif
