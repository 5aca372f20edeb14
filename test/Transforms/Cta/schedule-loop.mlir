// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-schedule-loop,cta-insert-waits))' --mlir-print-local-scope | FileCheck %s

#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]>
#c = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#wide_k = #cta.layout<[16, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [0, 16], [0, 32], [0, 64], [0, 128]]>
#wide_c = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!wide_k = !cta.buffer<16x256xf16, #wide_k>
!wide_c = tensor<64x256xf32, #wide_c>
!q = !cta.buffer<64x16xf16, #q>
!k = !cta.buffer<16x16xf16, #k>
!ring = !cta.ring<2 x [!k]>
!c = tensor<64x16xf32, #c>
!p = tensor<64x16xf16, #c>

// The next scores are issued before the MMA of this iteration's weights, and used while that is in flight; the next
// round waits for it, and only then writes the left operand that it has read.
// CHECK-LABEL: tile.kernel @ahead(
// CHECK: role <consumer{{.*}}> {
// CHECK: scf.if
// CHECK: %[[S0:.*]], %{{.*}} = cta.wgmma
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await %[[S0]]
// CHECK: cta.ring_release
// CHECK-NEXT: %[[E0:.*]] = math.exp2
// CHECK: %[[NONE:.*]] = cta.ring_none
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ ]*]] = %{{[^ ,]*}}, %[[E:[^ ,]*]] = %[[E0]], %[[SLOT:[^ ,]*]] = %[[NONE]], %[[FLYING:[^ ,]*]] = %{{[^ ,]*}}) ->
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await %[[ACC]] after %[[FLYING]]
// CHECK-NEXT: %[[READY:.*]] = cta.await %[[E]] after %[[FLYING]]
// CHECK: %[[LATER:.*]] = cta.ring_holds %[[SLOT]]
// CHECK-NEXT: cta.ring_release %[[V:.*]][%[[SLOT]]] if %[[LATER]]
// CHECK: %[[P:.*]] = arith.truncf %[[READY]]
// CHECK: cta.ring_wait
// CHECK: %[[S:.*]], %{{.*}} = cta.wgmma %{{.*}} : !cta.buffer
// CHECK: %[[NEXT:.*]] = cta.ring_wait %[[V]]
// CHECK: %[[O:.*]], %[[TOKEN:.*]] = cta.wgmma %[[P]],
// CHECK: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.await %[[S]]
// CHECK: cta.ring_release
// CHECK: math.exp2
// CHECK: scf.yield %[[O]], %{{.*}}, %[[NEXT]], %[[TOKEN]]
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK: cta.wgmma
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK: } else {
// CHECK-NEXT: scf.yield
tile.kernel @ahead(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %ks = cta.ring_alloc : !ring
  %vs = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
      %slotk = cta.ring_wait %ks : !ring
      %k = cta.ring_buffers %ks[%slotk] : !ring
      %slotv = cta.ring_wait %vs : !ring
      %v = cta.ring_buffers %vs[%slotv] : !ring
      %s, %s_t = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
      %ready = cta.await %s after %s_t : !c
      cta.ring_release %ks[%slotk] after %s_t : !ring
      %e = math.exp2 %ready : !c
      %p = arith.truncf %e : !c to !p
      %o, %o_t = cta.wgmma %p, %v, %acc {n = 16 : i32} : !p, !k -> !c
      %r = cta.await %o after %o_t : !c
      cta.ring_release %vs[%slotv] after %o_t : !ring
      scf.yield %r : !c
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// A ring's slots are taken in order: if an early MMA and a late one read slots of the same ring, nothing runs ahead.
// CHECK-LABEL: tile.kernel @negative_one_ring(
// CHECK-NOT: cta.ring_none
// CHECK: tile.return
tile.kernel @negative_one_ring(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
      %slotk = cta.ring_wait %ring : !ring
      %k = cta.ring_buffers %ring[%slotk] : !ring
      %s, %s_t = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
      %ready = cta.await %s after %s_t : !c
      cta.ring_release %ring[%slotk] after %s_t : !ring
      %e = math.exp2 %ready : !c
      %p = arith.truncf %e : !c to !p
      %slotv = cta.ring_wait %ring : !ring
      %v = cta.ring_buffers %ring[%slotv] : !ring
      %o, %o_t = cta.wgmma %p, %v, %acc {n = 16 : i32} : !p, !k -> !c
      %r = cta.await %o after %o_t : !c
      cta.ring_release %ring[%slotv] after %o_t : !ring
      scf.yield %r : !c
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// Two MMAs with the same operands are in flight together, and each is awaited where its result is needed.
// CHECK-LABEL: tile.kernel @independent(
// CHECK: scf.for
// CHECK: %[[A:.*]], %{{.*}} = cta.wgmma
// CHECK-NEXT: %[[B:.*]], %{{.*}} = cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.await %[[A]]
// CHECK-NEXT: math.exp2
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await %[[B]]
tile.kernel @independent(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %v = cta.alloc : !k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %a, %a_t = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.await %a after %a_t : !c
    %e = math.exp2 %x : !c
    %b, %b_t = cta.wgmma %q, %v, %zero {n = 16 : i32} : !q, !k -> !c
    %y = cta.await %b after %b_t : !c
    %m = arith.mulf %e, %y : !c
    %r = arith.addf %acc, %m : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Both accumulators and the loop's sum take 384 registers: the second MMA is issued when the first accumulator is no longer used.
// CHECK-LABEL: tile.kernel @negative_registers(
// CHECK: scf.for
// CHECK: %[[A:.*]], %{{.*}} = cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await %[[A]]
// CHECK-NEXT: math.exp2
// CHECK-NEXT: cta.wgmma
tile.kernel @negative_registers(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !wide_c
  %q = cta.alloc : !q
  %k = cta.alloc : !wide_k
  %v = cta.alloc : !wide_k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!wide_c) : i32 {
    %a, %a_t = cta.wgmma %q, %k, %zero {n = 256 : i32} : !q, !wide_k -> !wide_c
    %x = cta.await %a after %a_t : !wide_c
    %e = math.exp2 %x : !wide_c
    %b, %b_t = cta.wgmma %q, %v, %zero {n = 256 : i32} : !q, !wide_k -> !wide_c
    %y = cta.await %b after %b_t : !wide_c
    %m = arith.mulf %e, %y : !wide_c
    %r = arith.addf %acc, %m : !wide_c
    scf.yield %r : !wide_c
  }
  tile.print "sum" %sum : !wide_c
  tile.return
}

// A mask that only the first iteration needs is removed from the others.
// CHECK-LABEL: tile.kernel @peeled(
// CHECK: scf.if
// CHECK: arith.cmpi sge
// CHECK: scf.for %{{.*}} = %c1_i32{{.*}} to
// CHECK-NOT: arith.cmpi sge
// CHECK: scf.yield
// CHECK: } else {
tile.kernel @peeled(%n: i32, %mask: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %v = cta.alloc : !k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %a, %a_t = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.await %a after %a_t : !c
    %later = arith.cmpi sge, %j, %c1 : i32
    %laters = tile.splat %later : i1 -> tensor<64x16xi1, #c>
    %e = arith.select %laters, %x, %zero : tensor<64x16xi1, #c>, !c
    %b, %b_t = cta.wgmma %q, %v, %zero {n = 16 : i32} : !q, !k -> !c
    %y = cta.await %b after %b_t : !c
    %m = arith.mulf %e, %y : !c
    %r = arith.addf %acc, %m : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// A barrier orders the operations around it: the second MMA stays after it.
// CHECK-LABEL: tile.kernel @negative_barrier(
// CHECK: cta.await
// CHECK: cta.barrier
// CHECK: cta.wgmma
tile.kernel @negative_barrier(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %a, %a_t = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.await %a after %a_t : !c
    cta.barrier
    %b, %b_t = cta.wgmma %q, %k, %x {n = 16 : i32} : !q, !k -> !c
    %y = cta.await %b after %b_t : !c
    %r = arith.addf %acc, %y : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Nor do programs need a loop for this; their slots are released without a branch.
// CHECK-LABEL: tile.kernel @program(
// CHECK: tile.programs
// CHECK: %[[A:.*]], %{{.*}} = cta.wgmma
// CHECK: %[[B:.*]], %{{.*}} = cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await %[[A]]
// CHECK-NEXT: cta.await %[[B]]
// CHECK: cta.ring_release %{{.*}} if %true
tile.kernel @program(%n: i32) {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%x, %y, %z, %exists) in (%n, %n, %n) #tile.work<order = grid> {
      %slot = cta.ring_wait %k : !ring
      %keys = cta.ring_buffers %k[%slot] : !ring
      %s, %s_t = cta.wgmma %q, %keys, %zero {n = 16 : i32} : !q, !k -> !c
      %t = cta.await %s after %s_t : !c
      %u, %u_t = cta.wgmma %q, %keys, %zero {n = 16 : i32} : !q, !k -> !c
      %v = cta.await %u after %u_t : !c
      cta.ring_release %k[%slot] after %s_t, %u_t : !ring
      %w = arith.addf %t, %v : !c
      tile.print "" %w : !c
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}
