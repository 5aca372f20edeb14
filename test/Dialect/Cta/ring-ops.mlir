// RUN: tile-opt %s --mlir-print-local-scope | tile-opt --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[2], offset = [[1]]>
!b = !cta.buffer<2xf16, #s>
!ring = !cta.ring<3 x [!b, !b]>
!d = !tile.desc<2xf16>

// CHECK: tile.kernel @k(%[[C:.*]]: i1, %[[N:.*]]: i32, %[[D:.*]]: !tile.desc<2xf16>)
tile.kernel @k(%c: i1, %n: i32, %d: !d) {
  // CHECK: %[[R:.*]] = cta.ring_alloc : <3 x [<2xf16, #cta.layout<[2], offset = {{.*}}>>, <2xf16, #cta.layout<[2], offset = {{.*}}>>]>
  %r = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    // CHECK: %[[S:.*]] = cta.ring_wait %[[R]] : <3 x
    %s = cta.ring_wait %r : !ring
    // CHECK: %{{.*}}:2 = cta.ring_buffers %[[R]][%[[S]]] : <3 x
    %a, %b = cta.ring_buffers %r[%s] : !ring
    // CHECK: cta.ring_release %[[R]][%[[S]]] : <3 x
    cta.ring_release %r[%s] : !ring
    // CHECK: %[[NONE:.*]] = cta.ring_none
    %none = cta.ring_none
    // CHECK: %{{.*}} = cta.ring_holds %[[NONE]]
    %any = cta.ring_holds %none
    // CHECK: cta.ring_release %[[R]][%[[NONE]]] if %[[C]] : <3 x
    cta.ring_release %r[%none] if %c : !ring
    // CHECK: %[[T:.*]] = cta.token_none
    %t = cta.token_none
    // CHECK: cta.ring_release %[[R]][%[[NONE]]] if %[[C]] after %[[T]], %[[T]] : <3 x
    cta.ring_release %r[%none] if %c after %t, %t : !ring
    // CHECK: cta.ring_skip %[[R]], %[[N]] : <3 x
    cta.ring_skip %r, %n : !ring
  } role <producer, warps = 4, one_thread> {
    // CHECK: cta.ring_drain %[[R]] : <3 x
    cta.ring_drain %r : !ring
    // CHECK: %[[S:.*]] = cta.ring_acquire %[[R]] : <3 x
    %s = cta.ring_acquire %r : !ring
    %a, %b = cta.ring_buffers %r[%s] : !ring
    // CHECK: cta.tma_load %[[D]][%[[N]]], %{{.*}}, %[[R]][%[[S]]] : <2xf16>, <2xf16, {{.*}}>, !cta.ring<3 x
    cta.tma_load %d[%n], %a, %r[%s] : !d, !b, !ring
    // CHECK: cta.ring_commit %[[R]][%[[S]]] : <3 x
    cta.ring_commit %r[%s] : !ring
  }
  tile.return
}

// CHECK: @type(!cta.ring_slot)
func.func private @type(!cta.ring_slot)
