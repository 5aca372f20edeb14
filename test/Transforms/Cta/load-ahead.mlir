// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions,cta-load-ahead))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions,cta-load-ahead,cta-lower-conversions))' | FileCheck %s --check-prefix=LOWERED

// Each warp loads the biases of its columns before the MMAs; the conversion after them stays in the warp.
// CHECK: #[[SPREAD:.*]] = #cta.layout<[128], register = {{\[}}[1]], lane = {{\[}}[2], [4], [8], [16], [0]], warp = {{\[}}[32], [64]]>
// CHECK-LABEL: tile.kernel @bias
// CHECK: %[[X:.*]] = tile.load %{{.*}} : tensor<128x!tile.ptr<f16>, #[[SPREAD]]>
// CHECK: scf.for
// CHECK: tile.dot
// CHECK: cta.convert_layout %[[X]]
// LOWERED-LABEL: tile.kernel @bias
// LOWERED: scf.for
// LOWERED-NOT: cta.alloc
// LOWERED: cta.convert_layout
// LOWERED: tile.desc_store
tile.kernel @bias(%d: !tile.desc<64x128xf16>, %p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = arith.constant dense<2.0> : tensor<64x32xf16>
  %b = arith.constant dense<2.0> : tensor<32x128xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x128xf32>) : i32 {
    %y = tile.dot %a, %b, %x : tensor<64x32xf16>, tensor<32x128xf16> -> tensor<64x128xf32>
    scf.yield %y : tensor<64x128xf32>
  }
  %r = tile.arange 0 to 128 : tensor<128xi32>
  %twice = arith.muli %n, %n : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>>
  %q = tile.addptr %s, %r : tensor<128x!tile.ptr<f16>>, tensor<128xi32>
  %limit = tile.splat %twice : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %r, %limit : tensor<128xi32>
  %bias = tile.load %q mask %m : tensor<128x!tile.ptr<f16>>
  %row = tile.expand_dims %bias {axis = 0 : i32} : tensor<128xf16> -> tensor<1x128xf16>
  %wide = tile.broadcast %row : tensor<1x128xf16> -> tensor<64x128xf16>
  %h = arith.truncf %acc : tensor<64x128xf32> to tensor<64x128xf16>
  %sum = arith.addf %h, %wide : tensor<64x128xf16>
  tile.desc_store %d[%c0, %c0], %sum : !tile.desc<64x128xf16>, tensor<64x128xf16>
  tile.return
}

// Each thread needs a few elements of a column, which it loads itself.
// CHECK-LABEL: tile.kernel @scale
// CHECK: %[[X:.*]] = tile.load
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: tile.desc_store
tile.kernel @scale(%d: !tile.desc<32x128xf16>, %p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x128xf32>
  %a = arith.constant dense<2.0> : tensor<32x32xf16>
  %b = arith.constant dense<2.0> : tensor<32x128xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<32x128xf32>) : i32 {
    %y = tile.dot %a, %b, %x : tensor<32x32xf16>, tensor<32x128xf16> -> tensor<32x128xf32>
    scf.yield %y : tensor<32x128xf32>
  }
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %scale = tile.load %q : tensor<32x!tile.ptr<f32>>
  %column = tile.expand_dims %scale {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %wide = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x128xf32>
  %scaled = arith.mulf %acc, %wide : tensor<32x128xf32>
  %h = arith.truncf %scaled : tensor<32x128xf32> to tensor<32x128xf16>
  tile.desc_store %d[%c0, %c0], %h : !tile.desc<32x128xf16>, tensor<32x128xf16>
  tile.return
}

// Data written in the loop may be the data loaded after it.
// CHECK-LABEL: tile.kernel @written
// CHECK: scf.for
// CHECK: tile.store
// CHECK: tile.load
tile.kernel @written(%d: !tile.desc<64x128xf16>, %p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 1.0 : f32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = arith.constant dense<2.0> : tensor<64x32xf16>
  %b = arith.constant dense<2.0> : tensor<32x128xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x128xf32>) : i32 {
    %y = tile.dot %a, %b, %x : tensor<64x32xf16>, tensor<32x128xf16> -> tensor<64x128xf32>
    tile.store %p, %f : !tile.ptr<f32>
    scf.yield %y : tensor<64x128xf32>
  }
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %scale = tile.load %q : tensor<64x!tile.ptr<f32>>
  %column = tile.expand_dims %scale {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %wide = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x128xf32>
  %scaled = arith.mulf %acc, %wide : tensor<64x128xf32>
  %h = arith.truncf %scaled : tensor<64x128xf32> to tensor<64x128xf16>
  tile.desc_store %d[%c0, %c0], %h : !tile.desc<64x128xf16>, tensor<64x128xf16>
  tile.return
}

// In the loop, each warp loads the elements of a row that it needs, whatever is computed before the expansion.
// CHECK-LABEL: tile.kernel @within
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %{{.*}} : tensor<64x!tile.ptr<f32>, #[[WITHIN:.*]]>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<64xf32, #[[WITHIN]]>
// CHECK: cta.convert_layout %[[SCALED]]
// CHECK: tile.dot
// LOWERED-LABEL: tile.kernel @within
// LOWERED: scf.for
// LOWERED-NOT: cta.alloc
// LOWERED: tile.desc_store
tile.kernel @within(%d: !tile.desc<128x64xf32>, %p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %a = arith.constant dense<2.0> : tensor<128x32xf16>
  %b = arith.constant dense<2.0> : tensor<32x64xf16>
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<128x64xf32>) : i32 {
    %from = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %s = tile.splat %from : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %q = tile.addptr %s, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %loaded = tile.load %q : tensor<64x!tile.ptr<f32>>
    %scaled = arith.mulf %loaded, %two : tensor<64xf32>
    %y = tile.dot %a, %b, %x : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    %row = tile.expand_dims %scaled {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %wide = tile.broadcast %row : tensor<1x64xf32> -> tensor<128x64xf32>
    %sum = arith.addf %y, %wide : tensor<128x64xf32>
    scf.yield %sum : tensor<128x64xf32>
  }
  tile.desc_store %d[%c0, %c0], %acc : !tile.desc<128x64xf32>, tensor<128x64xf32>
  tile.return
}
