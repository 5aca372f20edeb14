// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @arguments(%n: i32) {
  %i = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.map' op region takes the types 'f32' but must take 'i32'}}
  %y = tile.map %i : tensor<128xi32> -> tensor<128xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @results(%n: i32) {
  %i = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.map' op region must end with tile.yield of the results' elements, 'f32'}}
  %y = tile.map %i : tensor<128xi32> -> tensor<128xf32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @none() {
  // expected-error @below {{'tile.map' op has 0 operands and 0 results; it needs at least one of each}}
  "tile.map"() ({
  ^bb0:
    "tile.yield"() : () -> ()
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @tensors(%n: i32) {
  %i = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.map' op region must compute with scalars but has 'tile.splat' with tensors}}
  %y = tile.map %i : tensor<128xi32> -> tensor<128xi32> {
  ^bb0(%a: i32):
    %b = tile.splat %a : i32 -> tensor<4xi32>
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @effects(%n: i32) {
  %i = tile.arange 0 to 128 : tensor<128xi32>
  // expected-error @below {{'tile.map' op region has an effect on memory: 'tile.barrier'}}
  %y = tile.map %i : tensor<128xi32> -> tensor<128xi32> {
  ^bb0(%a: i32):
    tile.barrier
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @small(%n: i32) {
  %x = arith.constant dense<1.0> : tensor<128xf8E5M2>
  // expected-error @below {{'tile.map' op computes with 'f8E5M2'; convert to a wider type}}
  %y = tile.map %x : tensor<128xf8E5M2> -> tensor<128xf8E5M2> {
  ^bb0(%a: f8E5M2):
    tile.yield %a : f8E5M2
  }
  tile.return
}

// -----

tile.kernel @count(%x: f32) {
  // expected-error @below {{'tile.rounded' op has 1 arguments but 'add' takes 2}}
  %y = tile.rounded add rn(%x) : (f32) -> f32
  tile.return
}

// -----

tile.kernel @half(%x: f16) {
  // expected-error @below {{'tile.rounded' op computes 'f16' of 'f16'; all must be f32, or all f64}}
  %y = tile.rounded sqrt rn(%x) : (f16) -> f16
  tile.return
}

// -----

tile.kernel @widen(%x: f32) {
  // expected-error @below {{'tile.rounded' op converts 'f32' to 'f64'; expected f64 to f32, f32 or f64 from or to integers of 32 or 64 bits, or a wider float to one of 8 bits}}
  %y = tile.rounded cast rn(%x) : (f32) -> f64
  tile.return
}

// -----

tile.kernel @up(%x: f32) {
  // expected-error @below {{'tile.rounded' op rounds to 'f8E5M2' with 'ru'; expected 'rn' or 'rz'}}
  %y = tile.rounded cast ru(%x) : (f32) -> f8E5M2
  tile.return
}

// -----

tile.kernel @timer() {
  // expected-error @below {{'tile.read_register' op returns 'i32' but 'globaltimer' has 64 bits}}
  %t = tile.read_register globaltimer : i32
  tile.return
}

// -----

tile.kernel @single(%x: f64) {
  // expected-error @below {{'tile.library_call' op is a function of f32, not of 'f64'}}
  %y = tile.library_call rsqrt_rn(%x) : f64
  tile.return
}

// -----

tile.kernel @few(%x: i32) {
  %t = tile.splat %x : i32 -> tensor<8x8xi32>
  // expected-error @below {{'tile.hint' op has 1 values in 'contiguity' but needs 2}}
  %y = tile.hint %t contiguity [8] : tensor<8x8xi32>
  tile.return
}

// -----

tile.kernel @none(%x: i32) {
  // expected-error @below {{'tile.hint' op has value 0 in 'divisibility'; expected at least 1}}
  %y = tile.hint %x divisibility [0] : i32
  tile.return
}
