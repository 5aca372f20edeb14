// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @nothing() {
  // expected-error @below {{'tile.reduce' op has no operand}}
  "tile.reduce"() <{axis = 0 : i32}> ({
    tile.yield
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @results() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.reduce' op has 1 operands but 2 results}}
  %s, %t = tile.reduce %x {axis = 0 : i32} : tensor<64xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @axis() {
  %x = arith.constant dense<1.0> : tensor<64x32xf32>
  // expected-error @below {{'tile.reduce' op axis is 2 but must be from 0 to 1}}
  %s = tile.reduce %x {axis = 2 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @shapes() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  %y = arith.constant dense<1.0> : tensor<32xf32>
  // expected-error @below {{'tile.reduce' op operands have shapes [64] and [32]; they must agree}}
  %s, %t = tile.reduce %x, %y {axis = 0 : i32} : tensor<64xf32>, tensor<32xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  tile.return
}

// -----

tile.kernel @result_shape() {
  %x = arith.constant dense<1.0> : tensor<64x32xf32>
  // expected-error @below {{'tile.reduce' op result is 'tensor<32xf32>' but reducing axis 1 gives shape [64]}}
  %s = tile.reduce %x {axis = 1 : i32} : tensor<64x32xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @result_element() {
  %x = arith.constant dense<1.0> : tensor<64xf16>
  // expected-error @below {{'tile.reduce' op result is 'f32' but the operand's elements are 'f16'}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf16> -> f32 {
  ^bb0(%a: f16, %b: f16):
    tile.yield %a : f16
  }
  tile.return
}

// -----

tile.kernel @arguments() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.reduce' op combine region takes 1 arguments; expected 2, the left and the right elements}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @argument_types() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.reduce' op combine region takes the types 'f32', 'f16' but must take 'f32', 'f32'}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f16):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @yield() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.reduce' op combine region must end with tile.yield of 1 values of the operands' element types}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a, %b : f32, f32
  }
  tile.return
}

// -----

tile.kernel @scan_nothing() {
  // expected-error @below {{'tile.scan' op has no operand}}
  "tile.scan"() <{axis = 0 : i32}> ({
    tile.yield
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @scan_results() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.scan' op has operands 'tensor<64xf32>' but results 'tensor<32xf32>'}}
  %s = tile.scan %x {axis = 0 : i32} : tensor<64xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @scan_axis() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.scan' op axis is 1 but must be from 0 to 0}}
  %s = tile.scan %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @scan_shapes() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  %y = arith.constant dense<1.0> : tensor<32xf32>
  // expected-error @below {{'tile.scan' op operands have shapes [64] and [32]; they must agree}}
  %s:2 = tile.scan %x, %y {axis = 0 : i32} : tensor<64xf32>, tensor<32xf32> -> tensor<64xf32>, tensor<32xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  tile.return
}

// -----

tile.kernel @scan_region() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.scan' op combine region takes 1 arguments; expected 2, the left and the right elements}}
  %s = tile.scan %x {axis = 0 : i32} : tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @gather_axis() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  %i = tile.arange 0 to 64 : tensor<64xi32>
  // expected-error @below {{'tile.gather' op axis is 1 but must be from 0 to 0}}
  %y = tile.gather %x[%i] {axis = 1 : i32} : tensor<64xf32>, tensor<64xi32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @gather_rank() {
  %x = arith.constant dense<1.0> : tensor<64x2xf32>
  %i = tile.arange 0 to 64 : tensor<64xi32>
  // expected-error @below {{'tile.gather' op operand has rank 2 but the indices have rank 1}}
  %y = tile.gather %x[%i] {axis = 1 : i32} : tensor<64x2xf32>, tensor<64xi32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @gather_shape() {
  %x = arith.constant dense<1.0> : tensor<64x2xf32>
  %i = arith.constant dense<0> : tensor<32x4xi32>
  // expected-error @below {{'tile.gather' op dimension 0 has size 64, but in the indices it has size 32; only axis 1 may differ}}
  %y = tile.gather %x[%i] {axis = 1 : i32} : tensor<64x2xf32>, tensor<32x4xi32> -> tensor<32x4xf32>
  tile.return
}

// -----

tile.kernel @gather_result() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  %i = tile.arange 0 to 32 : tensor<32xi32>
  // expected-error @below {{'tile.gather' op result is 'tensor<64xf32>' but must be 'tensor<32xf32>'}}
  %y = tile.gather %x[%i] {axis = 0 : i32} : tensor<64xf32>, tensor<32xi32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @butterfly_axis() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.butterfly' op axis is 1 but must be from 0 to 0}}
  %y = tile.butterfly %x {axis = 1 : i32, distance = 1 : i32} : tensor<64xf32>
  tile.return
}

// -----

tile.kernel @butterfly_distance() {
  %x = arith.constant dense<1.0> : tensor<64x2xf32>
  // expected-error @below {{'tile.butterfly' op distance is 2 along an axis of 2; the axis must be a power of two above the distance, which must be at least 1}}
  %y = tile.butterfly %x {axis = 1 : i32, distance = 2 : i32} : tensor<64x2xf32>
  tile.return
}

// -----

tile.kernel @butterfly_zero() {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'tile.butterfly' op distance is 0 along an axis of 64}}
  %y = tile.butterfly %x {axis = 0 : i32, distance = 0 : i32} : tensor<64xf32>
  tile.return
}

// -----

tile.kernel @butterfly_of_three() {
  %x = arith.constant dense<1.0> : tensor<96xf32>
  // expected-error @below {{'tile.butterfly' op distance is 32 along an axis of 96; the axis must be a power of two}}
  %y = tile.butterfly %x {axis = 0 : i32, distance = 32 : i32} : tensor<96xf32>
  tile.return
}

// -----

tile.kernel @histogram_rank() {
  %x = arith.constant dense<1> : tensor<8x8xi32>
  // expected-error @below {{'tile.histogram' op takes a vector and returns a vector, not 'tensor<8x8xi32>' and 'tensor<16xi32>'}}
  %y = tile.histogram %x : tensor<8x8xi32> -> tensor<16xi32>
  tile.return
}

// -----

tile.kernel @histogram_mask() {
  %m = arith.constant dense<true> : tensor<32xi1>
  %x = arith.constant dense<1> : tensor<64xi32>
  // expected-error @below {{mask has the shape of the elements}}
  %y = "tile.histogram"(%x, %m) : (tensor<64xi32>, tensor<32xi1>) -> tensor<16xi32>
  tile.return
}
