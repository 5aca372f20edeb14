// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-pipeline{target=sm_80}))' | FileCheck %s

#load = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#shared = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// Two copies ahead of the loop; in it, wait for the oldest, then copy two iterations ahead, then use.
// CHECK-LABEL: tile.kernel @loop
// CHECK: cta.alloc : <32x32xf16, #{{.*}}, slots = 3>
// CHECK-COUNT-2: cta.async_commit
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.async_copy
// CHECK: cta.local_load
// CHECK: scf.yield
// CHECK: cta.async_wait 0
tile.kernel @loop(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #load>
  %step = arith.constant dense<32> : tensor<32x32xi32, #load>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %q = %s) -> (tensor<32x32xf16, #load>, tensor<32x32x!tile.ptr<f16>, #load>) : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %q, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    %t = arith.addf %sum, %x : tensor<32x32xf16, #load>
    %next = tile.addptr %q, %step : tensor<32x32x!tile.ptr<f16>, #load>, tensor<32x32xi32, #load>
    scf.yield %t, %next : tensor<32x32xf16, #load>, tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.store %s, %r#0 : tensor<32x32x!tile.ptr<f16>, #load>
  tile.return
}

// The loop writes global memory, which a later iteration may copy.
// CHECK-LABEL: tile.kernel @negative_store
// CHECK: scf.for
// CHECK: cta.async_wait 0
// CHECK: tile.store
tile.kernel @negative_store(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    tile.store %s, %x : tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.return
}
