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
