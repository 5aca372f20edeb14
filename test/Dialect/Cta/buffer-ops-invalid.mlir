// RUN: tile-opt %s --verify-diagnostics --split-input-file

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @slot(%i: i32) {
  %r = cta.alloc : !cta.buffer<64xf32, #s, slots = 3>
  // expected-error @below {{'cta.slot' op result is '!cta.buffer<64xf32, #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>, slots = 2>' but a slot of the buffer is}}
  %t = cta.slot %r[%i] : !cta.buffer<64xf32, #s, slots = 3> -> !cta.buffer<64xf32, #s, slots = 2>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @slots() {
  %r = cta.alloc : !cta.buffer<64xf32, #s, slots = 3>
  // expected-error @below {{'cta.local_load' op buffer has 3 slots; choose one with cta.slot}}
  %v = cta.local_load %r : !cta.buffer<64xf32, #s, slots = 3> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @element() {
  %v = arith.constant dense<0.0> : tensor<64xf16, #x>
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.local_store' op tensor is 'tensor<64xf16>' but the buffer holds 'tensor<64xf32>'}}
  cta.local_store %v, %b : tensor<64xf16, #x>, !cta.buffer<64xf32, #s>
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @start_rank() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.local_load' op start has 2 coordinates, the tensor has rank 1 and the buffer has rank 1; all three must agree}}
  %v = cta.local_load %b at [0, 0] : !cta.buffer<64xf32, #s> -> tensor<32xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @start_multiple() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.local_load' op start is 16 along dimension 0 but must be a multiple of 32 to select 32 of 64 elements}}
  %v = cta.local_load %b at [16] : !cta.buffer<64xf32, #s> -> tensor<32xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @start_beyond() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.local_load' op start is 64 along dimension 0 but must be a multiple of 32 to select 32 of 64 elements}}
  %v = cta.local_load %b at [64] : !cta.buffer<64xf32, #s> -> tensor<32xf32, #x>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @transposed_vector() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.trans_buffer' op buffer has rank 1 but must be a matrix}}
  %t = cta.trans_buffer %b : !cta.buffer<64xf32, #s> -> !cta.buffer<64xf32, #s>
  tile.return
}

// -----

#s = #cta.layout<[2, 4], offset = [[0, 1], [0, 2], [1, 0]]>
#t = #cta.layout<[4, 2], offset = [[0, 1], [1, 0], [2, 0]]>

tile.kernel @transposed_layout() {
  %b = cta.alloc : !cta.buffer<2x4xf32, #s>
  // expected-error @below {{'cta.trans_buffer' op result is '!cta.buffer<4x2xf32, #cta.layout<[4, 2], offset = [[0, 1], [1, 0], [2, 0]]>>' but the transposed buffer is '!cta.buffer<4x2xf32, #cta.layout<[4, 2], offset = [[1, 0], [2, 0], [0, 1]]>>'}}
  %t = cta.trans_buffer %b : !cta.buffer<2x4xf32, #s> -> !cta.buffer<4x2xf32, #t>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @no_layout() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.local_load' op tensor has no layout}}
  %v = cta.local_load %b : !cta.buffer<64xf32, #s> -> tensor<64xf32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

// expected-error @below {{not a layout of a buffer}}
func.func private @distributed(!cta.buffer<64xf32, #x>)

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

// expected-error @below {{layout is for shape [64] but the buffer is [32]}}
func.func private @shape(!cta.buffer<32xf32, #s>)

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

// expected-error @below {{buffer has 0 slots but needs at least 1}}
func.func private @none(!cta.buffer<64xf32, #s, slots = 0>)

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @gather_axis() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{'cta.local_gather' op axis is 1 but must be from 0 to 0}}
  %y = cta.local_gather %b[%i] {axis = 1 : i32} : !cta.buffer<64xf32, #s>, tensor<64xi32, #x> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @gather_slots() {
  %b = cta.alloc : !cta.buffer<64xf32, #s, slots = 2>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{'cta.local_gather' op buffer has 2 slots; choose one with cta.slot}}
  %y = cta.local_gather %b[%i] {axis = 0 : i32} : !cta.buffer<64xf32, #s, slots = 2>, tensor<64xi32, #x> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[32, 2], offset = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

tile.kernel @gather_shape() {
  %b = cta.alloc : !cta.buffer<32x2xf32, #s>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{'cta.local_gather' op indices have shape [64] but the buffer has [32, 2]; only axis 0 may differ}}
  %y = cta.local_gather %b[%i] {axis = 0 : i32} : !cta.buffer<32x2xf32, #s>, tensor<64xi32, #x> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @gather_result() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{'cta.local_gather' op result is}}
  %y = cta.local_gather %b[%i] {axis = 0 : i32} : !cta.buffer<64xf32, #s>, tensor<64xi32, #x> -> tensor<64xf16, #x>
  tile.return
}

// -----

// 24 rows of a matrix that is stored column by column.
#s = #cta.layout<[32, 4], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2]]>

// expected-error @below {{buffer is [24, 4]; only the slowest dimension of its layout may have a size that is not a power of two}}
func.func private @fast(!cta.buffer<24x4xf32, #s>)

// -----

#s = #cta.layout<[32, 4], offset = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// expected-error @below {{buffer is [0, 4]; all sizes must be at least 1}}
func.func private @empty(!cta.buffer<0x4xf32, #s>)

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @count_slots() {
  %b = cta.alloc : !cta.buffer<64xi32, #s, slots = 2>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{'cta.local_count' op buffer has 2 slots; choose one with cta.slot}}
  cta.local_count %i, %b : tensor<64xi32, #x>, !cta.buffer<64xi32, #s, slots = 2>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @count_type() {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %i = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{which is not a vector of i32}}
  cta.local_count %i, %b : tensor<64xi32, #x>, !cta.buffer<64xf32, #s>
  tile.return
}

// -----

tile.kernel @no_slots(%i: i32) {
  // expected-error @below {{'cta.next_slot' op attribute 'slots' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %j = cta.next_slot %i of 0
  tile.return
}
