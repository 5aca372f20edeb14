// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @float_max(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
  %x = arith.constant dense<1.0> : tensor<1xf32>
  // expected-error @below {{'tile.atomic_rmw' op has kind 'max' with elements of 'f32'; floats support add and xchg}}
  %old = tile.atomic_rmw max relaxed gpu %p, %x : tensor<1x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @byte(%base: !tile.ptr<i8>) {
  %p = tile.splat %base : !tile.ptr<i8> -> tensor<1x!tile.ptr<i8>>
  %x = arith.constant dense<1> : tensor<1xi8>
  // expected-error @below {{'tile.atomic_rmw' op updates 'i8'; atomic or takes 32 or 64 bits}}
  %old = tile.atomic_rmw or relaxed gpu %p, %x : tensor<1x!tile.ptr<i8>>
  tile.return
}

// -----

tile.kernel @swap(%base: !tile.ptr<i8>) {
  %p = tile.splat %base : !tile.ptr<i8> -> tensor<1x!tile.ptr<i8>>
  %x = arith.constant dense<1> : tensor<1xi8>
  // expected-error @below {{'tile.atomic_cas' op compares 'i8'; expected 16, 32 or 64 bits}}
  %old = tile.atomic_cas relaxed gpu %p, %x, %x : tensor<1x!tile.ptr<i8>>
  tile.return
}

// -----

tile.kernel @maximum(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
  %x = arith.constant dense<1.0> : tensor<1xf32>
  // expected-error @below {{'tile.atomic_rmw' op has kind 'fmax' with elements of 'f32'; expected f16 or bf16}}
  %old = tile.atomic_rmw fmax relaxed gpu %p, %x : tensor<1x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @vector(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %x = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @below {{'tile.atomic_rmw' op vector is 0 but must be a power of two from 1 to 16}}
  %old = tile.atomic_rmw add relaxed gpu %p, %x {vector = 0 : i32} : tensor<4x!tile.ptr<f32>>
  tile.return
}
