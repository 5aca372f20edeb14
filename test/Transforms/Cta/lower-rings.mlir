// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-rings))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!pair = !cta.ring<3 x [!b, !b]>
!ring = !cta.ring<3 x [!b]>
!one = !cta.ring<1 x [!b]>

// Each role carries slot and parity through its loops, and computes the next ones where the slot was taken. The
// producer waits for the other parity, and announces all bytes before the copies. Data that threads have read
// themselves has arrived before they release the slot.
// CHECK-LABEL: tile.kernel @counters
// CHECK: %[[A:.*]] = cta.alloc : <64x64xf16, {{.*}} slots = 3>
// CHECK: %[[B:.*]] = cta.alloc : <64x64xf16, {{.*}} slots = 3>
// CHECK: %[[FULL:.*]] = cta.mbarrier_alloc arrivals 1 : <3>
// CHECK: %[[EMPTY:.*]] = cta.mbarrier_alloc arrivals 4 : <3>
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: %[[OUTER:.*]]:2 = scf.for {{.*}} iter_args(%[[SLOT0:.*]] = %[[ZERO:.*]], %[[PARITY0:.*]] = %[[ZERO]])
// CHECK: %[[INNER:.*]]:2 = scf.for {{.*}} iter_args(%[[SLOT:.*]] = %[[SLOT0]], %[[PARITY:.*]] = %[[PARITY0]])
// CHECK-NEXT: cta.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[PARITY]]
// CHECK: cta.slot %[[B]][%[[SLOT]]]
// CHECK: cta.proxy_fence
// CHECK-NEXT: cta.mbarrier_arrive %[[EMPTY]][%[[SLOT]]] :
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[PARITY]], %c1
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[SLOT]], %c2
// CHECK: %[[ADDED:.*]] = arith.addi %[[SLOT]], %c1
// CHECK: %[[NEXT:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[ADDED]]
// CHECK: %[[OTHER:.*]] = arith.select %[[WRAPS]], %[[FLIPPED]], %[[PARITY]]
// CHECK: scf.yield %[[NEXT]], %[[OTHER]]
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %[[ZERO]], %[[PARITY:.*]] = %[[ZERO]])
// CHECK: %[[OTHER:.*]] = arith.xori %[[PARITY]], %c1
// CHECK: cta.mbarrier_wait %[[EMPTY]][%[[SLOT]]], %[[OTHER]]
// CHECK: cta.mbarrier_expect %[[FULL]][%[[SLOT]]], 16384
// CHECK: %[[TILE:.*]] = cta.slot %[[A]][%[[SLOT]]]
// CHECK-NEXT: cta.tma_load %{{.*}}, %[[TILE]], %[[FULL]][%[[SLOT]]]
// CHECK-NEXT: %[[TILE:.*]] = cta.slot %[[B]][%[[SLOT]]]
// CHECK-NEXT: cta.tma_load %{{.*}}, %[[TILE]], %[[FULL]][%[[SLOT]]]
// CHECK-NOT: ring
tile.kernel @counters(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !pair
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %n step %c1 : i32 {
        %s = cta.ring_wait %ring : !pair
        %a, %b = cta.ring_buffers %ring[%s] : !pair
        %x = cta.local_load %b : !b -> !x
        cta.ring_release %ring[%s] : !pair
        tile.print "" %x : !x
      }
    }
  } role <producer, warps = 4, one_thread> {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = cta.ring_acquire %ring : !pair
      %a, %b = cta.ring_buffers %ring[%s] : !pair
      cta.tma_load %d[%i, %c0], %a, %ring[%s] : !d, !b, !pair
      cta.tma_load %d[%c0, %i], %b, %ring[%s] : !d, !b, !pair
      cta.ring_commit %ring[%s] : !pair
    }
  }
  tile.return
}

// If a branch is not taken, or a while loop ends, the position is unchanged; both continue where the other one ended.
// CHECK-LABEL: tile.kernel @control
// CHECK: %[[IF:.*]]:2 = scf.if %{{.*}} -> (i32, i32) {
// CHECK: cta.mbarrier_wait %[[FULL:.*]][%[[ZERO:.*]]], %[[ZERO]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ZERO]], %[[ZERO]]
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[SLOT0:.*]] = %[[IF]]#0, %[[PARITY0:.*]] = %[[IF]]#1)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[SLOT0]], %[[PARITY0]]
// CHECK: ^bb0(%{{.*}}: i32, %[[SLOT:.*]]: i32, %[[PARITY:.*]]: i32):
// CHECK: cta.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[PARITY]]
tile.kernel @control(%n: i32, %c: i1) {
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    scf.if %c {
      %s = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%s] : !ring
    }
    %end = scf.while (%i = %n) : (i32) -> i32 {
      %any = arith.cmpi sgt, %i, %c1 : i32
      scf.condition(%any) %i : i32
    } do {
    ^bb0(%i: i32):
      %s = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%s] : !ring
      %next = arith.subi %i, %c1 : i32
      scf.yield %next : i32
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// A slot acquired before a loop's condition is carried by the loop.
// CHECK-LABEL: tile.kernel @condition
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}})
// CHECK: cta.mbarrier_wait %{{.*}}[%[[SLOT]]], %[[PARITY]]
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: %[[OTHER:.*]] = arith.select
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[NEXT]], %[[OTHER]]
// CHECK: ^bb0(%{{.*}}: i32, %[[SLOT:.*]]: i32, %[[PARITY:.*]]: i32):
// CHECK: scf.yield %{{.*}}, %[[SLOT]], %[[PARITY]]
tile.kernel @condition(%n: i32) {
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %end = scf.while (%i = %n) : (i32) -> i32 {
      %s = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%s] : !ring
      %any = arith.cmpi sgt, %i, %c1 : i32
      scf.condition(%any) %i : i32
    } do {
    ^bb0(%i: i32):
      %next = arith.subi %i, %c1 : i32
      scf.yield %next : i32
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// A loop carries the number of a slot, or -1 for none. With one slot only the parity changes, also between two waits.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[NONE:.*]] = arith.constant -1 : i32
// CHECK: scf.for {{.*}} iter_args(%[[LAST:.*]] = %[[NONE]], %[[SLOT:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}}) -> (i32, i32, i32)
// CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[LAST]], %{{.*}}
// CHECK: cta.mbarrier_wait %[[FULL:.*]][%[[SLOT]]], %[[PARITY]]
// CHECK: cta.mbarrier_arrive %{{.*}}[%[[LAST]]] if %[[HOLDS]]
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[PARITY]]
// CHECK: cta.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[FLIPPED]]
// CHECK: %[[AGAIN:.*]] = arith.xori %[[FLIPPED]]
// CHECK: scf.yield %[[SLOT]], %[[SLOT]], %[[AGAIN]]
tile.kernel @carried(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !one
  cta.warp_roles role <consumer, warps = 4> {
    %none = cta.ring_none
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %none) -> (!cta.ring_slot) : i32 {
      %any = cta.ring_holds %previous
      %s = cta.ring_wait %ring : !one
      cta.ring_release %ring[%previous] if %any : !one
      %t = cta.ring_wait %ring : !one
      scf.yield %s : !cta.ring_slot
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// All copies have arrived when the slots below the next one are full in this round, and the others in the previous one;
// also in a branch, which carries nothing.
// CHECK-LABEL: tile.kernel @drain
// CHECK: %[[FULL:.*]] = cta.mbarrier_alloc arrivals 1 : <3>
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}})
// CHECK: scf.if %{{.*}} {
// CHECK: %[[OTHER:.*]] = arith.xori %[[PARITY]]
// CHECK: scf.for %[[I:[a-z0-9]*]] = %c0{{.*}} to %c3
// CHECK: %[[NEWER:.*]] = arith.cmpi slt, %[[I]], %[[SLOT]]
// CHECK: %[[AWAITED:.*]] = arith.select %[[NEWER]], %[[PARITY]], %[[OTHER]]
// CHECK: cta.mbarrier_wait %[[FULL]][%[[I]]], %[[AWAITED]]
tile.kernel @drain(%n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %c {
        cta.ring_drain %ring : !ring
      }
      %s = cta.ring_acquire %ring : !ring
      cta.ring_commit %ring[%s] : !ring
    }
  }
  tile.return
}

// A team leaves slots to the other team, and waits at its own barrier; the first turn of the first team ends at once.
// CHECK-LABEL: tile.kernel @teams
// CHECK: %[[TURNS:.*]] = cta.mbarrier_alloc arrivals 4 : <2>
// CHECK-NEXT: cta.warp_roles role <consumer{{.*}}> {
// CHECK: %[[TEAM:.*]] = cta.team
// CHECK: %[[TURN0:.*]] = arith.xori %[[TEAM]], %c1
// CHECK: %[[ROUNDS:.*]] = arith.divui %[[N:.*]], %c3
// CHECK: %[[REST:.*]] = arith.subi %[[N]]
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[TURN:.*]] = %[[TURN0]])
// CHECK: cta.mbarrier_wait %[[TURNS]][%{{.*}}], %[[TURN]]
// CHECK: %[[OTHER:.*]] = arith.xori
// CHECK: cta.mbarrier_arrive %[[TURNS]][%[[OTHER]]]
// CHECK: %[[SUM:.*]] = arith.addi %[[SLOT]], %[[REST]]
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[SUM]], %c3
// CHECK: %[[WRAPPED:.*]] = arith.subi %[[SUM]], %c3
// CHECK: arith.select %[[BELOW]], %[[SUM]], %[[WRAPPED]]
tile.kernel @teams(%n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    cta.turn_open of 2 teams
    %count = arith.addi %n, %m : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      cta.turn_begin of 2 teams
      cta.turn_end of 2 teams
      cta.ring_skip %ring, %count : !ring
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// The consumer warps of all CTAs release slots in all CTAs.
// CHECK-LABEL: tile.kernel @cluster
// CHECK: cta.mbarrier_alloc arrivals 1
// CHECK: cta.mbarrier_alloc arrivals 8
// CHECK: cta.mbarrier_arrive %{{.*}} {ctas = 2 : i32}
tile.kernel @cluster() attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %ring = cta.ring_alloc {ctas = 2 : i32} : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %s = cta.ring_wait %ring : !ring
    cta.ring_release %ring[%s] : !ring
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// Completed MMAs have read their slot.
// CHECK-LABEL: tile.kernel @read_by_wgmmas
// CHECK-NOT: cta.proxy_fence
// CHECK: cta.mbarrier_arrive
tile.kernel @read_by_wgmmas(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %t = cta.token_none
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%s] after %t : !ring
    }
  } role <producer, warps = 4, one_thread> {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = cta.ring_acquire %ring : !ring
      %a = cta.ring_buffers %ring[%s] : !ring
      cta.tma_load %d[%i, %c0], %a, %ring[%s] : !d, !b, !ring
      cta.ring_commit %ring[%s] : !ring
    }
  }
  tile.return
}

// The slots of other buffers, which loops count separately.
// CHECK-LABEL: tile.kernel @next_slot
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[I:.*]], %c3
// CHECK: %[[ADDED:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[NEXT:.*]] = arith.select %[[WRAPS]], %c0{{.*}}, %[[ADDED]]
// CHECK: tile.print "" %[[NEXT]]
tile.kernel @next_slot(%i: i32) {
  %j = cta.next_slot %i of 4
  tile.print "" %j : i32
  tile.return
}
