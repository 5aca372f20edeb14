// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-async-copies))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_75},tile.kernel(cta-async-copies))' | FileCheck %s --check-prefix=SM75

#load = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#other = #cta.layout<[32, 32], register = [[0, 8], [0, 16], [0, 4]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>

#turned = #cta.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>

#panel = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// CHECK-LABEL: tile.kernel @copy
// CHECK: scf.for
// CHECK: %[[B:.*]] = cta.alloc
// CHECK: cta.async_copy %{{.*}}, %[[B]] {vector = 8 : i32}
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: cta.async_wait 0
// CHECK-NEXT: %{{.*}} = cta.local_load %[[B]]
// SM75-LABEL: tile.kernel @copy
// SM75-NOT: cta.async_copy
tile.kernel @copy(%p: !tile.ptr<f16>, %n: i32) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %d0 = tile.dot %y, %y, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d0 : tensor<32x32xf32, #other>
  }
  tile.return
}

// Blocks without repeated elements, as wide as an operand, are copied; nothing is copied before a loop.
// CHECK-LABEL: tile.kernel @once
// CHECK: cta.async_copy {{.*}}f16
// CHECK: tile.load {{.*}}f32
tile.kernel @once(%p: !tile.ptr<f16>, %q: !tile.ptr<f32>) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #load>
  %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
  %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
  %z = tile.load %t {vector = 4 : i32} : tensor<32x32x!tile.ptr<f32>, #load>
  %w = cta.convert_layout %z : tensor<32x32xf32, #load> -> tensor<32x32xf32, #other>
  %v = arith.truncf %w : tensor<32x32xf32, #other> to tensor<32x32xf16, #other>
  %d = tile.dot %y, %v, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
  tile.print "" %d : tensor<32x32xf32, #other>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_before_a_loop
// CHECK-NOT: cta.async_copy
tile.kernel @negative_before_a_loop(%p: !tile.ptr<f16>, %n: i32) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
  %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
  %d = tile.dot %y, %y, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.print "" %d : tensor<32x32xf32, #other>
  }
  tile.return
}

// A rounded operand is rounded where it is read, before another block is read.
// CHECK-LABEL: tile.kernel @rounded
// CHECK: cta.local_load
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: cta.local_load
tile.kernel @rounded(%p: !tile.ptr<f32>, %n: i32) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 4 : i32} : tensor<32x32x!tile.ptr<f32>, #load>
    %y = tile.load %s {vector = 4 : i32} : tensor<32x32x!tile.ptr<f32>, #load>
    %u = cta.convert_layout %x : tensor<32x32xf32, #load> -> tensor<32x32xf32, #other>
    %v = cta.convert_layout %y : tensor<32x32xf32, #load> -> tensor<32x32xf32, #other>
    %a = arith.truncf %u : tensor<32x32xf32, #other> to tensor<32x32xf16, #other>
    %b = arith.truncf %v : tensor<32x32xf32, #other> to tensor<32x32xf16, #other>
    %d = tile.dot %a, %b, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d : tensor<32x32xf32, #other>
  }
  tile.return
}

// An operand is computed in the layout in which it is multiplied: the buffer is read in that layout.
// CHECK-LABEL: tile.kernel @computed
// CHECK: cta.async_copy
// CHECK: cta.local_load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.dot
tile.kernel @computed(%p: !tile.ptr<f16>, %n: i32) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %m = arith.negf %x : tensor<32x32xf16, #load>
    %y = cta.convert_layout %m : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %d0 = tile.dot %y, %y, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d0 : tensor<32x32xf32, #other>
  }
  tile.return
}

// Values that are not multiplied pass through registers: a buffer for each stage would take shared memory.
// CHECK-LABEL: tile.kernel @negative_no_dot
// CHECK-NOT: cta.async_copy
tile.kernel @negative_no_dot(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    tile.print "" %y : tensor<32x32xf16, #other>
  }
  tile.return
}

// Two dots use the block, one of them transposed: one copy, from which each dot loads its elements.
// CHECK-LABEL: tile.kernel @twice
// CHECK: %[[B:.*]] = cta.alloc
// CHECK: cta.async_copy %{{.*}}, %[[B]] {vector = 8 : i32}
// CHECK-NOT: cta.async_copy
// CHECK-DAG: cta.local_load %[[B]]
// CHECK-DAG: cta.trans_buffer %[[B]]
tile.kernel @twice(%p: !tile.ptr<f16>, %n: i32) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %t = tile.trans %x {order = array<i32: 1, 0>} : tensor<32x32xf16, #load> -> tensor<32x32xf16, #turned>
    %z = cta.convert_layout %t : tensor<32x32xf16, #turned> -> tensor<32x32xf16, #other>
    %d = tile.dot %y, %z, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d : tensor<32x32xf32, #other>
  }
  tile.return
}

// A thread's addresses are not consecutive, or the masked-out elements are not zero.
// CHECK-LABEL: tile.kernel @negative_copy
// CHECK-NOT: cta.async_copy
tile.kernel @negative_copy(%p: !tile.ptr<f16>, %n: i32, %m: i1) {
  %acc = arith.constant dense<0.0> : tensor<32x32xf32, #other>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<32x32xf16, #load>
  %minus = arith.constant dense<-0.0> : tensor<32x32xf16, #load>
  %mask = tile.splat %m : i1 -> tensor<32x32xi1, #load>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 1 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %z = tile.load %s mask %mask other %one {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %w = cta.convert_layout %z : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %u = tile.load %s mask %mask other %minus {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %v = cta.convert_layout %u : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    %d0 = tile.dot %v, %v, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d0 : tensor<32x32xf32, #other>
    %d1 = tile.dot %y, %y, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d1 : tensor<32x32xf32, #other>
    %d2 = tile.dot %w, %w, %acc {engine = #cta.fma} : tensor<32x32xf16, #other>, tensor<32x32xf16, #other> -> tensor<32x32xf32, #other>
    tile.print "" %d2 : tensor<32x32xf32, #other>
  }
  tile.return
}

// A buffer that is written before the loop, too, cannot become one for each stage.
// CHECK-LABEL: tile.kernel @negative_buffer_outside
// CHECK-NOT: cta.async_copy
tile.kernel @negative_buffer_outside(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %b = cta.alloc : <32x32xf16, #panel>
  %first = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
  cta.local_store %first, %b : tensor<32x32xf16, #load>, <32x32xf16, #panel>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    cta.local_store %x, %b : tensor<32x32xf16, #load>, <32x32xf16, #panel>
    cta.proxy_fence
    %y = cta.local_load %b : <32x32xf16, #panel> -> tensor<32x32xf16, #other>
    tile.print "" %y : tensor<32x32xf16, #other>
  }
  tile.return
}

// Loads of an outer loop would take a buffer for each of its stages.
// CHECK-LABEL: tile.kernel @negative_outer_loop
// CHECK-NOT: cta.async_copy
tile.kernel @negative_outer_loop(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %s {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>
    %y = cta.convert_layout %x : tensor<32x32xf16, #load> -> tensor<32x32xf16, #other>
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.print "" %y : tensor<32x32xf16, #other>
    }
  }
  tile.return
}
