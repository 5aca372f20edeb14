// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @one_scale() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0> : tensor<128x4xi8>
  %t = arith.constant dense<0.0> : tensor<128x8xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{has scales for one operand, or of two types; expected the same type for both}}
  %d = tile.dot %a, %b, %c scales %s, %t : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x8xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @types() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0.0> : tensor<64x128xf8E5M2>
  %s = arith.constant dense<0> : tensor<128x4xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{scales operands of 'i8' and 'f8E5M2'; expected 8-bit floats, or i8 for both}}
  %d = tile.dot %a, %b, %c scales %s, %s : tensor<128x64xi8>, tensor<64x128xf8E5M2> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>
  tile.return
}

// -----

tile.kernel @accumulator() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0> : tensor<128x4xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf16>
  // expected-error @below {{accumulates scaled products in 'f16'; expected f32}}
  %d = tile.dot %a, %b, %c scales %s, %s : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf16>, tensor<128x4xi8>, tensor<128x4xi8>
  tile.return
}

// -----

tile.kernel @groups() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0> : tensor<128x2xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{for 128 rows or columns of 128 elements along k; expected 128x4}}
  %d = tile.dot %a, %b, %c scales %s, %s : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x2xi8>, tensor<128x2xi8>
  tile.return
}

// -----

tile.kernel @engine() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0> : tensor<128x4xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{has 32 elements along k for each scale, but its engine #cta.fma takes 0}}
  %d = tile.dot %a, %b, %c scales %s, %s {engine = #cta.fma} : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>
  tile.return
}

// -----

tile.kernel @group_of_engine() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0> : tensor<128x4xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{has 32 elements along k for each scale, but its engine #cta.tcgen05<m128n128k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, scales = 16> takes 16}}
  %d = tile.dot %a, %b, %c scales %s, %s {engine = #cta.tcgen05<m128n128k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, scales = 16>} : tensor<128x64xi8>, tensor<64x128xi8> -> tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>
  tile.return
}

// -----

tile.kernel @rank() {
  %a = arith.constant dense<0> : tensor<64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{operands have ranks 1, 2 and 2; a dot takes matrices}}
  %d = tile.dot_scaled %a as e2m1, %b as e2m1, %c : (tensor<64xi8>, tensor<64x128xi8>, tensor<128x128xf32>) -> tensor<128x128xf32>
  tile.return
}

// -----

tile.kernel @format() {
  %a = arith.constant dense<0.0> : tensor<128x64xf16>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{reads 'f16' as bf16}}
  %d = tile.dot_scaled %a as bf16, %b as e4m3, %c : (tensor<128x64xf16>, tensor<64x128xi8>, tensor<128x128xf32>) -> tensor<128x128xf32>
  tile.return
}

// -----

tile.kernel @inner() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{a has 128 elements along k and b has 64; they must agree}}
  %d = tile.dot_scaled %a as e2m1, %b as e4m3, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>) -> tensor<128x128xf32>
  tile.return
}

// -----

tile.kernel @result() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %c = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-error @below {{but the dot is 128x128 of f32}}
  %d = tile.dot_scaled %a as e2m1, %b as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<64x128xf32>) -> tensor<64x128xf32>
  tile.return
}

// -----

tile.kernel @scales() {
  %a = arith.constant dense<0> : tensor<128x64xi8>
  %b = arith.constant dense<0> : tensor<64x128xi8>
  %s = arith.constant dense<0.0> : tensor<128x4xf16>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-error @below {{has scales of 'f16'; scales are i8 or f8E4M3FN}}
  %d = tile.dot_scaled %a scale %s as e2m1, %b as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x4xf16>) -> tensor<128x128xf32>
  tile.return
}
