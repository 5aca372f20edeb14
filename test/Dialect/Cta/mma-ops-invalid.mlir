// RUN: tile-opt %s --verify-diagnostics --split-input-file

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @instruction() {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %b = arith.constant dense<0.0> : tensor<16x8xf16, #c>
  // expected-error @below {{'cta.mma_sync' op instruction shape has 2 entries; it is m, n, k}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8>} : tensor<16x16xf16, #a>, tensor<16x8xf16, #c> -> tensor<16x8xf32, #c>
  tile.return
}

// -----

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @no_layout() {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{'cta.mma_sync' op operands must have layouts}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #a>, tensor<16x8xf16> -> tensor<16x8xf32>
  tile.return
}

// -----

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[8, 8], register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @sizes() {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %b = arith.constant dense<1.0> : tensor<8x8xf16, #b>
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  // expected-error @below {{'cta.mma_sync' op a is 16x16, b is 8x8 and acc is 16x8; their sizes must agree}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #a>, tensor<8x8xf16, #b> -> tensor<16x8xf32, #c>
  tile.return
}

// -----

#s = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>
#v = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

tile.kernel @rank() {
  %x = cta.alloc : !cta.buffer<16x16xf32, #s>
  %z = arith.constant dense<0.0> : tensor<32xf32, #v>
  // expected-error @below {{'cta.fma_dot' op operands have ranks 2, 2 and 1; all must be matrices}}
  %e = cta.fma_dot %x, %x, %z : !cta.buffer<16x16xf32, #s>, !cta.buffer<16x16xf32, #s> -> tensor<32xf32, #v>
  tile.return
}

// -----

#s = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>

tile.kernel @accumulator() {
  %x = cta.alloc : !cta.buffer<16x16xf32, #s>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'cta.fma_dot' op accumulator must have a layout}}
  %e = cta.fma_dot %x, %x, %z : !cta.buffer<16x16xf32, #s>, !cta.buffer<16x16xf32, #s> -> tensor<16x16xf32>
  tile.return
}

// -----

#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>

tile.kernel @warp_groups_accumulator() {
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{'cta.wgmma' op accumulator must have a layout}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xf32>
  tile.return
}

// -----

#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>

tile.kernel @no_columns() {
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{'cta.wgmma' op has instructions of 0 columns; expected a multiple of 8 up to 256}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 0 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xf32>
  tile.return
}

// -----

#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @warp_groups_slots() {
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa, slots = 2>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  // expected-error @below {{'cta.wgmma' op operand has 2 slots; choose one with cta.slot}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #wa, slots = 2>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @warp_groups_sizes() {
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  // expected-error @below {{'cta.wgmma' op a is 64x16, b is 64x16 and acc is 64x64; their sizes must agree}}
  %d, %d_t = cta.wgmma %a, %a, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<64x16xf16, #wa> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

#wb = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @warp_groups_registers() {
  %a = arith.constant dense<1.0> : tensor<64x16xf16>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  // expected-error @below {{'cta.wgmma' op left operand in registers must have a layout}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : tensor<64x16xf16>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @wait_columns() {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  %z_t = cta.token_none
  // expected-error @below {{'cta.await' op awaits 65 columns of 'tensor<64x64xf32>'}}
  %d = cta.await %z after %z_t {columns = 65 : i32} : tensor<64x64xf32, #wc>
  tile.return
}

// -----

// The first 48 of 64 columns are computed, not the first 32.
#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#wn = #cta.layout<[16, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @padded() {
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %b = cta.alloc : !cta.buffer<16x48xf16, #wb>
  %n = cta.alloc : !cta.buffer<16x32xf16, #wn>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 48 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x48xf16, #wb> -> tensor<64x64xf32, #wc>
  // expected-error @below {{'cta.wgmma' op a is 64x16, b is 16x32 and acc is 64x64; their sizes must agree}}
  %e, %e_t = cta.wgmma %a, %n, %z {n = 32 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x32xf16, #wn> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

tile.kernel @undefined_bytes() {
  // expected-error @below {{'cta.undefined' op result #0 must be tensor of known sizes of 32-bit float or 32-bit signless integer values}}
  %u = cta.undefined : tensor<64x64xi8>
  tile.return
}

// -----

// wgmma has accumulators of three types.
#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @sums() {
  %z = arith.constant dense<0> : tensor<64x64xi64, #wc>
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  // expected-error @below {{'cta.wgmma' op operand #2 must be tensor of known sizes of 16-bit float or 32-bit float or 32-bit signless integer values}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xi64, #wc>
  tile.return
}

// -----

#wa = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 16], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[32, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [16, 4], [0, 8], [0, 16], [0, 32]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @promoted_steps() {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  %a = cta.alloc : !cta.buffer<64x32xf8E4M3FN, #wa>
  %b = cta.alloc : !cta.buffer<32x64xf8E4M3FN, #wb>
  // expected-error @below {{'cta.wgmma' op promotes accumulators of 48 elements along k; expected a multiple of 32}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32, promote = 48 : i32} : !cta.buffer<64x32xf8E4M3FN, #wa>, !cta.buffer<32x64xf8E4M3FN, #wb> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @promoted_types() {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  %a = cta.alloc : !cta.buffer<64x16xf16, #wa>
  %b = cta.alloc : !cta.buffer<16x64xf16, #wb>
  // expected-error @below {{'cta.wgmma' op promotes accumulators; this requires 8-bit floats, and no condition for adding to acc}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32, promote = 32 : i32} : !cta.buffer<64x16xf16, #wa>, !cta.buffer<16x64xf16, #wb> -> tensor<64x64xf32, #wc>
  tile.return
}

// -----

#a = #cta.layout<[16, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[32, 8], register = [[1, 0], [2, 0], [16, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#s = #cta.layout<[16, 1], register = [], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @one_scale() attributes {num_warps = 1 : i32} {
  %a = arith.constant dense<0.0> : tensor<16x32xf8E4M3FN, #a>
  %b = arith.constant dense<0.0> : tensor<32x8xf8E4M3FN, #b>
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %s = arith.constant dense<127> : tensor<16x1xi8, #s>
  // expected-error @below {{has scales for one operand; expected scales for both or for none}}
  %d = "cta.mma_sync"(%a, %b, %c, %s) <{shape = array<i32: 16, 8, 32>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<16x32xf8E4M3FN, #a>, tensor<32x8xf8E4M3FN, #b>, tensor<16x8xf32, #c>, tensor<16x1xi8, #s>) -> tensor<16x8xf32, #c>
  tile.return
}
