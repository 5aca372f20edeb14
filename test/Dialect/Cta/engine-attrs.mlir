// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @engines
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n128k16, f16, f16, f32, groups = [2, 2], a = registers>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 4]>}
// CHECK: tile.dot {{.*}} {engine = #cta.fma, precision = #tile<precision ieee>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n16k16, bf16, bf16, f32, groups = [1, 1], swapped>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k32, f8E4M3FN, f8E4M3FN, f32, groups = [1, 1], a = threads, b = threads, promote = 32>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k8, f32, f32, f32, groups = [1, 1], b = threads>}
tile.kernel @engines(%n: i32) {
  %a = arith.constant dense<0.0> : tensor<128x64xf16>
  %b = arith.constant dense<0.0> : tensor<64x256xf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  %0 = tile.dot %a, %b, %c {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>} : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %1 = tile.dot %a, %b, %0 {engine = #cta.wgmma<m64n128k16, f16, f16, f32, groups = [2, 2], a = registers>} : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %2 = tile.dot %a, %b, %1 {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 4]>} : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %2 : tensor<128x256xf32>
  %d = arith.constant dense<0.0> : tensor<64x64xf32>
  %3 = tile.dot %d, %d, %d {precision = #tile<precision ieee>, engine = #cta.fma} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %3 : tensor<64x64xf32>
  // 16 rows, which are the columns of the transposed dot.
  %e = arith.constant dense<0.0> : tensor<16x64xbf16>
  %f = arith.constant dense<0.0> : tensor<64x64xbf16>
  %g = arith.constant dense<0.0> : tensor<16x64xf32>
  %4 = tile.dot %e, %f, %g {engine = #cta.wgmma<m64n16k16, bf16, bf16, f32, groups = [1, 1], swapped>} : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
  tile.print "" %4 : tensor<16x64xf32>
  %h = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %5 = tile.dot %h, %h, %d {engine = #cta.wgmma<m64n64k32, f8E4M3FN, f8E4M3FN, f32, groups = [1, 1], a = threads, b = threads, promote = 32>} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tile.print "" %5 : tensor<64x64xf32>
  %6 = tile.dot %d, %d, %d {engine = #cta.wgmma<m64n64k8, f32, f32, f32, groups = [1, 1], a = tma, b = threads>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %6 : tensor<64x64xf32>
  tile.return
}
