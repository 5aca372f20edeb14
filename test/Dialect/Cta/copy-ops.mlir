// RUN: tile-opt %s | tile-opt | FileCheck %s

#x = #cta.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>

tile.kernel @k(%p: !tile.ptr<f16>, %c: i1) {
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>, #x>
  %m = tile.splat %c : i1 -> tensor<64x32xi1, #x>
  // CHECK: %[[B:.*]] = cta.alloc
  %b = cta.alloc : !cta.buffer<64x32xf16, #s>
  // CHECK: cta.async_copy %{{.*}}, %[[B]] mask %{{.*}} : tensor<64x32xi1, #[[X:.*]]> {vector = 8 : i32} : tensor<64x32x!tile.ptr<f16>, #[[X]]>, <64x32xf16, #{{.*}}>
  cta.async_copy %q, %b mask %m : tensor<64x32xi1, #x> {vector = 8 : i32} : tensor<64x32x!tile.ptr<f16>, #x>, !cta.buffer<64x32xf16, #s>
  // CHECK: cta.async_copy %{{.*}}, %[[B]] {cache = #tile<cache cg>, vector = 4 : i32} : tensor
  cta.async_copy %q, %b {vector = 4 : i32, cache = #tile<cache cg>} : tensor<64x32x!tile.ptr<f16>, #x>, !cta.buffer<64x32xf16, #s>
  // CHECK: cta.async_commit
  cta.async_commit
  // CHECK: cta.async_wait 2
  cta.async_wait 2
  tile.return
}
