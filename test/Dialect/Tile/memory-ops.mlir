// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @pointers
tile.kernel @pointers(%base: !tile.ptr<f32>, %m1: i1, %f: f32) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %offset = tile.arange 0 to 128 : tensor<128xi32>
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %q = tile.addptr %p, %offset : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %m = tile.splat %m1 : i1 -> tensor<128xi1>
  %o = tile.splat %f : f32 -> tensor<128xf32>
  // CHECK: tile.load %[[Q:.*]] mask %{{.*}} other %{{.*}} : tensor<128x!tile.ptr<f32>>
  %x = tile.load %q mask %m other %o : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.load %[[Q]] volatile {cache = #tile<cache cg>, evict = #tile<evict evict_first>, vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
  %y = tile.load %q volatile {cache = #tile<cache cg>, evict = #tile<evict evict_first>, vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f32>
  %s = tile.load %base : !tile.ptr<f32>
  // CHECK: tile.store %[[Q]], %{{.*}} mask %{{.*}} : tensor<128x!tile.ptr<f32>>
  tile.store %q, %x mask %m : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.store %[[Q]], %{{.*}} {cache = #tile<cache wt>, evict = #tile<evict evict_last>, vector = 2 : i32} : tensor<128x!tile.ptr<f32>>
  tile.store %q, %y {cache = #tile<cache wt>, evict = #tile<evict evict_last>, vector = 2 : i32} : tensor<128x!tile.ptr<f32>>
  tile.return
}

// CHECK-LABEL: tile.kernel @descriptors
tile.kernel @descriptors(%base: !tile.ptr<f16>, %m: i32, %n: i32, %ld: i64, %one: i64, %i: i32, %j: i32) {
  // CHECK: %[[D:.*]] = tile.make_desc %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16> -> <64x32xf16>
  %d = tile.make_desc %base, [%m, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x32xf16>
  // CHECK: tile.make_desc %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] at %{{.*}} : <f16>, !tile.ptr<f16> -> <64x32xf16>
  %placed = tile.make_desc %base, [%m, %n], [%ld, %one] at %base : !tile.ptr<f16>, !tile.ptr<f16> -> !tile.desc<64x32xf16>
  // CHECK: tile.make_desc %{{.*}} at %{{.*}} if %[[NEEDED:.*]] : <f16>, !tile.ptr<f16> -> <64x32xf16>
  %needed = arith.constant true
  %conditional = tile.make_desc %base, [%m, %n], [%ld, %one] at %base if %needed : !tile.ptr<f16>, !tile.ptr<f16> -> !tile.desc<64x32xf16>
  // CHECK: tile.desc_load %[[D]][%{{.*}}, %{{.*}}] : <64x32xf16> -> tensor<64x32xf16>
  %x = tile.desc_load %d[%i, %j] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
  // CHECK: tile.desc_store %[[D]][%{{.*}}, %{{.*}}], %{{.*}} : <64x32xf16>, tensor<64x32xf16>
  tile.desc_store %d[%i, %j], %x : !tile.desc<64x32xf16>, tensor<64x32xf16>
  // CHECK: tile.desc_store %[[D]][%{{.*}}, %{{.*}}], %{{.*}} reduce fmax : <64x32xf16>, tensor<64x32xf16>
  tile.desc_store %d[%i, %j], %x reduce fmax : !tile.desc<64x32xf16>, tensor<64x32xf16>
  // CHECK: tile.make_desc {{.*}} -> <64x32xf16, nan>
  %padded = tile.make_desc %base, [%m, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x32xf16, nan>
  tile.return
}

// CHECK-LABEL: tile.kernel @tensor_maps
tile.kernel @tensor_maps(%place: !tile.ptr<i8>, %base: !tile.ptr<f16>, %m: i32, %n: i32) {
  // CHECK: tile.create_tensor_map %arg0, %arg1, [%arg2, %arg3] {block = array<i64: 64, 32>} : <i8>, <f16>
  tile.create_tensor_map %place, %base, [%m, %n] {block = array<i64: 64, 32>} : !tile.ptr<i8>, !tile.ptr<f16>
  // CHECK: tile.acquire_tensor_map %arg0 : <i8>
  tile.acquire_tensor_map %place : !tile.ptr<i8>
  // CHECK: %[[D:.*]] = tile.open_tensor_map %arg0 : <i8> -> <64x32xf16>
  %d = tile.open_tensor_map %place : !tile.ptr<i8> -> !tile.desc<64x32xf16>
  // CHECK: tile.desc_load %[[D]]
  %x = tile.desc_load %d[%m, %n] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
  tile.desc_store %d[%n, %m], %x : !tile.desc<64x32xf16>, tensor<64x32xf16>
  tile.return
}
