// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{tensor memory holds f32 or i32, not 'f16'}}
func.func private @element(!cta.tensor_memory<128x64xf16>)

// -----

// expected-error @below {{a matrix of at least 64 rows and 8 columns, both powers of two}}
func.func private @shape(!cta.tensor_memory<96x64xf32>)

// -----

// expected-error @below {{takes 1024 columns of tensor memory, which has 512}}
func.func private @size(!cta.tensor_memory<256x512xf32>)

// -----

#s = #cta.layout<[4], offset = [[1], [2]]>
tile.kernel @open() {
  %place = cta.alloc : !cta.buffer<4xi32, #s>
  // expected-error @below {{allocates 48 columns; expected a power of two from 32 to 512}}
  %base = cta.tensor_memory_open 48 through %place : !cta.buffer<4xi32, #s>
  tile.return
}

// -----

#row = #cta.layout<[128, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
tile.kernel @type() {
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32>
  // expected-error @below {{but the memory is '!cta.tensor_memory<128x64xf32>'}}
  %x = cta.tensor_memory_load %t : !cta.tensor_memory<128x64xf32> -> tensor<128x64xi32, #row>
  tile.return
}

// -----

#other = #cta.layout<[128, 64], register = [[0, 2], [0, 1], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
tile.kernel @layout() {
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32>
  %x = arith.constant dense<0.0> : tensor<128x64xf32, #other>
  // expected-error @below {{needs the register layout of '!cta.tensor_memory<128x64xf32>'}}
  cta.tensor_memory_store %x, %t : tensor<128x64xf32, #other>, !cta.tensor_memory<128x64xf32>
  tile.return
}

// -----

#a = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
tile.kernel @slots() {
  %a = cta.alloc : !cta.buffer<64x64xf16, #a, slots = 2>
  %b = cta.alloc : !cta.buffer<64x64xf16, #a>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<64x64xf32>
  // expected-error @below {{multiplies matrices of one slot each}}
  cta.tcgen05_mma %a, %b, %t {m = 64 : i32, n = 64 : i32} : !cta.buffer<64x64xf16, #a, slots = 2>, !cta.buffer<64x64xf16, #a>, !cta.tensor_memory<64x64xf32>
  tile.return
}

// -----

#a = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
tile.kernel @sizes() {
  %a = cta.alloc : !cta.buffer<64x64xf16, #a>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32>
  // expected-error @below {{a is 64x64, b 64x64 and acc 128x64; their sizes must agree}}
  cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !cta.buffer<64x64xf16, #a>, !cta.buffer<64x64xf16, #a>, !cta.tensor_memory<128x64xf32>
  tile.return
}

// -----

#a = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
tile.kernel @instruction() {
  %a = cta.alloc : !cta.buffer<64x64xf16, #a>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<64x64xf32>
  // expected-error @below {{has no instruction of 32 rows and 64 columns for 'f16' times 'f16'}}
  cta.tcgen05_mma %a, %a, %t {m = 32 : i32, n = 64 : i32} : !cta.buffer<64x64xf16, #a>, !cta.buffer<64x64xf16, #a>, !cta.tensor_memory<64x64xf32>
  tile.return
}

// -----

// expected-error @below {{has 0 slots; expected 1 to 512}}
func.func private @none(!cta.tensor_memory<128x64xf32, slots = 0>)

// -----

#row = #cta.layout<[128, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
tile.kernel @all() {
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32, slots = 2>
  // expected-error @below {{accesses 2 slots; choose one with cta.tensor_memory_slot}}
  %x = cta.tensor_memory_load %t : !cta.tensor_memory<128x64xf32, slots = 2> -> tensor<128x64xf32, #row>
  tile.return
}

// -----

tile.kernel @slot(%i: i32) {
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32, slots = 2>
  // expected-error @below {{is of type '!cta.tensor_memory<64x64xf32>', but a slot of '!cta.tensor_memory<128x64xf32, slots = 2>' is}}
  %s = cta.tensor_memory_slot %t[%i : i32] : !cta.tensor_memory<128x64xf32, slots = 2> -> !cta.tensor_memory<64x64xf32>
  tile.return
}
