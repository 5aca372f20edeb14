// RUN: tile-opt %s | tile-opt | FileCheck %s

#s = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#x = #cta.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#l = #cta.layout<[512], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]>

// CHECK: tile.kernel @k(
// CHECK-SAME: attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32
tile.kernel @k(%d: !tile.desc<128x64xf16>, %i: i32, %parity: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  // CHECK: %[[RANK:.*]] = cta.cluster_rank
  %rank = cta.cluster_rank
  // CHECK: cta.cluster_id
  %id = cta.cluster_id
  // CHECK: cta.num_clusters
  %n = cta.num_clusters
  %b = cta.alloc : !cta.buffer<128x64xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // CHECK: cta.tma_multicast %{{.*}}[%[[RANK]], %{{.*}}], %{{.*}}, %{{.*}}[%{{.*}}] {parts = 2 : i32} : <128x64xf16>
  cta.tma_multicast %d[%rank, %i], %b, %m[%i] {parts = 2 : i32} : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.mbarrier<4>
  // CHECK: cta.mbarrier_arrive %{{.*}}[%{{.*}}] {ctas = 2 : i32} : <4>
  cta.mbarrier_arrive %m[%i] {ctas = 2 : i32} : !cta.mbarrier<4>
  %x = arith.constant dense<1.0> : tensor<64x8xf32, #x>
  %p = cta.alloc : !cta.buffer<512xf32, #l>
  %sent = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  %taken = cta.mbarrier_alloc arrivals 4 : !cta.mbarrier<1>
  // CHECK: cta.cluster_sum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {ctas = 2 : i32} : tensor<64x8xf32, #{{.*}}>, <512xf32, #{{.*}}>, <1>
  %s = cta.cluster_sum %x, %p, %sent, %taken, %parity {ctas = 2 : i32} : tensor<64x8xf32, #x>, !cta.buffer<512xf32, #l>, !cta.mbarrier<1>
  tile.print "" %s : tensor<64x8xf32, #x>
  // CHECK: cta.cluster_barrier
  cta.cluster_barrier
  // CHECK: cta.await_grids
  cta.await_grids
  // CHECK: cta.launch_dependents
  cta.launch_dependents
  tile.return
}
