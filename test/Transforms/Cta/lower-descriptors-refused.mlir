// Accesses that TMA cannot copy, or that no descriptor describes.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(cta-lower-descriptors))'

#x = #cta.layout<[4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
tile.kernel @odd_load(%d: !tile.desc<3x3xf32> {tile.tensor_map = #tile.tensor_map<base = "d">}, %i: i32) {
  // expected-error @below {{moves blocks of 'tensor<3x3xf32>'; TMA needs vectors or matrices with rows of at least 16 bytes}}
  %x = tile.desc_load %d[%i, %i] : !tile.desc<3x3xf32> -> tensor<4x4xf32, #x>
  tile.print "" %x : tensor<4x4xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
tile.kernel @odd_store(%d: !tile.desc<3x3xf32> {tile.tensor_map = #tile.tensor_map<base = "d">}, %i: i32) {
  %x = arith.constant dense<0.0> : tensor<4x4xf32, #x>
  // expected-error @below {{moves blocks of 'tensor<3x3xf32>'; TMA needs vectors or matrices with rows of at least 16 bytes}}
  tile.desc_store %d[%i, %i], %x : !tile.desc<3x3xf32>, tensor<4x4xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
tile.kernel @no_map(%d: !tile.desc<4x4xf32>, %i: i32) {
  // expected-error @below {{uses argument 0, a descriptor without tile.tensor_map}}
  %x = tile.desc_load %d[%i, %i] : !tile.desc<4x4xf32> -> tensor<4x4xf32, #x>
  tile.print "" %x : tensor<4x4xf32, #x>
  tile.return
}
