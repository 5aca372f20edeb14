// RUN: tile-opt %s | tile-opt | FileCheck %s

#s = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>

// CHECK: #[[S:.*]] = #cta.layout<[128, 64], offset
// CHECK: tile.kernel @k(%[[D:.*]]: !tile.desc<128x64xf16>, %[[WIDE:.*]]: !tile.desc<128x256xf16>, %[[I:.*]]: i32, %[[J:.*]]: i32, %[[SLOT:.*]]: i32)
tile.kernel @k(%d: !tile.desc<128x64xf16>, %wide: !tile.desc<128x256xf16>, %i: i32, %j: i32, %slot: i32) {
  // CHECK: %[[B:.*]] = cta.alloc
  %b = cta.alloc : !cta.buffer<128x64xf16, #s>
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // CHECK: cta.tma_load %[[D]][%[[I]], %[[J]]], %[[B]], %{{.*}}[%[[SLOT]]] : <128x64xf16>, <128x64xf16, #[[S]]>, <4>
  cta.tma_load %d[%i, %j], %b, %full[%slot] : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.mbarrier<4>
  // CHECK: cta.tma_load_sync %[[D]][%[[I]], %[[J]]], %[[B]], %{{.*}} : <128x64xf16>, <128x64xf16, #[[S]]>, <1>
  cta.tma_load_sync %d[%i, %j], %b, %m : !tile.desc<128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.mbarrier<1>
  // CHECK: cta.tma_prefetch %[[D]] : <128x64xf16>
  cta.tma_prefetch %d : !tile.desc<128x64xf16>
  // CHECK: cta.proxy_fence
  cta.proxy_fence
  // The buffer is a panel of the block.
  // CHECK: cta.tma_store %[[B]], %[[WIDE]][%[[I]], %[[J]]] : <128x64xf16, #[[S]]>, <128x256xf16>
  cta.tma_store %b, %wide[%i, %j] : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
  // Each warp group copies 64 rows.
  // CHECK: cta.tma_store %{{.*}} {groups = 2 : i32}
  cta.tma_store %b, %wide[%i, %j] {groups = 2 : i32} : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
  // CHECK: cta.tma_store %{{.*}}, %{{.*}} {groups = 2 : i32}
  cta.tma_store %b, %wide[%i, %j] {groups = 2 : i32} : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
  // CHECK: cta.tma_store_wait 1
  cta.tma_store_wait 1
  tile.return
}

// The buffer may lack leading dimensions that have one index in the block.
// CHECK-LABEL: tile.kernel @leading
tile.kernel @leading(%d: !tile.desc<1x128x64xf16>, %wide: !tile.desc<1x1x128x256xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<128x64xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // CHECK: cta.tma_load_sync {{.*}} : <1x128x64xf16>, <128x64xf16, #[[S]]>, <1>
  cta.tma_load_sync %d[%i, %i, %i], %b, %m : !tile.desc<1x128x64xf16>, !cta.buffer<128x64xf16, #s>, !cta.mbarrier<1>
  // CHECK: cta.tma_store {{.*}} : <128x64xf16, #[[S]]>, <1x1x128x256xf16>
  cta.tma_store %b, %wide[%i, %i, %i, %i] : !cta.buffer<128x64xf16, #s>, !tile.desc<1x1x128x256xf16>
  tile.return
}
