// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine,cta-assign-layouts))' --mlir-print-local-scope | FileCheck %s

// Operands stay as they were read, because warp groups take them from shared memory; the accumulator has the layout of the
// instruction m64n128.
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[A:.*]] = tile.desc_load %arg1
// CHECK: %[[B:.*]] = tile.desc_load %arg2
// CHECK: tile.dot %[[A]], %[[B]], {{.*}} -> tensor<64x128xf32, #cta.layout<[64, 128], register = {{\[}}[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[16, 0], [32, 0]]>>
tile.kernel @product(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = {base = "a"}}, %e: !tile.desc<64x128xf16> {tile.tensor_map = {base = "b"}}) {
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
  tile.print "" %c : tensor<64x128xf32>
  tile.return
}

// One operand that was computed makes it a product of warps, with both operands in registers.
// CHECK-LABEL: tile.kernel @negative_computed
// CHECK: tile.desc_load
// CHECK: arith.negf
// CHECK: %[[A:.*]] = cta.convert_layout
// CHECK: %[[B:.*]] = cta.convert_layout
// CHECK: tile.dot %[[A]], %[[B]],
tile.kernel @negative_computed(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = {base = "a"}}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = arith.negf %a : tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  tile.return
}
