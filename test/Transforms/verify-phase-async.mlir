// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=async}))'

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @good(%p: !tile.ptr<f32>) {
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #x>
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  cta.async_copy %q, %b {vector = 1 : i32} : tensor<64x!tile.ptr<f32>, #x>, !cta.buffer<64xf32, #s>
  cta.async_commit
  cta.async_wait 0
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @no_wait(%p: !tile.ptr<f32>, %c: i1) {
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #x>
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  scf.if %c {
    // expected-error @below {{phase async: no cta.async_commit and cta.async_wait 0 follow the copy in its block}}
    cta.async_copy %q, %b {vector = 1 : i32} : tensor<64x!tile.ptr<f32>, #x>, !cta.buffer<64xf32, #s>
    cta.async_commit
    cta.async_wait 1
  }
  cta.async_wait 0
  tile.return
}

// -----

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>

tile.kernel @dot() {
  %v = arith.constant dense<0.0> : tensor<32x32xf32, #x>
  // expected-error @below {{phase async: 'tile.dot' does not belong to this phase}}
  %d = tile.dot %v, %v, %v : tensor<32x32xf32, #x>, tensor<32x32xf32, #x> -> tensor<32x32xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @descriptor(%d: !tile.desc<64xf32>, %i: i32) {
  // expected-error @below {{phase async: 'tile.desc_load' does not belong to this phase}}
  %v = tile.desc_load %d[%i] : !tile.desc<64xf32> -> tensor<64xf32, #x>
  tile.return
}
