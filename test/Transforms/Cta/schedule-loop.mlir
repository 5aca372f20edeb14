// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-schedule-loop))' --mlir-print-local-scope | FileCheck %s

#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]>
#c = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!q = !cta.buffer<64x16xf16, #q>
!k = !cta.buffer<16x16xf16, #k>
!ks = !cta.buffer<16x16xf16, #k, slots = 2>
!c = tensor<64x16xf32, #c>
!p = tensor<64x16xf16, #c>
!d = !tile.desc<16x16xf16>
!ring = !cta.mbarrier<2>

// The next scores are issued before the product of this iteration's weights, and computed with while that is in flight;
// the next round waits for it, and only then writes the left operand that it has read.
// CHECK-LABEL: tile.kernel @ahead(
// CHECK: consumer {
// CHECK: scf.if
// CHECK: %[[S0:.*]] = cta.wgmma
// CHECK: cta.wgmma_wait %[[S0]] {pending = 0 : i32}
// CHECK: cta.mbarrier_arrive
// CHECK-NEXT: %[[E0:.*]] = math.exp2
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ ]*]] = %{{[^ ,]*}}, {{.*}}%[[E:[^ ,]*]] = %[[E0]], {{.*}}%[[SLOT:[^ ,]*]] = %[[NONE:[^ ,]*]]) ->
// CHECK-NEXT: cta.wgmma_wait %[[ACC]] {pending = 0 : i32}
// CHECK-NEXT: %[[READY:.*]] = cta.wgmma_wait %[[E]] {pending = 0 : i32}
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[SLOT]]
// CHECK: cta.mbarrier_arrive %{{.*}}[%[[SLOT]]] if %[[LATER]]
// CHECK: %[[P:.*]] = arith.truncf %[[READY]]
// CHECK: cta.mbarrier_wait
// CHECK: %[[S:.*]] = cta.wgmma %{{.*}} : !cta.buffer
// CHECK: cta.mbarrier_wait
// CHECK: %[[O:.*]] = cta.wgmma %[[P]],
// CHECK: cta.wgmma_wait %[[S]] {pending = 1 : i32}
// CHECK: cta.mbarrier_arrive
// CHECK: math.exp2
// CHECK: scf.yield %[[O]],
// CHECK: cta.wgmma_wait {{.*}} {pending = 0 : i32}
// CHECK: cta.wgmma
// CHECK: cta.wgmma_wait {{.*}} {pending = 0 : i32}
// CHECK: } else {
// CHECK-NEXT: scf.yield
tile.kernel @ahead(%n: i32, %first: i32, %d: !d {tile.tensor_map = {base = "a"}}) attributes {producer_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %ks = cta.alloc : !ks
  %vs = cta.alloc : !ks
  %fullk = cta.mbarrier_alloc arrivals 1 : !ring
  %emptyk = cta.mbarrier_alloc arrivals 4 : !ring
  %fullv = cta.mbarrier_alloc arrivals 1 : !ring
  %emptyv = cta.mbarrier_alloc arrivals 4 : !ring
  cta.warp_roles consumer {
    %sum, %lastk, %lastv = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero, %slotk = %first, %slotv = %first) -> (!c, i32, i32) : i32 {
      cta.mbarrier_wait %fullk[%slotk], %c0 : !ring
      %k = cta.slot %ks[%slotk] : !ks -> !k
      cta.mbarrier_wait %fullv[%slotv], %c0 : !ring
      %v = cta.slot %vs[%slotv] : !ks -> !k
      %s = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
      %ready = cta.wgmma_wait %s {pending = 0 : i32} : !c
      cta.mbarrier_arrive %emptyk[%slotk] : !ring
      %e = math.exp2 %ready : !c
      %p = arith.truncf %e : !c to !p
      %o = cta.wgmma %p, %v, %acc {n = 16 : i32} : !p, !k -> !c
      %r = cta.wgmma_wait %o {pending = 0 : i32} : !c
      cta.mbarrier_arrive %emptyv[%slotv] : !ring
      %nextk = arith.xori %slotk, %c1 : i32
      %nextv = arith.xori %slotv, %c1 : i32
      scf.yield %r, %nextk, %nextv : !c, i32, i32
    }
    tile.print "sum" %sum : !c
  } producer {
    scf.for %j = %c0 to %n step %c1 : i32 {
      cta.mbarrier_wait %emptyk[%c0], %c0 : !ring
      cta.mbarrier_expect %fullk[%c0], 512 : !ring
      %k = cta.slot %ks[%c0] : !ks -> !k
      cta.tma_load %d[%j, %c0], %k, %fullk[%c0] : !d, !k, !ring
      cta.mbarrier_wait %emptyv[%c0], %c0 : !ring
      cta.mbarrier_expect %fullv[%c0], 512 : !ring
      %v = cta.slot %vs[%c0] : !ks -> !k
      cta.tma_load %d[%j, %c0], %v, %fullv[%c0] : !d, !k, !ring
    }
  }
  tile.return
}

// Two products of the same operands are in flight together, and each is awaited where its sum is needed.
// CHECK-LABEL: tile.kernel @independent(
// CHECK: scf.for
// CHECK: %[[A:.*]] = cta.wgmma
// CHECK-NEXT: %[[B:.*]] = cta.wgmma
// CHECK-NEXT: cta.wgmma_wait %[[A]] {pending = 1 : i32}
// CHECK-NEXT: math.exp2
// CHECK-NEXT: cta.wgmma_wait %[[B]] {pending = 0 : i32}
tile.kernel @independent(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %v = cta.alloc : !k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %a = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.wgmma_wait %a {pending = 0 : i32} : !c
    %e = math.exp2 %x : !c
    %b = cta.wgmma %q, %v, %zero {n = 16 : i32} : !q, !k -> !c
    %y = cta.wgmma_wait %b {pending = 0 : i32} : !c
    %m = arith.mulf %e, %y : !c
    %r = arith.addf %acc, %m : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// A mask for the first iteration alone is gone from the others.
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
    %a = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.wgmma_wait %a {pending = 0 : i32} : !c
    %later = arith.cmpi sge, %j, %c1 : i32
    %laters = tile.splat %later : i1 -> tensor<64x16xi1, #c>
    %e = arith.select %laters, %x, %zero : tensor<64x16xi1, #c>, !c
    %b = cta.wgmma %q, %v, %zero {n = 16 : i32} : !q, !k -> !c
    %y = cta.wgmma_wait %b {pending = 0 : i32} : !c
    %m = arith.mulf %e, %y : !c
    %r = arith.addf %acc, %m : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}

// A barrier orders what is around it: the second product stays behind it.
// CHECK-LABEL: tile.kernel @negative_barrier(
// CHECK: cta.wgmma_wait
// CHECK: cta.barrier
// CHECK: cta.wgmma
tile.kernel @negative_barrier(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
    %a = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %x = cta.wgmma_wait %a {pending = 0 : i32} : !c
    cta.barrier
    %b = cta.wgmma %q, %k, %x {n = 16 : i32} : !q, !k -> !c
    %y = cta.wgmma_wait %b {pending = 0 : i32} : !c
    %r = arith.addf %acc, %y : !c
    scf.yield %r : !c
  }
  tile.print "sum" %sum : !c
  tile.return
}
