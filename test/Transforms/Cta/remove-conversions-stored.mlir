// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-remove-conversions))' | FileCheck %s

// Values that are widened and stored are computed in the layout of their load: a buffer accepts any layout.
// CHECK-LABEL: tile.kernel @widened
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[X]]
// CHECK: cta.local_store %[[F]]
#loaded = #cta.layout<[64, 32], register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[16, 0], [32, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>
#lanes = #cta.layout<[64, 32], register = [[4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#buffer = #cta.layout<[64, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]>
tile.kernel @widened(%p: !tile.ptr<i8>) attributes {num_warps = 4 : i32} {
  %s = tile.splat %p : !tile.ptr<i8> -> tensor<64x32x!tile.ptr<i8>, #loaded>
  %x = tile.load %s : tensor<64x32x!tile.ptr<i8>, #loaded>
  %c = cta.convert_layout %x : tensor<64x32xi8, #loaded> -> tensor<64x32xi8, #lanes>
  %f = arith.sitofp %c : tensor<64x32xi8, #lanes> to tensor<64x32xbf16, #lanes>
  %b = cta.alloc : <64x32xbf16, #buffer>
  cta.local_store %f, %b : tensor<64x32xbf16, #lanes>, <64x32xbf16, #buffer>
  %r = cta.local_load %b : <64x32xbf16, #buffer> -> tensor<64x32xbf16, #lanes>
  tile.print "" %r : tensor<64x32xbf16, #lanes>
  tile.return
}
