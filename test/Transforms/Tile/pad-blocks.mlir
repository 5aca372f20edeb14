// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pad-blocks,canonicalize,cse))' --split-input-file --verify-diagnostics | FileCheck %s

// Elements beyond the block are neither read nor written.
// CHECK-LABEL: tile.kernel @copy
// CHECK-DAG: %[[END:.*]] = arith.constant dense<96> : tensor<128xi32>
// CHECK-DAG: %[[I:.*]] = tile.arange 0 to 128
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[I]], %[[END]]
// CHECK: tile.load %{{.*}} mask %[[IN]] : tensor<128x!tile.ptr<f32>>
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[IN]]
// CHECK: tile.store %{{.*}}, %{{.*}} mask %[[BOTH]]
tile.kernel @copy(%p: !tile.ptr<f32>, %n: i32) {
  %i = tile.arange 0 to 96 : tensor<96xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<96x!tile.ptr<f32>>
  %q = tile.addptr %ps, %i : tensor<96x!tile.ptr<f32>>, tensor<96xi32>
  %x = tile.load %q : tensor<96x!tile.ptr<f32>>
  %ns = tile.splat %n : i32 -> tensor<96xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<96xi32>
  tile.store %q, %x mask %m : tensor<96x!tile.ptr<f32>>
  tile.return
}

// -----

// Loops and branches carry padded blocks; a reduction starts from its neutral element, but only along its axis.
// CHECK-LABEL: tile.kernel @reduce
// CHECK: scf.for {{.*}} -> (tensor<64x256xf32>)
// CHECK: %[[IN:.*]] = tile.broadcast %{{.*}} : tensor<1x256xi1> -> tensor<64x256xi1>
// CHECK: %[[X:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : tensor<64x256xi1>, tensor<64x256xf32>
// CHECK: tile.reduce %[[X]] {axis = 1 : i32}
// CHECK: tile.reduce %{{.*}} {axis = 0 : i32} : tensor<64x256xf32> -> tensor<256xf32>
tile.kernel @reduce(%n: i32, %v: f32, %p: !tile.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<64x160xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %vs = tile.splat %v : f32 -> tensor<64x160xf32>
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<64x160xf32>) : i32 {
    %b = arith.addf %a, %vs : tensor<64x160xf32>
    scf.yield %b : tensor<64x160xf32>
  }
  %rows = tile.reduce %acc {axis = 1 : i32} : tensor<64x160xf32> -> tensor<64xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.maximumf %l, %r : f32
    tile.yield %m : f32
  }
  %columns = tile.reduce %acc {axis = 0 : i32} : tensor<64x160xf32> -> tensor<160xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.subf %l, %r : f32
    tile.yield %m : f32
  }
  %first = tile.reduce %rows {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    tile.yield %m : f32
  }
  %other = tile.reduce %columns {axis = 0 : i32} : tensor<160xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    tile.yield %m : f32
  }
  tile.store %p, %first : !tile.ptr<f32>
  tile.store %p, %other : !tile.ptr<f32>
  tile.return
}

// -----

// Only the inner dimension of a dot must be masked: rows and columns beyond the block are never read.
// CHECK-LABEL: tile.kernel @dot
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xi1>, tensor<64x64xf16>
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x256xi1>, tensor<64x256xf16>
// CHECK: tile.dot %[[A]], %[[B]], %{{.*}} : tensor<64x64xf16>, tensor<64x256xf16> -> tensor<64x256xf32>
// CHECK: tile.desc_store %{{.*}} : <48x160xf32>, tensor<64x256xf32>
tile.kernel @dot(%x: f16, %i: i32, %d: !tile.desc<48x160xf32>) {
  %a = tile.splat %x : f16 -> tensor<48x48xf16>
  %b = tile.splat %x : f16 -> tensor<48x160xf16>
  %zero = arith.constant dense<0.0> : tensor<48x160xf32>
  %c = tile.dot %a, %b, %zero : tensor<48x48xf16>, tensor<48x160xf16> -> tensor<48x160xf32>
  tile.desc_store %d[%i, %i], %c : !tile.desc<48x160xf32>, tensor<48x160xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @assert
// CHECK: %[[C:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64xi1>, tensor<64xi1>
// CHECK: tile.assert %[[C]]
// CHECK: tile.reshape %{{.*}} : tensor<64xi32> -> tensor<1x64xi32>
tile.kernel @assert(%n: i32, %p: !tile.ptr<i32>) {
  %i = tile.arange 0 to 48 : tensor<48xi32>
  %ns = tile.splat %n : i32 -> tensor<48xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<48xi32>
  tile.assert %m, "" : tensor<48xi1>
  %row = tile.reshape %i : tensor<48xi32> -> tensor<1x48xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<1x48x!tile.ptr<i32>>
  tile.store %s, %row : tensor<1x48x!tile.ptr<i32>>
  tile.return
}

// -----

tile.kernel @reshape(%x: f32) {
  %a = tile.splat %x : f32 -> tensor<48x2xf32>
  // expected-error @below {{this block has a size that is not a power of two; such blocks cannot be reshaped}}
  %b = tile.reshape %a : tensor<48x2xf32> -> tensor<96xf32>
  tile.return
}

// -----

tile.kernel @print(%x: f32) {
  %a = tile.splat %x : f32 -> tensor<48xf32>
  // expected-error @below {{this block has a size that is not a power of two; such blocks cannot be printed}}
  tile.print "" %a : tensor<48xf32>
  tile.return
}

// -----

tile.kernel @difference(%x: f32) {
  %a = tile.splat %x : f32 -> tensor<48xf32>
  // expected-error @below {{this block has a size that is not a power of two; reductions along it must have a neutral element, as sums, minima and maxima have}}
  %r = tile.reduce %a {axis = 0 : i32} : tensor<48xf32> -> f32 {
  ^bb0(%l: f32, %s: f32):
    %m = arith.subf %l, %s : f32
    tile.yield %m : f32
  }
  tile.return
}

// -----

tile.kernel @range() {
  // expected-error @below {{this block has a size that is not a power of two; its last element, rounded up to the next power of two, overflows 32 bits}}
  %a = tile.arange 2147483599 to 2147483647 : tensor<48xi32>
  tile.return
}

// -----

tile.kernel @constant() {
  // expected-error @below {{this block has a size that is not a power of two; a constant of such a size must have equal elements}}
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  tile.return
}

// -----

tile.kernel @unknown(%x: i32) {
  %a = tile.splat %x : i32 -> tensor<48xi32>
  // expected-error @below {{this block has a size that is not a power of two; 'tile.histogram' does not support such blocks}}
  %b = tile.histogram %a : tensor<48xi32> -> tensor<64xi32>
  tile.return
}
