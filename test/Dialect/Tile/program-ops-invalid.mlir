// RUN: tile-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{'tile.kernel' op has 1 results; a kernel returns nothing}}
tile.kernel @results() -> i32 {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op argument 1 is 'tensor<4xf32>'; a kernel takes scalars and pointers}}
tile.kernel @argument(%n: i32, %x: tensor<4xf32>) {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_warps is 3 but must be a power of two from 1 to 32}}
tile.kernel @warps() attributes {num_warps = 3 : i32} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_warps is 64 but must be a power of two from 1 to 32}}
tile.kernel @many_warps() attributes {num_warps = 64 : i32} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_stages is 17 but must be from 1 to 16}}
tile.kernel @stages() attributes {num_stages = 17 : i32} {
  tile.return
}

// -----

tile.kernel @axis() {
  // expected-error @below {{attribute 'axis' failed to satisfy constraint}}
  %pid = tile.program_id 3
  tile.return
}

// -----

tile.kernel @print() {
  %x = arith.constant dense<1.0> : tensor<2x4xf32>
  %y = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @below {{'tile.print' op operands have shapes [2, 4] and [8]; they must agree}}
  tile.print "x, y = " %x, %y : tensor<2x4xf32>, tensor<8xf32>
  tile.return
}
