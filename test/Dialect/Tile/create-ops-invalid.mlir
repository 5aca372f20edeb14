// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @rank() {
  // expected-error @below {{'tile.arange' op result has rank 2; a range has rank 1}}
  %r = tile.arange 0 to 64 : tensor<8x8xi32>
  tile.return
}

// -----

tile.kernel @empty() {
  // expected-error @below {{'tile.arange' op range 4 to 0 has -4 elements; there must be at least one}}
  %r = tile.arange 4 to 0 : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @count() {
  // expected-error @below {{'tile.arange' op range 0 to 64 has 64 elements but the result type has 128}}
  %r = tile.arange 0 to 64 : tensor<128xi32>
  tile.return
}

// -----

tile.kernel @splat(%x: f32) {
  // expected-error @below {{'tile.splat' op scalar is 'f32' but the result's elements are 'f16'}}
  %t = tile.splat %x : f32 -> tensor<8xf16>
  tile.return
}
