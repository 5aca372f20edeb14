// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions))' | FileCheck %s

// Results of dots that are joined are converted one by one, as the whole is stored, although together they are rounded.
// CHECK-LABEL: tile.kernel @put_together
// CHECK-COUNT-2: cta.convert_layout %{{.*}} : tensor<32x32xf32
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
tile.kernel @put_together(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %first = arith.constant dense<0> : tensor<2x1x1xi32>
  %a = arith.constant dense<2.0> : tensor<32x32xf16>
  %b = arith.constant dense<3.0> : tensor<32x32xf16>
  %r = tile.arange 0 to 2048 : tensor<2048xi32>
  %m = tile.reshape %r : tensor<2048xi32> -> tensor<2x32x32xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<2x32x32x!tile.ptr<f16>>
  %q = tile.addptr %s, %m : tensor<2x32x32x!tile.ptr<f16>>, tensor<2x32x32xi32>
  %x = tile.dot %a, %b, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %y = tile.dot %b, %b, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %numbers = tile.arange 0 to 2 : tensor<2xi32>
  %rows = tile.expand_dims %numbers {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %columns = tile.expand_dims %rows {axis = 2 : i32} : tensor<2x1xi32> -> tensor<2x1x1xi32>
  %is_first = arith.cmpi eq, %columns, %first : tensor<2x1x1xi32>
  %mask = tile.broadcast %is_first : tensor<2x1x1xi1> -> tensor<2x32x32xi1>
  %x1 = tile.expand_dims %x {axis = 0 : i32} : tensor<32x32xf32> -> tensor<1x32x32xf32>
  %y1 = tile.expand_dims %y {axis = 0 : i32} : tensor<32x32xf32> -> tensor<1x32x32xf32>
  %x2 = tile.broadcast %x1 : tensor<1x32x32xf32> -> tensor<2x32x32xf32>
  %y2 = tile.broadcast %y1 : tensor<1x32x32xf32> -> tensor<2x32x32xf32>
  %both = arith.select %mask, %x2, %y2 : tensor<2x32x32xi1>, tensor<2x32x32xf32>
  %rounded = arith.truncf %both : tensor<2x32x32xf32> to tensor<2x32x32xf16>
  tile.store %q, %rounded : tensor<2x32x32x!tile.ptr<f16>>
  tile.return
}

// A factor of all rows is loaded by each warp, 16 bytes per thread, if it is contiguous.
// CHECK-LABEL: tile.kernel @row_of_weights
// CHECK-NOT: cta.convert_layout
// CHECK: tile.return
tile.kernel @row_of_weights(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.arange 0 to 4096 : tensor<4096xi32>
  %m = tile.reshape %r : tensor<4096xi32> -> tensor<16x256xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %q = tile.addptr %s, %m : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  %c = tile.arange 0 to 256 : tensor<256xi32>
  %t = tile.splat %w : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %u = tile.addptr %t, %c : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %weights = tile.load %u : tensor<256x!tile.ptr<f16>>
  %row = tile.expand_dims %weights {axis = 0 : i32} : tensor<256xf16> -> tensor<1x256xf16>
  %wide = tile.broadcast %row : tensor<1x256xf16> -> tensor<16x256xf16>
  %x = tile.load %q : tensor<16x256x!tile.ptr<f16>>
  %y = arith.mulf %x, %wide : tensor<16x256xf16>
  tile.store %q, %y : tensor<16x256x!tile.ptr<f16>>
  tile.return
}

// CHECK-LABEL: tile.kernel @strided_weights
// CHECK: cta.convert_layout
// CHECK: tile.return
tile.kernel @strided_weights(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.arange 0 to 4096 : tensor<4096xi32>
  %m = tile.reshape %r : tensor<4096xi32> -> tensor<16x256xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %q = tile.addptr %s, %m : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  %c = tile.arange 0 to 256 : tensor<256xi32>
  %two = arith.constant dense<2> : tensor<256xi32>
  %places = arith.muli %c, %two : tensor<256xi32>
  %t = tile.splat %w : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %u = tile.addptr %t, %places : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %weights = tile.load %u : tensor<256x!tile.ptr<f16>>
  %row = tile.expand_dims %weights {axis = 0 : i32} : tensor<256xf16> -> tensor<1x256xf16>
  %wide = tile.broadcast %row : tensor<1x256xf16> -> tensor<16x256xf16>
  %x = tile.load %q : tensor<16x256x!tile.ptr<f16>>
  %y = arith.mulf %x, %wide : tensor<16x256xf16>
  tile.store %q, %y : tensor<16x256x!tile.ptr<f16>>
  tile.return
}
