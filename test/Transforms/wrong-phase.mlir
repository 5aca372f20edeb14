// A pass that is run alone on a kernel of another phase says so.
// RUN: split-file %s %t
// RUN: not tile-opt %t/tile.mlir --pass-pipeline='builtin.module(tile.kernel(cta-lower-descriptors))' 2>&1 | FileCheck %s --check-prefix=DESC
// RUN: not tile-opt %t/tile.mlir --pass-pipeline='builtin.module(tile.kernel(cta-lower-dot))' 2>&1 | FileCheck %s --check-prefix=DOT
// RUN: not tile-opt %t/tile.mlir --pass-pipeline='builtin.module(tile.kernel(cta-lower-conversions))' 2>&1 | FileCheck %s --check-prefix=CONVERSIONS
// RUN: not tile-opt %t/tile.mlir --pass-pipeline='builtin.module(tile.kernel(cta-specialize-warps))' 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: not tile-opt %t/layout.mlir --pass-pipeline='builtin.module(tile.kernel(tile-raise-descriptors))' 2>&1 | FileCheck %s --check-prefix=RAISE
// RUN: not tile-opt %t/layout.mlir --pass-pipeline='builtin.module(tile.kernel(cta-lower-dot))' 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not tilec %t/layout.mlir -o - --emit=ptx 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not tilec %t/tile.mlir --start-after=cta-assign-layouts -o - --emit=ptx 2>&1 | FileCheck %s --check-prefix=MIDDLE

// DESC: error: cta-lower-descriptors needs phase layout, or a form between layout and async: 'tile.make_desc' does not belong to this phase
// DESC-NOT: error
// DOT: error: cta-lower-dot needs phase layout, or a form between layout and async: 'tile.make_desc' does not belong to this phase
// CONVERSIONS: error: cta-lower-conversions needs phase layout, or a form between layout and async: 'tile.make_desc' does not belong
// ROLES: error: cta-specialize-warps needs phase scheduled, or a form between async and scheduled: 'tile.make_desc' does not belong to this phase
// RAISE: error: tile-raise-descriptors needs phase tile: tensor {{.*}} already has a layout
// LATER: error: cta-lower-dot needs phase layout, or a form between layout and async: 'tile.desc_load' does not belong to this phase
// FIRST: error: tile-lower-scaled-dots needs phase tile: tensor {{.*}} already has a layout
// MIDDLE: error: cta-remove-conversions needs phase layout: 'tile.make_desc' does not belong to this phase

//--- tile.mlir
tile.kernel @tile(%p: !tile.ptr<f16>, %n: i32, %ld: i64) {
  %one = arith.constant 1 : i64
  %d = tile.make_desc %p, [%n, %n], [%ld, %one] : <f16> -> <64x64xf16>
  %x = tile.desc_load %d[%n, %n] : <64x64xf16> -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = tile.dot %x, %x, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %y : tensor<64x64xf32>
  tile.return
}

//--- layout.mlir
#a = #cta.layout<[16, 16], register = [[0, 8]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#b = #cta.layout<[16, 16], register = [[8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = [[2, 0], [4, 0]]>
tile.kernel @layout(%d: !tile.desc<16x16xf16> {tile.tensor_map = #tile.tensor_map<base = "d">}, %i: i32) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf16, #a>
  %y = cta.convert_layout %zero : tensor<16x16xf16, #a> -> tensor<16x16xf16, #b>
  %x = tile.desc_load %d[%i, %i] : <16x16xf16> -> tensor<16x16xf16, #b>
  %s = arith.addf %x, %y : tensor<16x16xf16, #b>
  tile.print "" %s : tensor<16x16xf16, #b>
  tile.return
}
