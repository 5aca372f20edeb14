// Each producer of a cluster reads a part of the common blocks, for all CTAs; slots are released to all CTAs.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-multicast))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!pair = !cta.ring<2 x [!b, !b]>
!ring = !cta.ring<2 x [!b]>

// Each CTA has separate rows of a; half of the 64 rows of b is a box.
// CHECK-LABEL: tile.kernel @shared
// CHECK-SAME: %[[A:[^ ]*]]: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}
// CHECK-SAME: %[[B:[^ ]*]]: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b", box = [32, 64]>}
// CHECK: cta.ring_alloc {ctas = 2 : i32}
// CHECK: cta.cluster_barrier
// CHECK-NEXT: } role <producer{{.*}}> {
// CHECK: cta.tma_load %[[A]]
// CHECK: cta.tma_multicast %[[B]]{{.*}} {parts = 2 : i32}
tile.kernel @shared(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "b", box = [64, 64]>}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !pair
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_wait %ring : !pair
      cta.ring_release %ring[%slot] : !pair
    }
  } role <producer, warps = 4, one_thread> {
    %rank = cta.cluster_rank
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !pair
      %a, %b = cta.ring_buffers %ring[%slot] : !pair
      cta.tma_load %d[%rank, %k], %a, %ring[%slot] : !d, !b, !pair
      cta.tma_load %e[%c0, %k], %b, %ring[%slot] : !d, !b, !pair
      cta.ring_commit %ring[%slot] : !pair
    }
  }
  tile.return
}

// Boxes that are already whole are not split: the columns of this buffer are in two panels, one for each CTA.
// CHECK-LABEL: tile.kernel @panels
// CHECK-SAME: box = [64, 64]
// CHECK: cta.tma_multicast {{.*}} {parts = 2 : i32}
#p = #cta.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>
!p = !cta.buffer<64x128xf16, #p>
!panels = !cta.ring<2 x [!p]>
!wide = !tile.desc<64x128xf16>
tile.kernel @panels(%n: i32, %d: !wide {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}) attributes {cluster = array<i32: 1, 2, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !panels
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_wait %ring : !panels
      cta.ring_release %ring[%slot] : !panels
    }
  } role <producer, warps = 4, one_thread> {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !panels
      %b = cta.ring_buffers %ring[%slot] : !panels
      cta.tma_load %d[%k, %c0], %b, %ring[%slot] : !wide, !p, !panels
      cta.ring_commit %ring[%slot] : !panels
    }
  }
  tile.return
}

// Without a cluster, each CTA reads its own data.
// CHECK-LABEL: tile.kernel @negative_no_cluster
// CHECK-NOT: multicast
// CHECK: tile.return
tile.kernel @negative_no_cluster(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}

// A whole kernel: neighbours along either axis share one operand; with split K, or without clusters or a producer,
// nothing is shared.
// DEFINE: %{matmul} = tilec %examples/matmul.tile --target=sm_90a -D TRANS_B=1 -D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8
// RUN: %{matmul} --cluster=2x1 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ROWS
// ROWS: } role <producer{{.*}}> {
// ROWS: cta.tma_load
// ROWS: cta.tma_multicast
// RUN: %{matmul} --cluster=1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: } role <producer{{.*}}> {
// COLUMNS: cta.tma_multicast
// COLUMNS: cta.tma_load
// RUN: %{matmul} --cluster=1x1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=tile-form-clusters --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=cta-specialize-warps --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// ALONE: tile.kernel
// ALONE-NOT: multicast

// Neighbouring programs along the first axis: the CTAs have separate rows, and common columns.
// CHECK-LABEL: tile.kernel @programs
// CHECK-SAME: %[[A:[^ ]*]]: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a"
// CHECK: cta.tma_load %[[A]]
// CHECK: cta.tma_multicast
tile.kernel @programs(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "b", box = [64, 64]>}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !pair
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%i, %j, %k, %exists) in (%n, %n, %c1) #tile.work<order = grid, cluster = [2, 1]> {
      %slot = cta.ring_wait %ring : !pair
      cta.ring_release %ring[%slot] : !pair
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%i, %j, %k, %exists) in (%n, %n, %c1) #tile.work<order = grid, cluster = [2, 1]> {
      %slot = cta.ring_acquire %ring : !pair
      %a, %b = cta.ring_buffers %ring[%slot] : !pair
      cta.tma_load %d[%i, %k], %a, %ring[%slot] : !d, !b, !pair
      cta.tma_load %e[%k, %j], %b, %ring[%slot] : !d, !b, !pair
      cta.ring_commit %ring[%slot] : !pair
    }
  }
  tile.return
}

// The CTAs that split K of a program have separate operands: none is read by all.
// CHECK-LABEL: tile.kernel @steps
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @steps(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64]>}) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    tile.programs (%i, %j, %k, %exists, %first) in (%n, %n, %c1) #tile.work<order = grid, split_k = 2> {
      %slot = cta.ring_acquire %ring : !ring
      %a = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%i, %first], %a, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}
