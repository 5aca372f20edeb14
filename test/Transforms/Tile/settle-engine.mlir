// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine))' --verify-diagnostics | FileCheck %s

// What TMA brings stays with warp groups; what it does not is for warps, and what was not swapped has too few rows.
// CHECK-LABEL: tile.kernel @settled
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 2]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 2]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4]>}
tile.kernel @settled(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = {base = "a"}}, %e: !tile.desc<16x64xf16> {tile.tensor_map = {base = "a"}}, %p: !tile.ptr<f16>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %a, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %x = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
  // expected-remark @below {{not multiplied by wgmma after all: its right operand does not come by TMA}}
  %f = tile.dot %a, %x, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %f : tensor<64x64xf32>
  // expected-remark @below {{not multiplied by wgmma after all: its left operand neither comes by TMA nor stays in registers}}
  %g = tile.dot %x, %a, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %g : tensor<64x64xf32>
  %y = arith.constant dense<0.0> : tensor<16x64xf32>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<16x64xf16> -> tensor<16x64xf16>
  // expected-remark @below {{not multiplied by wgmma after all: it has fewer than 64 rows}}
  %h = tile.dot %b, %a, %y {engine = #cta.wgmma<m64n16k16, f16, f16, f32, groups = [1, 1], swapped>} : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
  tile.print "" %h : tensor<16x64xf32>
  tile.return
}
