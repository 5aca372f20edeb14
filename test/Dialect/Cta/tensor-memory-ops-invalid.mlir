// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{tensor memory can hold only elements that tcgen05 multiplies or accumulates, not 'f64'}}
func.func private @element(!cta.tensor_memory<128x64xf64>)

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
  // expected-error @below {{operands and accumulator must be matrices of one slot each}}
  cta.tcgen05_mma %a, %b, %t {m = 64 : i32, n = 64 : i32} : !cta.buffer<64x64xf16, #a, slots = 2>, !cta.buffer<64x64xf16, #a>, !cta.tensor_memory<64x64xf32>
  tile.return
}

// -----

#a = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
tile.kernel @sizes() {
  %a = cta.alloc : !cta.buffer<64x64xf16, #a>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xf32>
  // expected-error @below {{a is 64x64, b is 64x64 and acc is 128x64; their sizes must agree}}
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

// -----

#wa = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#wb = #cta.layout<[64, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
#ws = #cta.layout<[128, 4], offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
#wrong = #cta.layout<[128, 4], offset = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]]>
tile.kernel @order_of_scales() {
  %a = cta.alloc : !cta.buffer<128x64xi8, #wa>
  %b = cta.alloc : !cta.buffer<64x128xi8, #wb>
  %s = cta.alloc : !cta.buffer<128x4xi8, #ws>
  %r = cta.alloc : !cta.buffer<128x4xi8, #wrong>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x128xf32>
  %m = cta.tensor_memory_alloc : !cta.tensor_memory<128x8xi32>
  // expected-error @below {{needs scales of 128 lines in the layout of tcgen05.cp}}
  cta.tcgen05_mma %a, %b, %t scales %s, %r in %m {m = 128 : i32, n = 128 : i32} : !cta.buffer<128x64xi8, #wa>, !cta.buffer<64x128xi8, #wb>, !cta.tensor_memory<128x128xf32>, !cta.buffer<128x4xi8, #ws>, !cta.buffer<128x4xi8, #wrong>, !cta.tensor_memory<128x8xi32>
  tile.return
}

// -----

#wide = #cta.layout<[128, 8], offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]]>
#wa = #cta.layout<[128, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [1, 16], [2, 32], [4, 64], [8, 0], [16, 0], [32, 0], [64, 0]]>
#wb = #cta.layout<[128, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0], [16, 1], [32, 2], [64, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
tile.kernel @memory_of_scales() {
  %a = cta.alloc : !cta.buffer<128x128xi8, #wa>
  %b = cta.alloc : !cta.buffer<128x128xi8, #wb>
  %s = cta.alloc : !cta.buffer<128x8xi8, #wide>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x128xf32>
  %m = cta.tensor_memory_alloc : !cta.tensor_memory<128x8xi32>
  // expected-error @below {{needs 16 columns for scales, not '!cta.tensor_memory<128x8xi32>'}}
  cta.tcgen05_mma %a, %b, %t scales %s, %s in %m {m = 128 : i32, n = 128 : i32} : !cta.buffer<128x128xi8, #wa>, !cta.buffer<128x128xi8, #wb>, !cta.tensor_memory<128x128xf32>, !cta.buffer<128x8xi8, #wide>, !cta.buffer<128x8xi8, #wide>, !cta.tensor_memory<128x8xi32>
  tile.return
}

// -----

#wa = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#wb = #cta.layout<[64, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
#ws = #cta.layout<[128, 4], offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
tile.kernel @some_scales() {
  %a = cta.alloc : !cta.buffer<128x64xi8, #wa>
  %b = cta.alloc : !cta.buffer<64x128xi8, #wb>
  %s = cta.alloc : !cta.buffer<128x4xi8, #ws>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x128xf32>
  // expected-error @below {{has only some of the scales of a, the scales of b and their tensor memory; expected all or none}}
  "cta.tcgen05_mma"(%a, %b, %t, %s) <{m = 128 : i32, n = 128 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>}> : (!cta.buffer<128x64xi8, #wa>, !cta.buffer<64x128xi8, #wb>, !cta.tensor_memory<128x128xf32>, !cta.buffer<128x4xi8, #ws>) -> ()
  tile.return
}

// -----

// expected-error @below {{an operand in tensor memory must have at least 128 rows and 8 columns of 32 bits, not 64x64x'f16'}}
func.func private @rows_of_operand(!cta.tensor_memory<64x64xf16>)

// -----

#wb = #cta.layout<[64, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
#ws = #cta.layout<[128, 4], offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
tile.kernel @scales_of_tensor_memory() {
  %a = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xi8>
  %b = cta.alloc : !cta.buffer<64x128xi8, #wb>
  %s = cta.alloc : !cta.buffer<128x4xi8, #ws>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x128xf32>
  %m = cta.tensor_memory_alloc : !cta.tensor_memory<128x8xi32>
  // expected-error @below {{has scales, but a is in tensor memory; expected a buffer}}
  cta.tcgen05_mma %a, %b, %t scales %s, %s in %m {m = 128 : i32, n = 128 : i32} : !cta.tensor_memory<128x64xi8>, !cta.buffer<64x128xi8, #wb>, !cta.tensor_memory<128x128xf32>, !cta.buffer<128x4xi8, #ws>, !cta.buffer<128x4xi8, #ws>, !cta.tensor_memory<128x8xi32>
  tile.return
}
