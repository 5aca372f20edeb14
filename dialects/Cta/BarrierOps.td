// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers: barriers in shared memory that synchronize asynchronous copies and warp roles.
#ifndef CTA_BARRIER_OPS_TD
#define CTA_BARRIER_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_MbarrierAllocOp : Cta_Op<"mbarrier_alloc", [MemoryEffects<[MemAlloc<Cta_SharedMemory>]>]> {
  let summary = "allocate a ring of mbarriers in shared memory";
  let description = [{
    Allocates one 8-byte barrier per slot. A phase of a barrier is complete after `arrivals` arrivals and after all
    bytes that `cta.mbarrier_expect` has announced have arrived. `offset` is the byte offset of the first barrier in the
    CTA's shared memory (set by `cta-allocate-shared`; absent before). The barriers may be used inside a following
    `cta.warp_roles`.

    Example: `%full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>`
  }];
  let arguments = (ins I32Attr:$arrivals, OptionalAttr<I32Attr>:$offset);
  let results = (outs Cta_MbarrierType:$result);
  let assemblyFormat = "`arrivals` $arrivals (`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Cta_MbarrierOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]>;

def Cta_MbarrierWaitOp : Cta_MbarrierOp<"mbarrier_wait"> {
  let summary = "wait for a phase of an mbarrier";
  let description = [{
    PTX ISA, `mbarrier.try_wait.parity`. Waits for the phase with `parity`: 0 for the first phase, 1 for the second, 0
    for the third, …; a wait for parity 1 on a new barrier returns immediately. Afterwards, the data of asynchronous
    copies whose bytes are counted at the barrier is visible.

    Example: `cta.mbarrier_wait %full[%slot], %parity : !cta.mbarrier<4>`
  }];
  let arguments = (ins Cta_MbarrierType:$barrier, I32:$slot, I32:$parity);
  let assemblyFormat = "$barrier `[` $slot `]` `,` $parity attr-dict `:` type($barrier)";
}

def Cta_MbarrierArriveOp : Cta_MbarrierOp<"mbarrier_arrive"> {
  let summary = "arrive at an mbarrier, once for each warp";
  let description = [{
    PTX ISA, `mbarrier.arrive`, executed by one thread of each warp, or by the only thread of a single-thread role. Does
    nothing if `condition` is false. With `ctas` above 1, arrives at the same barrier of every CTA in a cluster of that
    size. Such an arrival does not make writes of this CTA visible to the peers; it only signals that this warp has read
    the guarded data.

    Example: `cta.mbarrier_arrive %empty[%slot] if %c : !cta.mbarrier<4>`
  }];
  let arguments = (ins Cta_MbarrierType:$barrier, I32:$slot, Optional<I1>:$condition,
                       DefaultValuedAttr<I32Attr, "1">:$ctas);
  let assemblyFormat = "$barrier `[` $slot `]` (`if` $condition^)? attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def Cta_MbarrierExpectOp : Cta_MbarrierOp<"mbarrier_expect"> {
  let summary = "arrive at an mbarrier once and announce bytes of TMA copies";
  let description = [{
    PTX ISA, `mbarrier.arrive.expect_tx`. Must be in a single-thread role. The phase is complete only after asynchronous
    copies have delivered another `bytes` bytes.

    Example: `cta.mbarrier_expect %full[%slot], 49152 : !cta.mbarrier<4>`
  }];
  let arguments = (ins Cta_MbarrierType:$barrier, I32:$slot, I32Attr:$bytes);
  let assemblyFormat = "$barrier `[` $slot `]` `,` $bytes attr-dict `:` type($barrier)";
}

#endif
