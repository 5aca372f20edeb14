// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @addptr(%base: !tile.ptr<f32>) {
  %offset = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.addptr' op offset is 'tensor<128xi32>' but the pointer is '!tile.ptr<f32>'; their shapes must agree}}
  %q = tile.addptr %base, %offset : !tile.ptr<f32>, tensor<128xi32>
  tile.return
}

// -----

tile.kernel @addptr_shape(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %offset = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.addptr' op offset is 'tensor<128xi32>' but the pointer is 'tensor<64x!tile.ptr<f32>>'; their shapes must agree}}
  %q = tile.addptr %p, %offset : tensor<64x!tile.ptr<f32>>, tensor<128xi32>
  tile.return
}

// -----

tile.kernel @other(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error @below {{'tile.load' op has a value for masked-out elements but no mask}}
  %x = tile.load %p other %o : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @pointer(%p: !tile.ptr<!tile.ptr<f32>>) {
  // expected-error @below {{'tile.load' op result #0 must be number or tensor of numbers, but got '!tile.ptr<f32>'}}
  %x = tile.load %p : !tile.ptr<!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_cache(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.load' op cache operator 'wb' is for stores; loads take ca, cg, cs or cv}}
  %x = tile.load %p {cache = #tile<cache wb>} : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @store_cache(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.store' op cache operator 'ca' is for loads; stores take wb, cg, cs or wt}}
  tile.store %p, %x {cache = #tile<cache ca>} : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @load_vector(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.load' op vector is 3 but must be a power of two from 1 to 16}}
  %x = tile.load %p {vector = 3 : i32} : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @store_vector(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.store' op vector is 32 but must be a power of two from 1 to 16}}
  tile.store %p, %x {vector = 32 : i32} : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @desc_rank(%p: !tile.ptr<f16>, %n: i32, %ld: i64) {
  // expected-error @below {{'tile.make_desc' op has 1 sizes and 1 strides but the block has rank 2}}
  %d = tile.make_desc %p, [%n], [%ld] : !tile.ptr<f16> -> !tile.desc<64x32xf16>
  tile.return
}

// -----

tile.kernel @desc_element(%p: !tile.ptr<f32>, %n: i32, %ld: i64) {
  // expected-error @below {{'tile.make_desc' op base points to 'f32' but the descriptor's elements are 'f16'}}
  %d = tile.make_desc %p, [%n], [%ld] : !tile.ptr<f32> -> !tile.desc<64xf16>
  tile.return
}

// -----

tile.kernel @desc_condition(%p: !tile.ptr<f16>, %n: i32, %ld: i64, %c: i1) {
  // expected-error @below {{'tile.make_desc' op has a condition but no memory for a tensor map}}
  %d = tile.make_desc %p, [%n], [%ld] if %c : !tile.ptr<f16> -> !tile.desc<64xf16>
  tile.return
}

// -----

tile.kernel @desc_bytes(%p: !tile.ptr<f16>, %n: i32, %ld: i64) {
  // expected-error @below {{'tile.make_desc' op innermost block dimension has 8 bytes; TMA needs at least 16}}
  %d = tile.make_desc %p, [%n], [%ld] : !tile.ptr<f16> -> !tile.desc<4xf16>
  tile.return
}

// -----

tile.kernel @desc_load_offsets(%d: !tile.desc<64x32xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op has 1 offsets but the descriptor has rank 2}}
  %x = tile.desc_load %d[%i] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
  tile.return
}

// -----

tile.kernel @desc_load_block(%d: !tile.desc<64x32xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op block is 'tensor<32x64xf16>' but the descriptor is '!tile.desc<64x32xf16>'}}
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x32xf16> -> tensor<32x64xf16>
  tile.return
}

// -----

tile.kernel @desc_store_offsets(%d: !tile.desc<64x32xf16>, %i: i32) {
  %x = arith.constant dense<1.0> : tensor<64x32xf16>
  // expected-error @below {{'tile.desc_store' op has 3 offsets but the descriptor has rank 2}}
  tile.desc_store %d[%i, %i, %i], %x : !tile.desc<64x32xf16>, tensor<64x32xf16>
  tile.return
}

// -----

tile.kernel @desc_store_block(%d: !tile.desc<64x32xf16>, %i: i32) {
  %x = arith.constant dense<1.0> : tensor<64x32xf32>
  // expected-error @below {{'tile.desc_store' op block is 'tensor<64x32xf32>' but the descriptor is '!tile.desc<64x32xf16>'}}
  tile.desc_store %d[%i, %i], %x : !tile.desc<64x32xf16>, tensor<64x32xf32>
  tile.return
}

// -----

// A block may be rounded up to powers of two, but not further.
tile.kernel @desc_load_padding(%d: !tile.desc<64x160xf16>, %i: i32) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x256xf16>
  // expected-error @below {{'tile.desc_load' op block is 'tensor<64x512xf16>' but the descriptor is '!tile.desc<64x160xf16>'}}
  %y = tile.desc_load %d[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x512xf16>
  tile.return
}

// -----

tile.kernel @load_mask(%p: !tile.ptr<f32>) {
  %m = arith.constant dense<true> : tensor<4xi1>
  // expected-error @below {{'tile.load' op failed to verify that mask has the shape of the pointer}}
  %x = "tile.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!tile.ptr<f32>, tensor<4xi1>) -> f32
  tile.return
}

// -----

tile.kernel @store_value(%p: !tile.ptr<f32>, %x: f16) {
  // expected-error @below {{'tile.store' op failed to verify that value has the pointee type}}
  "tile.store"(%p, %x) : (!tile.ptr<f32>, f16) -> ()
  tile.return
}

// -----

tile.kernel @map_of_cubes(%place: !tile.ptr<i8>, %base: !tile.ptr<f16>, %n: i32) {
  // expected-error @below {{'tile.create_tensor_map' op has 3 sizes and a block of rank 3; expected a vector or matrix}}
  tile.create_tensor_map %place, %base, [%n, %n, %n] {block = array<i64: 4, 4, 32>} : !tile.ptr<i8>, !tile.ptr<f16>
  tile.return
}

// -----

tile.kernel @exclusive_or(%d: !tile.desc<8x16xf32>, %i: i32) {
  %x = arith.constant dense<1.0> : tensor<8x16xf32>
  // expected-error @below {{'tile.desc_store' op cannot reduce 'f32' by 'xor'}}
  tile.desc_store %d[%i, %i], %x reduce xor : !tile.desc<8x16xf32>, tensor<8x16xf32>
  tile.return
}

// -----

tile.kernel @exchange(%d: !tile.desc<8x16xi32>, %i: i32) {
  %x = arith.constant dense<1> : tensor<8x16xi32>
  // expected-error @below {{'tile.desc_store' op cannot reduce 'i32' by 'xchg'}}
  tile.desc_store %d[%i, %i], %x reduce xchg : !tile.desc<8x16xi32>, tensor<8x16xi32>
  tile.return
}

// -----

tile.kernel @tensor_map_of_a_huge_block(%place: !tile.ptr<i8>, %p: !tile.ptr<f16>, %n: i32) {
  // expected-error @+1 {{has a block with a size of 9223372036854775807; expected 1 to 1048576 elements}}
  tile.create_tensor_map %place, %p, [%n, %n] {block = array<i64: 64, 9223372036854775807>} : !tile.ptr<i8>, !tile.ptr<f16>
  tile.return
}
