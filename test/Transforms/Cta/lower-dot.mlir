// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-lower-dot))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_75},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-lower-dot))' | FileCheck %s --check-prefix=SM75

// CHECK-LABEL: tile.kernel @half
// CHECK: cta.mma_sync {{.*}} {shape = array<i32: 16, 8, 16>}
// SM75-LABEL: tile.kernel @half
// SM75: cta.mma_sync {{.*}} {shape = array<i32: 16, 8, 8>}
tile.kernel @half() {
  %a = arith.constant dense<2.0> : tensor<32x32xf16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tile.dot %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  tile.return
}

// sm_80 introduced bf16: earlier targets multiply it without tensor cores.
// CHECK-LABEL: tile.kernel @bfloat
// CHECK: cta.mma_sync
// SM75-LABEL: tile.kernel @bfloat
// SM75: cta.fma_dot
tile.kernel @bfloat() {
  %a = arith.constant dense<2.0> : tensor<32x32xbf16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tile.dot %a, %a, %c : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @precisions
// CHECK-COUNT-1: cta.mma_sync
// CHECK: cta.fma_dot
// CHECK-COUNT-3: cta.mma_sync
tile.kernel @precisions() {
  %a = arith.constant dense<2.0> : tensor<32x32xf32>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tile.dot %a, %a, %c : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %e = tile.dot %a, %a, %d {precision = #tile<precision ieee>} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %f = tile.dot %a, %a, %e {precision = #tile<precision tf32x3>} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  tile.return
}
