// RUN: tile-opt %s | tile-opt | FileCheck %s

#s = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>

// CHECK: #[[S:.*]] = #cta.layout<[128, 64], offset
// CHECK: tile.kernel @k(%[[D:.*]]: !tile.desc<128x64xf16>, %[[WIDE:.*]]: !tile.desc<128x256xf16>, %[[I:.*]]: i32, %[[J:.*]]: i32, %[[SLOT:.*]]: i32)
tile.kernel @k(%d: !tile.desc<128x64xf16>, %wide: !tile.desc<128x256xf16>, %i: i32, %j: i32, %slot: i32) {
  // CHECK: %[[B:.*]] = cta.alloc
  %b = cta.alloc : !cta.buffer<128x64xf16, #s>
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // CHECK: cta.tma_load %[[D]][%[[I]], %[[J]]], %[[B]], %{{.*}}[%[[SLOT]]] : <128x64xf16>, <128x64xf16, #[[S]]>, !cta.mbarrier<4>
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
  // CHECK: cta.tma_store %[[B]], %[[WIDE]][%[[I]], %[[J]]] reduce add : <128x64xf16, #[[S]]>, <128x256xf16>
  cta.tma_store %b, %wide[%i, %j] reduce add : !cta.buffer<128x64xf16, #s>, !tile.desc<128x256xf16>
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

#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>

// CHECK-LABEL: tile.kernel @tensor_map
tile.kernel @tensor_map(%base: !tile.ptr<f16>, %n: i32, %ld: i64, %place: !tile.ptr<i8>, %c: i1) {
  %b = cta.alloc : !cta.buffer<128xi8, #bytes>
  // CHECK: cta.make_tensor_map %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] at %{{.*}} via %{{.*}} {box = array<i64: 64, 64>, swizzle = 128 : i32} : <f16>, <i8>, <128xi8, #{{.*}}> -> <64x64xf16>
  %d = cta.make_tensor_map %base, [%n, %n], [%ld, %ld] at %place via %b {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<64x64xf16>
  // CHECK: cta.make_tensor_map single %{{.*}} via %{{.*}} if %{{.*}} {box
  %e = cta.make_tensor_map single %base, [%n, %n], [%ld, %ld] at %place via %b if %c {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<64x64xf16>
  tile.return
}

// The last panel of 160 columns has 32, which another map of the same tensor describes.
#w = #cta.layout<[16, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [0, 64], [0, 128]]>

// CHECK-LABEL: tile.kernel @tail
tile.kernel @tail(%d: !tile.desc<16x160xf16>, %r: !tile.desc<16x32xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<16x160xf16, #w>
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // CHECK: cta.tma_load %{{.*}}[%{{.*}}, %{{.*}}] tail %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : <16x160xf16> tail !tile.desc<16x32xf16>, <16x160xf16, #{{.*}}>, !cta.mbarrier<4>
  cta.tma_load %d[%i, %i] tail %r, %b, %full[%i] : !tile.desc<16x160xf16> tail !tile.desc<16x32xf16>, !cta.buffer<16x160xf16, #w>, !cta.mbarrier<4>
  // CHECK: cta.tma_load_sync %{{.*}}[%{{.*}}, %{{.*}}] tail %{{.*}} : <16x160xf16> tail !tile.desc<16x32xf16>, <16x160xf16, #{{.*}}>, <1>
  cta.tma_load_sync %d[%i, %i] tail %r, %b, %m : !tile.desc<16x160xf16> tail !tile.desc<16x32xf16>, !cta.buffer<16x160xf16, #w>, !cta.mbarrier<1>
  tile.return
}
