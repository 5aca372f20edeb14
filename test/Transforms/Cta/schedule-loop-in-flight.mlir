// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-schedule-loop,cta-insert-waits))' | FileCheck %s

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #cta.layout<[16, 64], register = [[0, 32], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#copy = #cta.layout<[64, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
!a = !cta.buffer<64x16xf16, #a>
!b = !cta.buffer<16x64xf16, #b>
!c = tensor<64x64xf32, #c>
!ring = !cta.ring<2 x [!a, !b]>
!one = !cta.ring<1 x [!a, !b]>
!two = !cta.ring<2 x [!a, !b, !b]>

// The first MMA does not read the accumulator. Each waits for the previous one and releases its slot, which the loop
// carries; the last one is awaited after it. Without iterations nothing is awaited, and only then zeros are created.
// CHECK-LABEL: tile.kernel @delayed(
// CHECK: %[[RING:.*]] = cta.ring_alloc
// CHECK: scf.if
// CHECK: %[[UNDEFINED:.*]] = cta.undefined
// CHECK-NEXT: %[[NONE:.*]] = cta.ring_none
// CHECK-NOT: cta.wgmma
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[^ ]*]] = %[[UNDEFINED]], %[[PREVIOUS:[^ ]*]] = %[[NONE]], %[[FLYING:[^ ]*]] = %
// CHECK: %[[LATER:.*]] = cta.ring_holds %[[PREVIOUS]]
// CHECK-NEXT: %[[SLOT:.*]] = cta.ring_wait %[[RING]]
// CHECK: %[[NEXT:.*]], %[[TOKEN:.*]] = cta.wgmma %{{.*}}, %{{.*}}, %[[SUM]] if %[[LATER]]
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release %[[RING]][%[[PREVIOUS]]] if %[[LATER]] after %[[FLYING]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[SLOT]], %[[TOKEN]]
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await
// CHECK-NEXT: cta.ring_release %[[RING]][%{{[^ ]*}}] after
// CHECK: } else {
// CHECK-NEXT: %[[ZEROS:.*]] = cta.zeros
// CHECK-NEXT: scf.yield %[[ZEROS]] :
tile.kernel @delayed(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// An accumulator that begins with other values is read.
// CHECK-LABEL: tile.kernel @initial(
// CHECK-NOT: cta.zeros
// CHECK-NOT: cta.undefined
// CHECK: cta.wgmma %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {n = 64 : i32}
// CHECK: pending = 1
tile.kernel @initial(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<1.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Two MMAs that share a slot stay in flight together.
// CHECK-LABEL: tile.kernel @two_dots(
// CHECK: scf.for
// CHECK: %[[LATER:.*]] = cta.ring_holds
// CHECK: cta.wgmma {{.*}} if %[[LATER]]
// CHECK-NEXT: cta.wgmma {{.*}} if %[[LATER]]
// CHECK-NEXT: cta.wgmma_wait {pending = 2 : i32}
// CHECK-NEXT: cta.ring_release %{{.*}} if %[[LATER]] after
// CHECK-NEXT: scf.yield
// CHECK: cta.wgmma_wait {pending = 0 : i32}
tile.kernel @two_dots(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !two
  %sum, %other = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %more = %zero) -> (!c, !c) : i32 {
    %slot = cta.ring_wait %ring : !two
    %a, %b, %b2 = cta.ring_buffers %ring[%slot] : !two
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    %e, %e_t = cta.wgmma %a, %b2, %more {n = 64 : i32} : !a, !b -> !c
    %s = cta.await %e after %e_t : !c
    cta.ring_release %ring[%slot] after %d_t, %e_t : !two
    scf.yield %r, %s : !c, !c
  }
  tile.print "sum" %sum : !c
  tile.print "other" %other : !c
  tile.return
}

// The next MMA would wait for the only slot, which is released after it.
// CHECK-LABEL: tile.kernel @negative_one_slot(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_one_slot(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !one
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !one
    %a, %b = cta.ring_buffers %ring[%slot] : !one
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !one
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// The indices of its iterations are unsigned.
// CHECK-LABEL: tile.kernel @unsigned(
// CHECK: arith.cmpi ugt
// CHECK: scf.for unsigned
// CHECK: pending = 1
tile.kernel @unsigned(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for unsigned %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// The release of the slot may be elsewhere.
// CHECK-LABEL: tile.kernel @negative_conditional(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_conditional(%n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] if %c after %d_t : !ring
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Threads write an operand of the MMA before they know that the previous MMA has read it.
// CHECK-LABEL: tile.kernel @negative_written(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_written(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %half = arith.constant dense<0.0> : tensor<16x64xf16, #row>
  %ring = cta.ring_alloc : !ring
  %own = cta.alloc : !b
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    cta.local_store %half, %own : tensor<16x64xf16, #row>, !b
    %d, %d_t = cta.wgmma %a, %own, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Threads write an operand of the MMA, if they do, before they know that it has been read.
// CHECK-LABEL: tile.kernel @negative_written_behind(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_written_behind(%n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %half = arith.constant dense<0.0> : tensor<16x64xf16, #row>
  %ring = cta.ring_alloc : !ring
  %own = cta.alloc : !b
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %own, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.if %c {
      cta.local_store %half, %own : tensor<16x64xf16, #row>, !b
    }
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// The sum is used in the same iteration.
// CHECK-LABEL: tile.kernel @negative_used(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_used(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    tile.print "r" %r : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// The sum of the iteration before is used.
// CHECK-LABEL: tile.kernel @negative_accumulator_used(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_accumulator_used(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    tile.print "acc" %acc : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// The loop carries another value.
// CHECK-LABEL: tile.kernel @negative_not_carried(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_not_carried(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !ring
    scf.yield %zero : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Nothing says when the operands may be overwritten.
// CHECK-LABEL: tile.kernel @negative_nothing_released(
// CHECK-NOT: pending = 1
// CHECK: tile.return
tile.kernel @negative_nothing_released(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %slot = cta.ring_wait %ring : !ring
    %a, %b = cta.ring_buffers %ring[%slot] : !ring
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// Two MMAs are issued before the first is awaited; after a store, which may write their operands, both are complete.
// CHECK-LABEL: tile.kernel @side_by_side(
// CHECK: cta.wgmma
// CHECK: cta.wgmma
// CHECK: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.await
// CHECK-NEXT: arith.negf
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await
// CHECK-NEXT: cta.local_store
tile.kernel @side_by_side(%i: i32) {
  %zero = arith.constant dense<0.0> : !c
  %half = arith.constant dense<0.0> : tensor<16x64xf16, #row>
  %a = cta.alloc : !a
  %b = cta.alloc : !b
  %d, %d_t = cta.wgmma %a, %b, %zero {n = 64 : i32} : !a, !b -> !c
  %r = cta.await %d after %d_t : !c
  %e, %e_t = cta.wgmma %a, %b, %zero {n = 64 : i32} : !a, !b -> !c
  %s = cta.await %e after %e_t : !c
  %n = arith.negf %r : !c
  cta.local_store %half, %b : tensor<16x64xf16, #row>, !b
  tile.print "" %n : !c
  tile.print "" %s : !c
  tile.return
}

// With a buffer that is copied to, each iteration fills the slot that the previous MMA has read: that MMA is awaited first.
!slots = !cta.buffer<64x16xf16, #a, slots = 3>
!brows = !cta.ring<2 x [!cta.buffer<16x64xf16, #b>]>
// CHECK-LABEL: tile.kernel @beside_copies(
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK: cta.async_copy
tile.kernel @beside_copies(%n: i32, %base: !tile.ptr<f16>) {
  %p = tile.splat %base : !tile.ptr<f16> -> tensor<64x16x!tile.ptr<f16>, #copy>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : !c
  %rows = cta.alloc : !slots
  %ring = cta.ring_alloc : !brows
  %sum:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %fill = %c2, %use = %c0) -> (!c, i32, i32) : i32 {
    cta.async_wait 1
    cta.proxy_fence
    %slot = cta.ring_wait %ring : !brows
    %b = cta.ring_buffers %ring[%slot] : !brows
    %a = cta.slot %rows[%use] : !slots -> !a
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !brows
    %to = cta.slot %rows[%fill] : !slots -> !a
    cta.async_copy %p, %to {vector = 8 : i32} : tensor<64x16x!tile.ptr<f16>, #copy>, !a
    cta.async_commit
    %fill_next = cta.next_slot %fill of 3
    %use_next = cta.next_slot %use of 3
    scf.yield %r, %fill_next, %use_next : !c, i32, i32
  }
  tile.print "sum" %sum#0 : !c
  tile.return
}

// The slot that the MMA itself reads: it is awaited in its iteration.
// CHECK-LABEL: tile.kernel @beside_copies_to_its_slot(
// CHECK: cta.wgmma %
// CHECK-NEXT: arith.constant true
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
tile.kernel @beside_copies_to_its_slot(%n: i32, %base: !tile.ptr<f16>) {
  %p = tile.splat %base : !tile.ptr<f16> -> tensor<64x16x!tile.ptr<f16>, #copy>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : !c
  %rows = cta.alloc : !slots
  %ring = cta.ring_alloc : !brows
  %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %use = %c0) -> (!c, i32) : i32 {
    cta.async_wait 1
    cta.proxy_fence
    %slot = cta.ring_wait %ring : !brows
    %b = cta.ring_buffers %ring[%slot] : !brows
    %a = cta.slot %rows[%use] : !slots -> !a
    %d, %d_t = cta.wgmma %a, %b, %acc {n = 64 : i32} : !a, !b -> !c
    %r = cta.await %d after %d_t : !c
    cta.ring_release %ring[%slot] after %d_t : !brows
    cta.async_copy %p, %a {vector = 8 : i32} : tensor<64x16x!tile.ptr<f16>, #copy>, !a
    cta.async_commit
    %use_next = cta.next_slot %use of 3
    scf.yield %r, %use_next : !c, i32
  }
  tile.print "sum" %sum#0 : !c
  tile.return
}
