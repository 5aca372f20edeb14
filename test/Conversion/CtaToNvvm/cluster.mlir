// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#s = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#x = #cta.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#l = #cta.layout<[512], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]>
!d = !tile.desc<128x64xf16>
!b = !cta.buffer<128x64xf16, #s>
!m = !cta.mbarrier<4>

// A CTA copies the half of its rank, 64 rows of 128 bytes, to all; the first lanes of each warp release to one CTA each.
// CHECK-LABEL: llvm.func @multicast
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-SAME: tile.programs_per_cluster = array<i32: 2, 1, 1>
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: mapa.shared::cluster.u64 remote, $0, $1;
// CHECK-SAME: mbarrier.arrive.shared::cluster.b64 _, [remote];
// CHECK: nvvm.cluster.arrive
// CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: %[[BYTES:.*]] = arith.constant 8192 : i32
// CHECK: arith.muli %[[RANK]], %[[BYTES]]
// CHECK: %[[ROWS:.*]] = arith.constant 64 : i32
// CHECK: arith.muli %[[RANK]], %[[ROWS]]
// CHECK: %[[ALL:.*]] = arith.constant 3 : i16
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} multicast_mask = %[[ALL]]
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
tile.kernel @multicast(%i: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32, shared_bytes = 16416 : i64} {
  %b = cta.alloc at 0 : !b
  %full = cta.mbarrier_alloc arrivals 1 at 16384 : !m
  %empty = cta.mbarrier_alloc arrivals 8 at 16400 : !m
  cta.warp_roles role <consumer, warps = 4> {
    cta.mbarrier_arrive %empty[%i] {ctas = 2 : i32} : !m
    cta.cluster_barrier
  } role <producer, warps = 4, one_thread> {
    cta.tma_multicast %d[%i, %i], %b, %full[%i] {parts = 2 : i32} : !d, !b, !m
  }
  tile.return
}

// Without roles barriers are ready at the beginning of the kernel. The first CTA announces the bytes and waits for them,
// each warp of the
// others copies its part at once.
// CHECK-LABEL: llvm.func @sum
// CHECK-SAME: tile.pdl
// CHECK-COUNT-2: nvvm.mbarrier.init
// CHECK: nvvm.cluster.wait
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: mbarrier.try_wait.parity.shared::cta
// CHECK: llvm.load {{.*}} vector<4xf32>
// CHECK: arith.addf
// CHECK: mbarrier.arrive.shared::cluster
// CHECK: } else {
// CHECK: mbarrier.try_wait.parity.shared::cta
// CHECK: llvm.store {{.*}} vector<4xf32>
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.mapa
// CHECK: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];
tile.kernel @sum(%value: f32, %parity: i32, %p: !tile.ptr<f32>) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32, shared_bytes = 2064 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<512xf32, #l>
  %sent = cta.mbarrier_alloc arrivals 1 at 2048 : !cta.mbarrier<1>
  %taken = cta.mbarrier_alloc arrivals 4 at 2056 : !cta.mbarrier<1>
  cta.await_grids
  cta.launch_dependents
  %x = tile.splat %value : f32 -> tensor<64x8xf32, #x>
  %s = cta.cluster_sum %x, %b, %sent, %taken, %parity {ctas = 2 : i32} : tensor<64x8xf32, #x>, !cta.buffer<512xf32, #l>, !cta.mbarrier<1>
  cta.partial_store %s, %p : tensor<64x8xf32, #x>, !tile.ptr<f32>
  tile.return
}
