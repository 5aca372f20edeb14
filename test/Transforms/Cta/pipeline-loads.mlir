// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions,cta-lower-dot,cta-pipeline))' | FileCheck %s

// Both operands are loaded ahead, once this iteration's are no longer in registers; none after the last iteration.
// CHECK-LABEL: tile.kernel @dot
// CHECK: arith.cmpi sgt
// CHECK-COUNT-2: tile.load {{.*}} mask
// CHECK: scf.for
// CHECK-COUNT-2: cta.convert_layout
// CHECK-COUNT-2: tile.load {{.*}} mask
// CHECK: cta.mma_sync
// CHECK: scf.yield
tile.kernel @dot(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %step = arith.constant dense<32> : tensor<32x32xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %s) -> (tensor<32x32xf32>, tensor<32x32x!tile.ptr<f16>>) : i32 {
    %a = tile.load %q : tensor<32x32x!tile.ptr<f16>>
    %b = tile.load %s : tensor<32x32x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %next = tile.addptr %q, %step : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    scf.yield %d, %next : tensor<32x32xf32>, tensor<32x32x!tile.ptr<f16>>
  }
  %x = arith.truncf %r#0 : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %s, %x : tensor<32x32x!tile.ptr<f16>>
  tile.return
}

// The loop writes what a later iteration may load.
// CHECK-LABEL: tile.kernel @negative_store
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.store
tile.kernel @negative_store(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = tile.load %s : tensor<32x32x!tile.ptr<f16>>
    %d = tile.dot %a, %a, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %x = arith.truncf %d : tensor<32x32xf32> to tensor<32x32xf16>
    tile.store %s, %x : tensor<32x32x!tile.ptr<f16>>
  }
  tile.return
}

// One stage: nothing runs ahead.
// CHECK-LABEL: tile.kernel @negative_stage
// CHECK-NOT: tile.load
// CHECK: scf.for
tile.kernel @negative_stage(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {
    %a = tile.load %s : tensor<32x32x!tile.ptr<f16>>
    %d = tile.dot %a, %a, %acc : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  %x = arith.truncf %r : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %s, %x : tensor<32x32x!tile.ptr<f16>>
  tile.return
}
