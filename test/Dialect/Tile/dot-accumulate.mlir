// RUN: tile-opt %s --canonicalize | FileCheck %s

// acc += tl.dot(a, b)
// CHECK-LABEL: tile.kernel @sum
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ACC:.*]] : tensor<16x16xf16>
// CHECK-NOT: arith.addf
// CHECK: tile.print "" %[[S]]
tile.kernel @sum(%x: f16, %y: f32) {
  %a = tile.splat %x : f16 -> tensor<16x16xf16>
  %acc = tile.splat %y : f32 -> tensor<16x16xf32>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %s = arith.addf %d, %acc : tensor<16x16xf32>
  tile.print "" %s : tensor<16x16xf32>
  tile.return
}

// The later of two dots takes the other one as its accumulator, on either side.
// CHECK-LABEL: tile.kernel @two
// CHECK: %[[FIRST:.*]] = tile.dot %[[A:.*]], %[[A]], %{{.*}} : tensor<16x16xf16>
// CHECK: tile.print
// CHECK: tile.dot %{{.*}}, %[[A]], %[[FIRST]] : tensor<16x16xf16>
// CHECK-NOT: arith.addf
tile.kernel @two(%x: f16, %y: f16) {
  %a = tile.splat %x : f16 -> tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.print "" %y : f16
  %b = tile.splat %y : f16 -> tensor<16x16xf16>
  %e = tile.dot %b, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %s = arith.addf %d, %e : tensor<16x16xf32>
  tile.print "" %s : tensor<16x16xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @integers
// CHECK-NOT: arith.addi
tile.kernel @integers(%x: i8, %y: i32) {
  %a = tile.splat %x : i8 -> tensor<16x16xi8>
  %acc = tile.splat %y : i32 -> tensor<16x16xi32>
  %z = arith.constant dense<0> : tensor<16x16xi32>
  %d = tile.dot %a, %a, %z : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
  %s = arith.addi %acc, %d : tensor<16x16xi32>
  tile.print "" %s : tensor<16x16xi32>
  tile.return
}

// 8-bit floats are still accumulated in f32: at most all 32 terms with fewer bits.
// CHECK-LABEL: tile.kernel @bytes
// CHECK: tile.dot {{.*}} {max_num_imprecise_acc = 32 : i32}
// CHECK: tile.dot {{.*}} {max_num_imprecise_acc = 16 : i32}
// CHECK-NOT: arith.addf
tile.kernel @bytes(%e: f8E4M3FN, %y: f32) {
  %b = tile.splat %e : f8E4M3FN -> tensor<16x32xf8E4M3FN>
  %t = tile.splat %e : f8E4M3FN -> tensor<32x16xf8E4M3FN>
  %acc = tile.splat %y : f32 -> tensor<16x16xf32>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d0 = tile.dot %b, %t, %z {max_num_imprecise_acc = 1024 : i32} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN> -> tensor<16x16xf32>
  %s0 = arith.addf %d0, %acc : tensor<16x16xf32>
  %d1 = tile.dot %b, %t, %z {max_num_imprecise_acc = 16 : i32} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN> -> tensor<16x16xf32>
  %s1 = arith.addf %d1, %s0 : tensor<16x16xf32>
  tile.print "" %s1 : tensor<16x16xf32>
  tile.return
}

// It has an accumulator; it has other uses; it is before the loop.
// CHECK-LABEL: tile.kernel @negative
// CHECK-COUNT-3: arith.addf
tile.kernel @negative(%x: f16, %y: f32, %n: i32) {
  %a = tile.splat %x : f16 -> tensor<16x16xf16>
  %acc = tile.splat %y : f32 -> tensor<16x16xf32>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d0 = tile.dot %a, %a, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %s0 = arith.addf %d0, %acc : tensor<16x16xf32>
  %d1 = tile.dot %a, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %s1 = arith.addf %d1, %s0 : tensor<16x16xf32>
  tile.print "" %d1 : tensor<16x16xf32>
  %d2 = tile.dot %a, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %s2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %s1) -> (tensor<16x16xf32>) : i32 {
    %q = arith.addf %p, %d2 : tensor<16x16xf32>
    scf.yield %q : tensor<16x16xf32>
  }
  tile.print "" %s2 : tensor<16x16xf32>
  tile.return
}
