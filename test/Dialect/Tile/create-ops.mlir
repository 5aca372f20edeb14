// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @create
tile.kernel @create(%x: f32, %p: !tile.ptr<i8>) {
  // CHECK: tile.arange 0 to 128 : tensor<128xi32>
  %r = tile.arange 0 to 128 : tensor<128xi32>
  // CHECK: tile.arange -2 to 2 : tensor<4xi32>
  %s = tile.arange -2 to 2 : tensor<4xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<64x32xf32>
  %t = tile.splat %x : f32 -> tensor<64x32xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<i8> -> tensor<16x!tile.ptr<i8>>
  %q = tile.splat %p : !tile.ptr<i8> -> tensor<16x!tile.ptr<i8>>
  tile.return
}
