// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: neighbouring CTAs that run at the same time and can access each other's shared memory.
//
// The CTAs of a cluster are adjacent along the first axis of the grid; their number is `cluster_ctas` of the kernel.
// All CTAs have the same shared memory layout, so a buffer or barrier has the same offset in every peer.
#ifndef CTA_CLUSTER_OPS_TD
#define CTA_CLUSTER_OPS_TD

include "Cta/CtaOpBase.td"

class Cta_ClusterIndexOp<string opMnemonic, string text> : Cta_Op<opMnemonic, [Pure]> {
  let summary = text;
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Cta_ClusterRankOp : Cta_ClusterIndexOp<"cluster_rank", "rank of this CTA in its cluster"> {
  let description = [{
    From 0 to `cluster_ctas` - 1 (PTX ISA, `%cluster_ctarank`). Apart from `tile.program_id`, this is the only value
    that differs between the CTAs of a cluster without being loaded from memory.

    Example: `%r = cta.cluster_rank`
  }];
}

def Cta_ClusterIdOp : Cta_ClusterIndexOp<"cluster_id", "index of this cluster in the grid"> {
  let description = [{
    From 0 to `cta.num_clusters` - 1 (PTX ISA, `%clusterid`).

    Example: `%c = cta.cluster_id`
  }];
}

def Cta_NumClustersOp : Cta_ClusterIndexOp<"num_clusters", "number of clusters in the grid"> {
  let description = [{
    PTX ISA, `%nclusterid`.

    Example: `%n = cta.num_clusters`
  }];
}

def Cta_ClusterBarrierOp : Cta_Op<"cluster_barrier", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "barrier of all CTAs of a cluster";
  let description = [{
    PTX ISA, `barrier.cluster`: synchronizes all threads of the cluster that have not exited. At the end of the consumer
    role, this barrier keeps the CTA alive until its peers no longer access its shared memory; single-thread roles exit
    without it.

    Example: `cta.cluster_barrier`
  }];
  let assemblyFormat = "attr-dict";
}

def Cta_TmaMulticastOp : Cta_Op<"tma_multicast", [Cta_CountsInSlot,
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "TMA load of this CTA's part of a block into the buffers of all CTAs of a cluster";
  let description = [{
    Like `cta.tma_load` with the same operands in each CTA of the cluster, but the block is read only once: each CTA
    reads one of `parts` equal parts, selected by its rank, and copies it to the same offset in the buffers of all CTAs
    (PTX ISA, `cp.async.bulk.tensor`, `.multicast::cluster`). The bytes of a part are counted in the CTA where they
    arrive, so each CTA's ring or barrier must expect the bytes of the whole buffer. The buffers of all CTAs must be
    free before any CTA starts its copy.

    Example:
    ```mlir
    cta.tma_multicast %d[%i, %j], %b, %ring[%slot] {parts = 2 : i32}
        : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.ring<4 x [<128x64xf16, #s>]>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets,
                       Arg<Cta_BufferType, "tile", [MemWrite<Cta_SignalledMemory>]>:$buffer,
                       Cta_RingOrMbarrier:$barrier, Cta_SlotOrIndex:$slot, I32Attr:$parts);
  let assemblyFormat = [{
    $desc `[` $offsets `]` `,` $buffer `,` $barrier `[` $slot `]` attr-dict
    `:` type($desc) `,` type($buffer) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

def Cta_ClusterSumOp : Cta_Op<"cluster_sum", [
    AllTypesMatch<["value", "result"]>, AllTypesMatch<["sent", "taken"]>,
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "add up the accumulators of all CTAs of a cluster in its first CTA";
  let description = [{
    CTA r > 0 writes its registers into slot r - 1 of the first CTA's `buffer`. The first CTA adds these registers to
    its own in the order of r, so the result is deterministic; in the other CTAs, the result is `value`. The barrier
    `sent`, in the first CTA, counts the bytes that arrive from all senders; the first CTA announces these bytes with
    one arrival. The barrier `taken`, in each sender, counts the arrivals of the first CTA's warps; when all of them
    have arrived, the sender may send again. `parity` is 0 for the first accumulator of the kernel, 1 for the second, 0
    for the third, …; in a `tile.programs`, `cta-lower-programs` sets it. All consumer warps of all CTAs of the cluster
    must execute this operation the same number of times.

    Example:
    ```mlir
    %s = cta.cluster_sum %x, %b, %sent, %taken, %parity {ctas = 2 : i32}
        : tensor<128x128xf32, #x>, !cta.buffer<16384xf32, #s>, !cta.mbarrier<1>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value,
                       Arg<Cta_BufferType, "slots",
                           [MemRead<Cta_SignalledMemory>, MemWrite<Cta_SignalledMemory>]>:$buffer,
                       Cta_MbarrierType:$sent, Cta_MbarrierType:$taken, Optional<I32>:$parity, I32Attr:$ctas);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $value `,` $buffer `,` $sent `,` $taken (`,` $parity^)? attr-dict
    `:` type($value) `,` type($buffer) `,` type($sent)
  }];
  let hasVerifier = 1;
}

#endif
