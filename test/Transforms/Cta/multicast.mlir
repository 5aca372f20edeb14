// What all producers of a cluster read at the same place each of them reads a part of, for all; slots are released to all.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-multicast))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!r = !cta.buffer<64x64xf16, #s, slots = 2>
!m = !cta.mbarrier<2>

// Each CTA has rows of its own of a; half of the 64 rows of b is a box.
// CHECK-LABEL: tile.kernel @shared
// CHECK-SAME: %[[A:[^ ]*]]: !tile.desc<64x64xf16> {tile.tensor_map = {base = "a", box = array<i64: 64, 64>}}
// CHECK-SAME: %[[B:[^ ]*]]: !tile.desc<64x64xf16> {tile.tensor_map = {base = "b", box = array<i64: 32, 64>}}
// CHECK: %[[EMPTY:.*]] = cta.mbarrier_alloc arrivals 8 : <2>
// CHECK: cta.mbarrier_arrive %[[EMPTY]][%{{.*}}] {ctas = 2 : i32}
// CHECK: cta.cluster_barrier
// CHECK-NEXT: } producer {
// CHECK: cta.tma_load %[[A]]
// CHECK: cta.tma_multicast %[[B]]{{.*}} {parts = 2 : i32}
tile.kernel @shared(%n: i32, %d: !d {tile.tensor_map = {base = "a", box = array<i64: 64, 64>}}, %e: !d {tile.tensor_map = {base = "b", box = array<i64: 64, 64>}}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32, producer_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = cta.alloc : !r
  %bs = cta.alloc : !r
  %full = cta.mbarrier_alloc arrivals 1 : !m
  %empty = cta.mbarrier_alloc arrivals 4 : !m
  cta.warp_roles consumer {
    scf.for %k = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %full[%c0], %c0 : !m
      cta.mbarrier_arrive %empty[%c0] : !m
    }
  } producer {
    %rank = cta.cluster_rank
    scf.for %k = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %empty[%c0], %c0 : !m
      cta.mbarrier_expect %full[%c0], 16384 : !m
      %a = cta.slot %as[%c0] : !r -> !b
      cta.tma_load %d[%rank, %k], %a, %full[%c0] : !d, !b, !m
      %b = cta.slot %bs[%c0] : !r -> !b
      cta.tma_load %e[%c0, %k], %b, %full[%c0] : !d, !b, !m
    }
  }
  tile.return
}

// Boxes that are whole already stay: the columns of this buffer are in two panels, one for each CTA.
// CHECK-LABEL: tile.kernel @panels
// CHECK-SAME: box = array<i64: 64, 64>
// CHECK: cta.tma_multicast {{.*}} {parts = 2 : i32}
#p = #cta.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>
!p = !cta.buffer<64x128xf16, #p>
!wide = !tile.desc<64x128xf16>
tile.kernel @panels(%n: i32, %d: !wide {tile.tensor_map = {base = "a", box = array<i64: 64, 64>}}) attributes {cluster = array<i32: 1, 2, 1>, cluster_ctas = 2 : i32, producer_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = cta.alloc : !p
  %full = cta.mbarrier_alloc arrivals 1 : !m
  %empty = cta.mbarrier_alloc arrivals 4 : !m
  cta.warp_roles consumer {
    scf.for %k = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %full[%c0], %c0 : !m
      cta.mbarrier_arrive %empty[%c0] : !m
    }
  } producer {
    scf.for %k = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %empty[%c0], %c0 : !m
      cta.mbarrier_expect %full[%c0], 16384 : !m
      cta.tma_load %d[%k, %c0], %b, %full[%c0] : !wide, !p, !m
    }
  }
  tile.return
}

// Without a cluster each CTA reads for itself.
// CHECK-LABEL: tile.kernel @negative_no_cluster
// CHECK-NOT: multicast
// CHECK: tile.return
tile.kernel @negative_no_cluster(%n: i32, %d: !d {tile.tensor_map = {base = "a", box = array<i64: 64, 64>}}) attributes {producer_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = cta.alloc : !b
  %full = cta.mbarrier_alloc arrivals 1 : !m
  %empty = cta.mbarrier_alloc arrivals 4 : !m
  cta.warp_roles consumer {
  } producer {
    scf.for %k = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %empty[%c0], %c0 : !m
      cta.tma_load %d[%c0, %k], %b, %full[%c0] : !d, !b, !m
    }
  }
  tile.return
}

// Of a whole kernel: neighbours along either axis share one operand, and where steps are split, or nothing forms clusters or
// a producer, nothing is shared.
// DEFINE: %{matmul} = tilec %examples/matmul.tile --target=sm_90a -D TRANS_B=1 -D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8
// RUN: %{matmul} --cluster=2x1 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ROWS
// ROWS: } producer {
// ROWS: cta.tma_load
// ROWS: cta.tma_multicast
// RUN: %{matmul} --cluster=1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: } producer {
// COLUMNS: cta.tma_multicast
// COLUMNS: cta.tma_load
// RUN: %{matmul} --cluster=1x1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=tile-form-clusters --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=cta-specialize-warps --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// ALONE: tile.kernel
// ALONE-NOT: multicast
