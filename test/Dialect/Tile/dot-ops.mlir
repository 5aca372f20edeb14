// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @dot
tile.kernel @dot() {
  %a = arith.constant dense<1.0> : tensor<128x64xf16>
  %b = arith.constant dense<1.0> : tensor<64x256xf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @types
tile.kernel @types(%h: f16, %b: bf16, %s: f32, %d: f64, %q: i8, %i: i32, %e4: f8E4M3FN, %e5: f8E5M2) {
  %hs = tile.splat %h : f16 -> tensor<16x16xf16>
  %bs = tile.splat %b : bf16 -> tensor<16x16xbf16>
  %ss = tile.splat %s : f32 -> tensor<16x16xf32>
  %ds = tile.splat %d : f64 -> tensor<16x16xf64>
  %qs = tile.splat %q : i8 -> tensor<16x16xi8>
  %is = tile.splat %i : i32 -> tensor<16x16xi32>
  %e4s = tile.splat %e4 : f8E4M3FN -> tensor<16x16xf8E4M3FN>
  %e5s = tile.splat %e5 : f8E5M2 -> tensor<16x16xf8E5M2>
  // CHECK-COUNT-7: tile.dot
  %0 = tile.dot %hs, %hs, %hs : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  %1 = tile.dot %bs, %bs, %ss : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  %2 = tile.dot %ss, %ss, %ss {precision = #tile<precision ieee>} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %3 = tile.dot %ds, %ds, %ds : tensor<16x16xf64>, tensor<16x16xf64> -> tensor<16x16xf64>
  %4 = tile.dot %qs, %qs, %is : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
  %5 = tile.dot %e4s, %e5s, %ss : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E5M2> -> tensor<16x16xf32>
  %6 = tile.dot %e4s, %e4s, %ss : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @scaled
tile.kernel @scaled() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<127> : tensor<128x4xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} scales %[[S:.*]], %[[S]] : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>
  %d = tile.dot %a, %b, %c scales %s, %s : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>
  // CHECK: tile.dot_scaled %{{.*}} scale %{{.*}} as e2m1, %{{.*}} as e5m2, %{{.*}} {a_packed_by_row} : (tensor<64x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x2xi8>) -> tensor<128x128xf32>
  %e = arith.constant dense<0> : tensor<64x64xi8>
  %t = arith.constant dense<127> : tensor<128x2xi8>
  %f = tile.dot_scaled %e scale %t as e2m1, %b as e5m2, %c {a_packed_by_row} : (tensor<64x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x2xi8>) -> tensor<128x128xf32>
  // CHECK: tile.dot_scaled %{{.*}} as e2m1, %{{.*}} scale %[[S]] as e2m1, %{{.*}} : (
  %g = tile.dot_scaled %a as e2m1, %b scale %s as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x4xi8>) -> tensor<128x128xf32>
  tile.return
}
