// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @atomics
tile.kernel @atomics(%base: !tile.ptr<f32>, %lock: !tile.ptr<i32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %x = arith.constant dense<1.0> : tensor<128xf32>
  %m = arith.constant dense<true> : tensor<128xi1>
  // CHECK: tile.atomic_rmw add relaxed gpu %{{.*}}, %{{.*}} mask %{{.*}} : tensor<128x!tile.ptr<f32>>
  %old = tile.atomic_rmw add relaxed gpu %p, %x mask %m : tensor<128x!tile.ptr<f32>>
  %l = tile.splat %lock : !tile.ptr<i32> -> tensor<1x!tile.ptr<i32>>
  %zero = arith.constant dense<0> : tensor<1xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  // CHECK: tile.atomic_cas acq_rel gpu %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x!tile.ptr<i32>>
  %before = tile.atomic_cas acq_rel gpu %l, %zero, %one : tensor<1x!tile.ptr<i32>>
  // CHECK: tile.atomic_rmw umin acquire sys
  %a = tile.atomic_rmw umin acquire sys %l, %one : tensor<1x!tile.ptr<i32>>
  // CHECK: tile.atomic_rmw xor release cta
  %b = tile.atomic_rmw xor release cta %l, %one : tensor<1x!tile.ptr<i32>>
  tile.return
}
