// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @rank() {
  %a = arith.constant dense<1.0> : tensor<16xf16>
  %b = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'tile.dot' op operands have ranks 1, 2 and 2; a dot takes matrices}}
  %d = tile.dot %a, %b, %c : tensor<16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @inner() {
  %a = arith.constant dense<1.0> : tensor<16x32xf16>
  %b = arith.constant dense<1.0> : tensor<64x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'tile.dot' op a is 16x32 and b is 64x16; the inner sizes 32 and 64 must agree}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<64x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @accumulator() {
  %a = arith.constant dense<1.0> : tensor<16x32xf16>
  %b = arith.constant dense<1.0> : tensor<32x64xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'tile.dot' op accumulator is 16x16 but the dot is 16x64}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x64xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @operands() {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'tile.dot' op cannot multiply 'f16' by 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @integers() {
  %a = arith.constant dense<1> : tensor<16x16xi32>
  // expected-error @below {{'tile.dot' op cannot multiply 'i32' by 'i32'}}
  %d = tile.dot %a, %a, %a : tensor<16x16xi32>, tensor<16x16xi32> -> tensor<16x16xi32>
  tile.return
}

// -----

tile.kernel @sum() {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  // expected-error @below {{'tile.dot' op cannot accumulate products of 'bf16' in 'bf16'}}
  %d = tile.dot %a, %a, %a : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xbf16>
  tile.return
}

// -----

tile.kernel @imprecise(%x: f16) {
  %a = tile.splat %x : f16 -> tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{'tile.dot' op has max_num_imprecise_acc = 32 for operands of 'f16'; it is for 8-bit floats}}
  %d = tile.dot %a, %a, %c {max_num_imprecise_acc = 32 : i32} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}
