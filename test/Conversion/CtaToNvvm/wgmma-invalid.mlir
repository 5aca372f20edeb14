// wgmmas that are invalid, or that the target lacks.
// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @shape() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{'cta.wgmma' op has instructions of 12 columns; expected a multiple of 8 up to 256}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 12 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
  tile.return
}

// -----

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @accumulator_type() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #b>
  %z = arith.constant dense<0> : tensor<64x64xi32, #c>
  // expected-error @+1 {{'cta.wgmma' op is m64n64 of 'f16' and 'f16' into 'i32', which wgmma does not support}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xi32, #c>
  tile.return
}

// -----

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [4, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @sizes() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf32, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{'cta.wgmma' op is m64n64 of 'f16' and 'f32' into 'f32', which wgmma does not support}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf32, #b> -> tensor<64x64xf32, #c>
  tile.return
}

// -----

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @no_swizzle() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{'cta.wgmma' op operands or accumulator do not have a layout of m64n64}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
  tile.return
}

// -----

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [0, 8], [8, 0], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @accumulator_layout() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{'cta.wgmma' op operands or accumulator do not have a layout of m64n64}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
  tile.return
}

// -----

// With n contiguous only 16-bit types are multiplied.
#a = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 16], [4, 32], [8, 0], [16, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @bytes() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xi8, #a>
  %b = cta.alloc at 16384 : !cta.buffer<32x64xi8, #b>
  %z = arith.constant dense<0> : tensor<64x64xi32, #c>
  // expected-error @+1 {{'cta.wgmma' op operands or accumulator do not have a layout of m64n64}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x32xi8, #a>, !cta.buffer<32x64xi8, #b> -> tensor<64x64xi32, #c>
  tile.return
}

// -----

// 48 columns are computed, in parts of 32.
#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @part() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x48xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{'cta.wgmma' op operands or accumulator do not have a layout of m64n32}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 32 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x48xf16, #b> -> tensor<64x64xf32, #c>
  tile.return
}
