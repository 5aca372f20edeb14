// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.kernel @engines
// CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m128n256k16, f16, f16, f32, warps = 8>}
// CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m64n16k16, bf16, bf16, f32, warps = 4, swapped>}
// CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m64n64k32, f8E4M3FN, f8E5M2, f32, warps = 4, a = threads, b = transposed>}
tile.kernel @engines() {
  %a = arith.constant dense<0.0> : tensor<128x64xf16>
  %b = arith.constant dense<0.0> : tensor<64x256xf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  %0 = tile.dot %a, %b, %c {engine = #cta.tcgen05<m128n256k16, f16, f16, f32, warps = 8>} : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %0 : tensor<128x256xf32>
  %e = arith.constant dense<0.0> : tensor<16x64xbf16>
  %f = arith.constant dense<0.0> : tensor<64x64xbf16>
  %g = arith.constant dense<0.0> : tensor<16x64xf32>
  %1 = tile.dot %e, %f, %g {engine = #cta.tcgen05<m64n16k16, bf16, bf16, f32, warps = 4, swapped>} : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
  tile.print "" %1 : tensor<16x64xf32>
  %h = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %i = arith.constant dense<0.0> : tensor<64x64xf8E5M2>
  %d = arith.constant dense<0.0> : tensor<64x64xf32>
  %2 = tile.dot %h, %i, %d {engine = #cta.tcgen05<m64n64k32, f8E4M3FN, f8E5M2, f32, warps = 4, a = threads, b = transposed>} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tile.print "" %2 : tensor<64x64xf32>
  %j = arith.constant dense<0> : tensor<128x64xi8>
  %k = arith.constant dense<0> : tensor<64x256xi8>
  %s = arith.constant dense<127> : tensor<128x4xi8>
  %t = arith.constant dense<127> : tensor<256x4xi8>
  // CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m128n256k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, a = threads, b = threads, scales = 32>}
  %3 = tile.dot %j, %k, %c scales %s, %t {engine = #cta.tcgen05<m128n256k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, a = threads, b = threads, scales = 32>} : tensor<128x64xi8>, tensor<64x256xi8> -> tensor<128x256xf32>, tensor<128x4xi8>, tensor<256x4xi8>
  tile.print "" %3 : tensor<128x256xf32>
  // CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m64n16k16, bf16, bf16, f32, warps = 4, b = threads, result_transposed>}
  %4 = tile.dot %e, %f, %g {engine = #cta.tcgen05<m64n16k16, bf16, bf16, f32, warps = 4, b = threads, result_transposed>} : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
  tile.print "" %4 : tensor<16x64xf32>
  // Rows that threads store are repeated.
  // CHECK: tile.dot {{.*}} {engine = #cta.tcgen05<m64n64k16, bf16, bf16, f32, warps = 4, a = threads>}
  %5 = tile.dot %e, %f, %g {engine = #cta.tcgen05<m64n64k16, bf16, bf16, f32, warps = 4, a = threads>} : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
  tile.print "" %5 : tensor<16x64xf32>
  tile.return
}

// -----

// expected-error @below {{a transposed result requires operands in shared memory, without scales, that are not swapped}}
func.func private @transposed() attributes {e = #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 4, a = registers, result_transposed>}

// -----

// expected-error @below {{tcgen05 has no instruction m96n64k16 of 'f16' and 'f16' into 'f32'}}
func.func private @shape() attributes {e = #cta.tcgen05<m96n64k16, f16, f16, f32, warps = 4>}

// -----

// expected-error @below {{tcgen05 has no instruction m128n64k16 of 'f16' and 'bf16' into 'f32'}}
func.func private @types() attributes {e = #cta.tcgen05<m128n64k16, f16, bf16, f32, warps = 4>}

// -----

// expected-error @below {{must be 4 times a power of two, but is 6}}
func.func private @warps() attributes {e = #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 6>}

// -----

// expected-error @below {{tcgen05 can read a from tensor memory only if a has 128 rows and no scales}}
func.func private @registers() attributes {e = #cta.tcgen05<m64n64k16, f16, f16, f32, warps = 4, a = registers>}

// -----

// expected-error @below {{tcgen05 reads b from shared memory, not from registers}}
func.func private @registers_b() attributes {e = #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 4, b = registers>}

// -----

// expected-error @below {{only dots whose operands are loaded by TMA can be swapped}}
func.func private @swapped() attributes {e = #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 4, b = threads, swapped>}

// -----

tile.kernel @rows() {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{has 64 rows and 64 columns, which its engine #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 4> cannot compute}}
  %d = tile.dot %x, %x, %c {engine = #cta.tcgen05<m128n64k16, f16, f16, f32, warps = 4>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

// expected-error @below {{tcgen05 has no instruction m64n64k64 of 'f4E2M1FN' and 'f4E2M1FN' into 'f32' with such scales}}
func.func private @scaled_rows() attributes {e = #cta.tcgen05<m64n64k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, scales = 32>}

// -----

// expected-error @below {{tcgen05 has no instruction m128n64k32 of 'f8E4M3FN' and 'f8E4M3FN' into 'f32' with such scales}}
func.func private @scaled_group() attributes {e = #cta.tcgen05<m128n64k32, f8E4M3FN, f8E4M3FN, f32, warps = 4, scales = 16>}

// -----

// expected-error @below {{dots with scales cannot be swapped}}
func.func private @scaled_swapped() attributes {e = #cta.tcgen05<m128n64k32, f8E4M3FN, f8E4M3FN, f32, warps = 4, scales = 32, swapped>}
