// Each CTA of a cluster does a part of the steps; the first one adds up the others' sums and finishes the program.
// DEFINE: %{matmul} = tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8
// RUN: %{matmul} --cluster=1x1x2 --stop-after=cta-stream-k -o - | FileCheck %s
// A word for each of 64 registers of 256 threads.
// CHECK: tile.kernel @matmul
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: %[[MEMORY:.*]] = cta.alloc : <16384xf32,
// CHECK: %[[SENT:.*]] = cta.mbarrier_alloc arrivals 1 : <1>
// CHECK: %[[TAKEN:.*]] = cta.mbarrier_alloc arrivals 8 : <1>
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: scf.for %{{.*}} = %[[ID]] to %{{.*}} iter_args(%[[PARITY:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]]
// CHECK: scf.for %{{.*}} step %
// CHECK: cta.wgmma
// CHECK: cta.cluster_sum %{{.*}}, %[[MEMORY]], %[[SENT]], %[[TAKEN]], %[[PARITY]] {ctas = 2 : i32}
// CHECK: scf.if
// CHECK: cta.tma_store %
// CHECK: arith.xori %[[PARITY]]
// CHECK: cta.cluster_barrier
// CHECK-NEXT: tile.return

// Programs that are split in the cluster are not split again.
// RUN: %{matmul} --cluster=1x1x2 --stop-after=cta-stream-k -o - | FileCheck %s --check-prefix=ONCE
// ONCE-NOT: cta.partial_store

// A slot for each of three senders.
// RUN: %{matmul} -D BLOCK_M=64 --num-warps=4 --cluster=1x1x4 --stop-after=cta-split-steps -o - | FileCheck %s --check-prefix=FOUR
// FOUR: cta.alloc : <8192xf32, {{.*}}, slots = 3>

// RUN: %{matmul} -D BLOCK_N=256 --cluster=1x1x2 -Rpass=cta-split-steps --stop-after=cta-split-steps -o %t 2>&1 | FileCheck %s --check-prefix=NOROOM
// NOROOM: remark: steps are not split in a cluster: the accumulators do not fit into shared memory
// RUN: %{matmul} --cluster=2x1x2 -Rpass=cta-split-steps --stop-after=cta-split-steps -o %t 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: remark: steps are not split in a cluster: its CTAs are for neighbouring programs, too
// RUN: %{matmul} --cluster=1x1x2 --disable=tile-make-persistent -Rpass=cta-split-steps --stop-after=cta-split-steps -o %t 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: remark: steps are not split in a cluster: blocks are read by TMA, and the kernel is not persistent

// Not persistent: a cluster for each program. Pointers begin at the CTA's first step, and advance by those of all.
// RUN: tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=32 -D BLOCK_N=32 -D BLOCK_K=32 --cluster=1x1x8 --stop-after=cta-split-steps -o - | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: cluster_ctas = 8 : i32
// PROGRAM: %[[RANK:.*]] = cta.cluster_rank
// PROGRAM-NOT: tile.program_id 0
// PROGRAM: cta.cluster_id
// PROGRAM: %[[WIDE:.*]] = arith.extsi %[[RANK]] : i32 to i64
// PROGRAM: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[WIDE]] : i64
// PROGRAM: %[[OFFSET:.*]] = tile.splat %[[FIRST]] : i64
// PROGRAM: tile.addptr %{{.*}}, %[[OFFSET]]
// PROGRAM: scf.for
// PROGRAM: cta.mma_sync
// PROGRAM: cta.cluster_sum
// PROGRAM: scf.if
// PROGRAM: tile.store
// PROGRAM: cta.cluster_barrier

// RUN: tilec %examples/softmax.tile --target=sm_90a --cluster=1x1x2 -Rpass=cta-split-steps --stop-after=cta-split-steps -o %t 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: remark: steps are not split in a cluster: the programs of the kernel do more than accumulate dots and advance pointers
// RUN: tilec %examples/matmul.tile --target=sm_80 --cluster=1x1x2 -Rpass=cta-split-steps --stop-after=cta-split-steps -o %t 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: remark: steps are not split in a cluster: the target has no clusters
