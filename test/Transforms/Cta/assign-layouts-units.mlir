// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts))' | FileCheck %s

// A block with dimensions of size 1 is computed with the accumulators of a dot in their layout; unpacked values stay in
// their threads.
// CHECK-LABEL: tile.kernel @units
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NEXT: arith.subf %{{.*}}, %[[D]]
tile.kernel @units(%p: !tile.ptr<f32>) attributes {num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1x64x64x!tile.ptr<f32>>
  %l = tile.load %s : tensor<1x64x64x!tile.ptr<f32>>
  %y = tile.reshape %l : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %d = tile.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = arith.subf %y, %d : tensor<64x64xf32>
  tile.print "" %r : tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @unpacked
// CHECK: tile.dot
// CHECK-NEXT: cta.convert_layout
// CHECK-NEXT: arith.subf
tile.kernel @unpacked(%p: !tile.ptr<f32>) attributes {num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<2x32x64x!tile.ptr<f32>>
  %l = tile.load %s : tensor<2x32x64x!tile.ptr<f32>>
  %y = tile.reshape %l : tensor<2x32x64xf32> -> tensor<64x64xf32>
  %d = tile.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = arith.subf %y, %d : tensor<64x64xf32>
  tile.print "" %r : tensor<64x64xf32>
  tile.return
}
