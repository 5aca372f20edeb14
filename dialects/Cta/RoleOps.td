// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp roles: parts of a CTA that run different code at the same time.
#ifndef CTA_ROLE_OPS_TD
#define CTA_ROLE_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_WarpRolesOp : Cta_Op<"warp_roles", [
    SingleBlock, NoTerminator, MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "the consumer warps and the producer of a warp-specialized CTA";
  let description = [{
    The first `num_warps` warps of the kernel run `consumer`; one thread of the warp group after them runs `producer`.
    All threads meet before, when the barriers of all `cta.mbarrier_alloc` are ready. Inside, the roles meet only at
    mbarriers, and a `cta.barrier` is for the consumer warps alone. A kernel with several `teams` has so many times
    `num_warps` consumer warps, and each team runs `consumer` by itself, with tensors and barriers of its own; buffers
    and mbarriers from outside are common to all. `consumer_registers` and `producer_registers` are the registers a
    thread that each role gets (PTX ISA, `setmaxnreg`: multiples of 8 from 24 to 256); without them all threads keep
    what the kernel starts with.

    Example:
    ```mlir
    cta.warp_roles consumer {
      cta.mbarrier_wait %full[%zero], %zero : !cta.mbarrier<4>
    } producer {
      cta.mbarrier_expect %full[%zero], 0 : !cta.mbarrier<4>
    } {consumer_registers = 240 : i32, producer_registers = 24 : i32}
    ```
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$consumer_registers, OptionalAttr<I32Attr>:$producer_registers);
  let regions = (region SizedRegion<1>:$consumer, SizedRegion<1>:$producer);
  // Not declared: where such a parser fails after the first region, what is outside keeps using values inside.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class Cta_TurnOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let arguments = (ins I32Attr:$groups, UnitAttr:$teams);
  let assemblyFormat = "`of` $groups (`teams` $teams^)? attr-dict";
  let hasVerifier = 1;
}

def Cta_TurnOpenOp : Cta_TurnOp<"turn_open"> {
  let summary = "give the first turn to the first warp group";
  let description = [{
    The first `groups` warp groups of the CTA take turns, one after the other in a circle. Each executes this operation
    once, before all `cta.turn_begin`. With `teams`, it is the kernel's teams that take turns: of 2, and lowered by
    `cta-lower-rings`.

    Example: `cta.turn_open of 2`, `cta.turn_open of 2 teams`
  }];
}

def Cta_TurnBeginOp : Cta_TurnOp<"turn_begin"> {
  let summary = "wait for this warp group's turn";
  let description = [{
    Until the warp group before it has ended as many turns as this one has, and for the first warp group one less. A
    turn orders only when warp groups go on, and says nothing about memory.

    Example: `cta.turn_begin of 2`
  }];
}

def Cta_TurnEndOp : Cta_TurnOp<"turn_end"> {
  let summary = "hand the turn over to the next warp group";
  let description = [{
    Does not wait. Each warp group ends its turn before it begins another one.

    Example: `cta.turn_end of 2`
  }];
}

def Cta_TeamOp : Cta_Op<"team", [Pure]> {
  let summary = "number of the team (of ping-pong consumers) that a thread belongs to";
  let description = [{
    From 0 to the kernel's `teams` - 1. The only value that differs between teams and does not come from memory.

    Example: `%t = cta.team`
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

#endif
