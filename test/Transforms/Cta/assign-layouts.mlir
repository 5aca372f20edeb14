// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-assign-layouts))' | FileCheck %s

// Loads and stores are coalesced in vectors of 16 bytes, arithmetic stays in the default layout.
// CHECK-DAG: #[[DEFAULT:.*]] = #cta.layout<[1024], register = {{\[\[}}128], [256], [512]], lane = {{\[\[}}1], [2], [4], [8], [16]]
// CHECK-DAG: #[[WIDE:.*]] = #cta.layout<[1024], register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]]
// CHECK-LABEL: tile.kernel @vector
// CHECK: %[[X:.*]] = tile.load %{{.*}} : tensor<1024x!tile.ptr<f32>, #[[WIDE]]>
// CHECK: cta.convert_layout %[[X]] : tensor<1024xf32, #[[WIDE]]> -> tensor<1024xf32, #[[DEFAULT]]>
// CHECK: arith.negf %{{.*}} : tensor<1024xf32, #[[DEFAULT]]>
tile.kernel @vector(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %y = arith.negf %x : tensor<1024xf32>
  tile.store %q, %y : tensor<1024x!tile.ptr<f32>>
  tile.return
}
