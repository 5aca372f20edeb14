// Errors inside or after the region of an operation: operations outside may use values from inside.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @reduce(%x: tensor<8xf32>, %n: f32) {
  %q = arith.addf %inside, %n : f32
  %s = tile.reduce %x {axis = 0 : i32} : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %inside: f32):
    %c = arith.addf %a, %inside : f32
    // expected-error @below {{expected ':'}}
    tile.yield %c
  }
  tile.return
}

// -----

tile.kernel @scan(%x: tensor<8xf32>, %n: f32) {
  %q = arith.addf %inside, %n : f32
  %s = tile.scan reverse %x {axis = 0 : i32} : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %inside = arith.addf %a, %b : f32
    // expected-error @below {{expected ':'}}
    tile.yield %inside
  }
  tile.return
}

// -----

tile.kernel @map(%x: tensor<8xf32>, %n: f32) {
  %q = arith.addf %inside, %n : f32
  %s = tile.map %x : tensor<8xf32> -> tensor<8xf32> {
  // expected-note @below {{prior use here}}
  ^bb0(%inside: f32):
    // expected-error @below {{use of value '%inside' expects different type than prior uses: 'i32' vs 'f32'}}
    tile.yield %inside : i32
  }
  tile.return
}

// -----

// expected-note @below {{prior use here}}
tile.kernel @operands(%x: tensor<8xf32>, %n: f32) {
  %q = arith.addf %inside, %n : f32
  // expected-error @below {{use of value '%x' expects different type than prior uses: 'tensor<8xi32>' vs 'tensor<8xf32>'}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<8xi32> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %inside = arith.constant 1.0 : f32
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @attribute(%x: tensor<8xf32>) {
  // expected-error @below {{attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute}}
  %s = tile.reduce %x {axis = 0 : i64} : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}
