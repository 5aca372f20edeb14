// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @pack(%x: f32) {
  // expected-error @below {{'tile.inline_asm' op pack is 3 but must be a power of two from 1 to 16}}
  %y = tile.inline_asm "mov.b32 $0, $1;", "=f,f" pack 3 pure(%x) : (f32) -> f32
  tile.return
}

// -----

tile.kernel @effect(%x: f32) {
  // expected-error @below {{'tile.inline_asm' op is pure and has no result}}
  tile.inline_asm "trap;", "f" pack 1 pure(%x) : (f32) -> ()
  tile.return
}

// -----

tile.kernel @registers(%x: i16) {
  // expected-error @below {{'tile.inline_asm' op has 2 constraints but its operands take 4 registers for each 4 elements}}
  %y = tile.inline_asm "mov.b32 $0, $1;", "=r,r" pack 4 pure(%x) : (i16) -> i16
  tile.return
}

// -----

tile.kernel @half(%x: f16) {
  // expected-error @below {{'tile.library_call' op is a function of f32 and f64, not of 'f16'}}
  %y = tile.library_call lgamma(%x) : f16
  tile.return
}

// -----

tile.kernel @arguments(%x: f32) {
  // expected-error @below {{'tile.library_call' op has 1 arguments but 'hypot' takes 2}}
  %y = tile.library_call hypot(%x) : f32
  tile.return
}

// -----

tile.kernel @too_few_operands(%x: i32) {
  // expected-error @below {{'tile.inline_asm' op uses $5, but its operands are $0 to $1}}
  %y = tile.inline_asm "{ mov.b32 $0, ${1:x}; } // $$7 mov $5", "=r,r" pack 1 pure(%x) : (i32) -> i32
  tile.return
}

// -----

tile.kernel @too_many_results(%x: i32) {
  // expected-error @below {{'tile.inline_asm' op has 2 constraints with '=' but its results take 1 registers}}
  %y = tile.inline_asm "mov.b32 $0, $1;", "=r,=r" pack 1 pure(%x) : (i32) -> i32
  tile.return
}
