// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK: tile.kernel @k(%[[SLOT:.*]]: i32, %[[PARITY:.*]]: i32, %[[C:.*]]: i1)
tile.kernel @k(%slot: i32, %parity: i32, %c: i1) {
  // CHECK: %[[FULL:.*]] = cta.mbarrier_alloc arrivals 1 : <4>
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // CHECK: %[[EMPTY:.*]] = cta.mbarrier_alloc arrivals 8 at 4096 : <4>
  %empty = cta.mbarrier_alloc arrivals 8 at 4096 : !cta.mbarrier<4>
  // CHECK: cta.mbarrier_wait %[[FULL]][%[[SLOT]]], %[[PARITY]] : <4>
  cta.mbarrier_wait %full[%slot], %parity : !cta.mbarrier<4>
  // CHECK: cta.mbarrier_arrive %[[EMPTY]][%[[SLOT]]] : <4>
  cta.mbarrier_arrive %empty[%slot] : !cta.mbarrier<4>
  // CHECK: cta.mbarrier_arrive %[[EMPTY]][%[[SLOT]]] if %[[C]] : <4>
  cta.mbarrier_arrive %empty[%slot] if %c : !cta.mbarrier<4>
  // CHECK: cta.mbarrier_expect %[[FULL]][%[[SLOT]]], 49152 : <4>
  cta.mbarrier_expect %full[%slot], 49152 : !cta.mbarrier<4>
  tile.return
}

// CHECK: @type(!cta.mbarrier<4>)
func.func private @type(!cta.mbarrier<4>)
