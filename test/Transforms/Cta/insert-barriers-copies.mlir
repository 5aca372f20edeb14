// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-barriers))' | FileCheck %s

// Copies by cp.async: each thread waits for its own copies, and a barrier orders those of other threads.
#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
#fragments = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16], [16, 0]]>
!b = !cta.buffer<32x32xf16, #s>
!ring = !cta.buffer<32x32xf16, #s, slots = 3>
!v = tensor<32x32xf16, #x>

// One barrier per iteration: after the wait, before the copy.
// CHECK-LABEL: tile.kernel @pipeline
// CHECK: cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: scf.for
// CHECK-NEXT: cta.async_wait 1
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.async_copy
// CHECK-NOT: cta.barrier
// CHECK: cta.async_wait 0
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
tile.kernel @pipeline(%n: i32, %p: !tile.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant dense<0.0> : !v
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #x>
  %ring = cta.alloc at 0 : !ring
  %again = cta.alloc at 0 : !b
  %s0 = cta.slot %ring[%c0] : !ring -> !b
  cta.async_copy %s, %s0 {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !b
  cta.async_commit
  %s1 = cta.slot %ring[%c1] : !ring -> !b
  cta.async_copy %s, %s1 {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !b
  cta.async_commit
  scf.for %i = %c0 to %n step %c1 : i32 {
    cta.async_wait 1
    %fill = cta.slot %ring[%i] : !ring -> !b
    cta.async_copy %s, %fill {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !b
    cta.async_commit
    %use = cta.slot %ring[%i] : !ring -> !b
    %x = cta.local_load %use : !b -> !v
  }
  cta.async_wait 0
  cta.local_store %v, %again : !v, !b
  tile.return
}

// One slot is read before the wait, and the next one after the copies: one barrier orders the reads before it and the
// copies after it, and the copies that have arrived and the reads after it.
// CHECK-LABEL: tile.kernel @look_ahead
// CHECK: scf.for
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.async_wait
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: }
// CHECK-NEXT: cta.async_wait
tile.kernel @look_ahead(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #x>
  %ring = cta.alloc at 0 : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %use = cta.slot %ring[%i] : !ring -> !b
    %x = cta.local_load %use : !b -> !v
    cta.async_wait 1
    %fill = cta.slot %ring[%i] : !ring -> !b
    cta.async_copy %s, %fill {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !b
    cta.async_commit
    %next = cta.slot %ring[%i] : !ring -> !b
    %y = cta.local_load %next : !b -> !v
  }
  cta.async_wait 0
  tile.return
}

// A thread that loads its own copies waits for no other; but with ldmatrix, the lanes of a warp exchange them.
// CHECK-LABEL: tile.kernel @own_copies
// CHECK: cta.async_wait 0
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_load
tile.kernel @own_copies(%p: !tile.ptr<f16>) {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #x>
  %m = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #fragments>
  %a = cta.alloc at 0 : !b
  %b = cta.alloc at 2048 : !b
  cta.async_copy %s, %a {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !b
  cta.async_copy %m, %b {vector = 2 : i32} : tensor<32x32x!tile.ptr<f16>, #fragments>, !b
  cta.async_commit
  cta.async_wait 0
  %x = cta.local_load %a : !b -> !v
  %y = cta.local_load %b : !b -> tensor<32x32xf16, #fragments>
  tile.return
}
