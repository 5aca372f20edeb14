// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_90a},tile.kernel(cta-keep-rows))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_75},tile.kernel(cta-keep-rows))' | FileCheck %s --check-prefix=SM75

// 64 halves in each of 512 threads.
#row = #cta.layout<[32768], register = [[1], [2], [4], [4096], [8192], [16384]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512], [1024], [2048]]>
#short = #cta.layout<[16384], register = [[1], [2], [4], [4096], [8192]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512], [1024], [2048]]>

// The second pass reads and widens the row again.
// CHECK-LABEL: tile.kernel @kept
// CHECK: cta.async_copy %{{.*}}, %[[B:.*]] {vector = 8 : i32}
// CHECK: %[[X:.*]] = cta.local_load %[[B]]
// CHECK-NEXT: arith.extf %[[X]]
// CHECK: tile.reduce
// CHECK: %[[Y:.*]] = cta.local_load %[[B]]
// CHECK-NEXT: arith.extf %[[Y]]
// CHECK-NEXT: arith.mulf
// SM75-LABEL: tile.kernel @kept
// SM75-NOT: cta.async_copy
tile.kernel @kept(%p: !tile.ptr<f16>, %q: !tile.ptr<f32>) attributes {num_warps = 16 : i32} {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32768x!tile.ptr<f16>, #row>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>, #row>
  %x = tile.load %s {vector = 8 : i32} : tensor<32768x!tile.ptr<f16>, #row>
  %w = arith.extf %x : tensor<32768xf16, #row> to tensor<32768xf32, #row>
  %sum = tile.reduce %w {axis = 0 : i32} : tensor<32768xf32, #row> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %all = tile.splat %sum : f32 -> tensor<32768xf32, #row>
  %y = arith.mulf %w, %all : tensor<32768xf32, #row>
  tile.store %t, %y : tensor<32768x!tile.ptr<f32>, #row>
  tile.return
}

// Rows that take few registers, are loaded by single elements, or are needed once.
// CHECK-LABEL: tile.kernel @negative_short
// CHECK-NOT: cta.async_copy
tile.kernel @negative_short(%p: !tile.ptr<f16>, %l: !tile.ptr<f16>, %q: !tile.ptr<f16>) attributes {num_warps = 16 : i32} {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<16384x!tile.ptr<f16>, #short>
  %t = tile.splat %q : !tile.ptr<f16> -> tensor<16384x!tile.ptr<f16>, #short>
  %u = tile.splat %l : !tile.ptr<f16> -> tensor<32768x!tile.ptr<f16>, #row>
  %x = tile.load %s {vector = 8 : i32} : tensor<16384x!tile.ptr<f16>, #short>
  %single = tile.load %u : tensor<32768x!tile.ptr<f16>, #row>
  %once = tile.load %u {vector = 8 : i32} : tensor<32768x!tile.ptr<f16>, #row>
  %sum = tile.reduce %x {axis = 0 : i32} : tensor<16384xf16, #short> -> f16 {
  ^bb0(%a: f16, %b: f16):
    %c = arith.addf %a, %b : f16
    tile.yield %c : f16
  }
  tile.store %u, %single : tensor<32768x!tile.ptr<f16>, #row>
  %all = tile.splat %sum : f16 -> tensor<16384xf16, #short>
  %y = arith.mulf %x, %all : tensor<16384xf16, #short>
  tile.store %t, %y : tensor<16384x!tile.ptr<f16>, #short>
  %last = tile.reduce %once {axis = 0 : i32} : tensor<32768xf16, #row> -> f16 {
  ^bb0(%a: f16, %b: f16):
    %c = arith.addf %a, %b : f16
    tile.yield %c : f16
  }
  tile.return
}
