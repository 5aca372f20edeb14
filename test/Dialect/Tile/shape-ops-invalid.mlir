// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @reshape(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x2xf32>
  // expected-error @below {{'tile.reshape' op operand has 128 elements but the result has 64}}
  %y = tile.reshape %x : tensor<64x2xf32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @reshape_element(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x2xf32>
  // expected-error @below {{'tile.reshape' op operand has elements of type 'f32' but the result of type 'i32'}}
  %y = tile.reshape %x : tensor<64x2xf32> -> tensor<128xi32>
  tile.return
}

// -----

tile.kernel @broadcast_rank(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'tile.broadcast' op operand has rank 1 but the result has rank 2}}
  %y = tile.broadcast %x : tensor<64xf32> -> tensor<64x32xf32>
  tile.return
}

// -----

tile.kernel @broadcast_size(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x2xf32>
  // expected-error @below {{'tile.broadcast' op dimension 1 has size 2; it must be 1 or the result's 32}}
  %y = tile.broadcast %x : tensor<64x2xf32> -> tensor<64x32xf32>
  tile.return
}

// -----

tile.kernel @broadcast_element(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x1xf32>
  // expected-error @below {{'tile.broadcast' op operand has elements of type 'f32' but the result of type 'f16'}}
  %y = tile.broadcast %x : tensor<64x1xf32> -> tensor<64x32xf16>
  tile.return
}

// -----

tile.kernel @expand_axis(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'tile.expand_dims' op axis is 2 but must be from 0 to 1}}
  %y = tile.expand_dims %x {axis = 2 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  tile.return
}

// -----

tile.kernel @expand_negative_axis(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'tile.expand_dims' op axis is -1 but must be from 0 to 1}}
  %y = tile.expand_dims %x {axis = -1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  tile.return
}

// -----

tile.kernel @expand_shape(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'tile.expand_dims' op result has shape [64, 1] but axis 0 gives [1, 64]}}
  %y = tile.expand_dims %x {axis = 0 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  tile.return
}

// -----

tile.kernel @expand_element(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'tile.expand_dims' op operand has elements of type 'f32' but the result of type 'f64'}}
  %y = tile.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf64>
  tile.return
}

// -----

tile.kernel @trans_order(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{'tile.trans' op order [1, 1] is not a permutation of the 2 dimensions}}
  %y = tile.trans %x {order = array<i32: 1, 1>} : tensor<64x32xf32> -> tensor<32x64xf32>
  tile.return
}

// -----

tile.kernel @trans_rank(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{'tile.trans' op operand has rank 2 but the result has rank 1}}
  %y = tile.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<2048xf32>
  tile.return
}

// -----

tile.kernel @trans_shape(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{'tile.trans' op result dimension 0 has size 64 but operand dimension 1 has size 32}}
  %y = tile.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<64x32xf32>
  tile.return
}

// -----

tile.kernel @trans_element(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64x32xf32>
  // expected-error @below {{'tile.trans' op operand has elements of type 'f32' but the result of type 'i32'}}
  %y = tile.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xi32>
  tile.return
}
