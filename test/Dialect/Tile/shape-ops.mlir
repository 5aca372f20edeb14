// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%f: f32) {
  %a = tile.splat %f : f32 -> tensor<64x2xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<64x2xf32> -> tensor<128xf32>
  %r = tile.reshape %a : tensor<64x2xf32> -> tensor<128xf32>
  %b = tile.splat %f : f32 -> tensor<64xf32>
  // CHECK: %[[E:.*]] = tile.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %e = tile.expand_dims %b {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: %[[B:.*]] = tile.broadcast %[[E]] : tensor<64x1xf32> -> tensor<64x32xf32>
  %c = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x32xf32>
  // CHECK: tile.trans %[[B]] {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  %t = tile.trans %c {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  tile.return
}
