// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-waits))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-waits,cta-insert-waits))' | FileCheck %s

#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]>
#c = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!q = !cta.buffer<64x16xf16, #q>
!k = !cta.buffer<16x16xf16, #k>
!c = tensor<64x16xf32, #c>
!h = tensor<64x16xf16, #c>
!ring = !cta.ring<2 x [!k]>

// The first one is complete while the second is in flight; later users of the first do not wait again.
// CHECK-LABEL: tile.kernel @in_order(
// CHECK: cta.wgmma
// CHECK: cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release
// CHECK-NEXT: cta.await
// CHECK-NEXT: tile.print
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await
// CHECK-NEXT: tile.print
tile.kernel @in_order() {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %ring = cta.ring_alloc : !ring
  %slot = cta.ring_none
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  cta.ring_release %ring[%slot] after %ta : !ring
  %x = cta.await %a after %ta : !c
  tile.print "" %x : !c
  %y = cta.await %b after %tb : !c
  tile.print "" %y : !c
  tile.return
}

// If there is nothing between several awaits, or a release of a slot that several MMAs read, the last MMA counts.
// CHECK-LABEL: tile.kernel @together(
// CHECK: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.await
// CHECK-NEXT: cta.await
// CHECK-NEXT: tile.print
// CHECK-NEXT: tile.print
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.ring_release
// CHECK-NEXT: tile.print
tile.kernel @together() {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %ring = cta.ring_alloc : !ring
  %slot = cta.ring_none
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %d, %td = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %x = cta.await %a after %ta : !c
  %y = cta.await %b after %tb : !c
  tile.print "" %x : !c
  tile.print "" %y : !c
  cta.ring_release %ring[%slot] after %td, %ta : !ring
  tile.print "" %x : !c
  tile.return
}

// The loop carries the token of the previous iteration; in the first iteration there is nothing to wait for.
// CHECK-LABEL: tile.kernel @carried(
// CHECK: scf.for
// CHECK: cta.wgmma
// CHECK: cta.wgmma
// CHECK-NEXT: cta.wgmma_wait {pending = 3 : i32}
// CHECK-NEXT: cta.ring_release
// CHECK-NEXT: scf.yield
// CHECK: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release
tile.kernel @carried(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %ring = cta.ring_alloc : !ring
  %slot = cta.ring_none
  %none = cta.token_none
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %none) -> (!cta.token) : i32 {
    %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    cta.ring_release %ring[%slot] after %previous : !ring
    scf.yield %ta : !cta.token
  }
  cta.ring_release %ring[%slot] after %last : !ring
  tile.return
}

// Two tokens are exchanged in each iteration: the younger one is from the previous iteration.
// CHECK-LABEL: tile.kernel @exchanged(
// CHECK: scf.for
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.ring_release
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release
tile.kernel @exchanged(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %ring = cta.ring_alloc : !ring
  %slot = cta.ring_none
  %none = cta.token_none
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %none, %y = %none) -> (!cta.token, !cta.token) : i32 {
    cta.ring_release %ring[%slot] after %x : !ring
    %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    scf.yield %tb, %ta : !cta.token, !cta.token
  }
  cta.ring_release %ring[%slot] after %r#1 : !ring
  tile.return
}

// The loop is left after its first region, in which an MMA was issued after the carried one.
// CHECK-LABEL: tile.kernel @while(
// CHECK: scf.while
// CHECK: } do {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: cta.wgmma_wait {pending = 1 : i32}
// CHECK-NEXT: cta.ring_release
tile.kernel @while(%c: i1) {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %ring = cta.ring_alloc : !ring
  %slot = cta.ring_none
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %last = scf.while (%before = %ta) : (!cta.token) -> !cta.token {
    %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    scf.condition(%c) %before : !cta.token
  } do {
  ^bb0(%after: !cta.token):
    cta.ring_release %ring[%slot] after %after : !ring
    %d, %td = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
    scf.yield %td : !cta.token
  }
  cta.ring_release %ring[%slot] after %last : !ring
  tile.return
}

// The path that issues fewer MMAs counts, and an MMA that one of the paths has awaited may be in flight.
// CHECK-LABEL: tile.kernel @paths(
// CHECK: scf.if
// CHECK: } else {
// CHECK: cta.wgmma_wait {pending = 0 : i32}
// CHECK: }
// CHECK-NEXT: cta.wgmma_wait {pending = 0 : i32}
// CHECK-NEXT: cta.await
tile.kernel @paths(%c: i1) {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  scf.if %c {
    %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  } else {
    %x = cta.await %a after %ta : !c
    tile.print "" %x : !c
  }
  %y = cta.await %a after %ta : !c
  tile.print "" %y : !c
  tile.return
}

// A statement that waits for its own MMAs has also waited for earlier ones.
// CHECK-LABEL: tile.kernel @negative_synchronous(
// CHECK-NOT: cta.wgmma_wait
// CHECK: tile.return
tile.kernel @negative_synchronous() {
  %zero = arith.constant dense<0.0> : !c
  %half = arith.constant dense<0.0> : !h
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %b, %tb = cta.wgmma %q, %k, %half {n = 16 : i32} : !q, !k -> !h
  %x = cta.await %a after %ta : !c
  %y = cta.await %b after %tb : !h
  tile.print "" %x : !c
  tile.print "" %y : !h
  tile.return
}

// The instruction can leave at most 7 groups pending.
// CHECK-LABEL: tile.kernel @many(
// CHECK: cta.wgmma_wait {pending = 7 : i32}
tile.kernel @many() {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !q, !k -> !c
  %b0, %tb0 = cta.wgmma %q, %k, %a {n = 16 : i32} : !q, !k -> !c
  %b1, %tb1 = cta.wgmma %q, %k, %b0 {n = 16 : i32} : !q, !k -> !c
  %b2, %tb2 = cta.wgmma %q, %k, %b1 {n = 16 : i32} : !q, !k -> !c
  %b3, %tb3 = cta.wgmma %q, %k, %b2 {n = 16 : i32} : !q, !k -> !c
  %b4, %tb4 = cta.wgmma %q, %k, %b3 {n = 16 : i32} : !q, !k -> !c
  %b5, %tb5 = cta.wgmma %q, %k, %b4 {n = 16 : i32} : !q, !k -> !c
  %b6, %tb6 = cta.wgmma %q, %k, %b5 {n = 16 : i32} : !q, !k -> !c
  %b7, %tb7 = cta.wgmma %q, %k, %b6 {n = 16 : i32} : !q, !k -> !c
  %x = cta.await %a after %ta : !c
  tile.print "" %x : !c
  tile.return
}
