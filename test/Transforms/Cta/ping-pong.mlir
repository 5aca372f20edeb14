// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-ping-pong))' --split-input-file --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.buffer<64x64xf16, #s, slots = 3>
!panels = !cta.buffer<64x64xf16, #s, slots = 2>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<3>

// Each team takes every other program, begins with the slot after the other's steps, waits for its turn before it uses the
// ring, hands over after it, and skips the other's steps. Panels and scratch buffers are doubled; the producer stays.
// CHECK-LABEL: tile.kernel @turns
// CHECK-SAME: teams = 2 : i32
// CHECK-DAG: %[[ORDER:.*]] = cta.mbarrier_alloc arrivals 4 : <2>
// CHECK-DAG: %[[PANELS:.*]] = cta.alloc : <64x64xf16, {{.*}}, slots = 4>
// CHECK-DAG: %[[SCRATCH:.*]] = cta.alloc : <64x64xf16, {{.*}}, slots = 2>
// CHECK: cta.warp_roles consumer {
// CHECK-NEXT: %[[TEAM:.*]] = cta.team
// CHECK-NEXT: %[[OWN:.*]] = cta.slot %[[SCRATCH]][%[[TEAM]]]
// CHECK-DAG: %[[CTA:.*]] = tile.program_id 0
// CHECK-DAG: %[[CTAS:.*]] = tile.num_programs 0
// CHECK: %[[ROUNDS:.*]] = arith.divui %[[STEPS:.*]], %c3
// CHECK: %[[SKIP:.*]] = arith.subi %[[STEPS]]
// CHECK: %[[DISTANCE:.*]] = arith.muli %[[TEAM]], %[[CTAS]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[CTA]], %[[DISTANCE]]
// CHECK: %[[SLOT0:.*]] = arith.select %{{.*}}, %[[SKIP]], %c0
// CHECK: %[[TURN0:.*]] = arith.xori %[[TEAM]], %c1
// CHECK: %[[TWICE:.*]] = arith.muli %[[CTAS]], %c2
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[TWICE]] iter_args(%[[SLOT:.*]] = %[[SLOT0]], %{{.*}} = %{{.*}}, %[[TURN:.*]] = %[[TURN0]])
// CHECK: cta.mbarrier_wait %[[ORDER]][%[[TEAM]]], %[[TURN]]
// CHECK: %[[OTHER:.*]] = arith.xori %[[TEAM]], %c1
// CHECK-NEXT: %[[LAST:.*]]:2 = scf.for
// CHECK: cta.mbarrier_arrive %[[ORDER]][%[[OTHER]]]
// CHECK: cta.local_store %{{.*}}, %[[OWN]]
// CHECK: %[[INDEX:.*]] = arith.addi %{{.*}}, %c1
// CHECK: cta.slot %[[PANELS]][%[[INDEX]]]
// CHECK: arith.addi %[[LAST]]#0, %[[SKIP]]
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[TURN]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[FLIPPED]]
// CHECK: } producer {
// CHECK-NOT: team
// CHECK: consumer_registers = 232 : i32, producer_registers = 40 : i32
tile.kernel @turns(%count: i32, %k: i32, %d: !d {tile.tensor_map = {base = "a"}}, %e: !d {tile.tensor_map = {base = "c"}})
    attributes {num_warps = 4 : i32, producer_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = cta.alloc : !ring
  %panels = cta.alloc : !panels
  %full = cta.mbarrier_alloc arrivals 1 : !m
  %empty = cta.mbarrier_alloc arrivals 4 : !m
  cta.warp_roles consumer {
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %r:2 = scf.for %p = %cta to %count step %ctas iter_args(%slot0 = %c0, %parity0 = %c0) -> (i32, i32) : i32 {
      %s:2 = scf.for %i = %c0 to %k step %c2 iter_args(%slot = %slot0, %parity = %parity0) -> (i32, i32) : i32 {
        cta.mbarrier_wait %full[%slot], %parity : !m
        %b = cta.slot %ring[%slot] : !ring -> !b
        %x = cta.local_load %b : !b -> !x
        tile.print "x" %x : !x
        cta.mbarrier_arrive %empty[%slot] : !m
        scf.yield %slot, %parity : i32, i32
      }
      %zero = arith.constant dense<0.0> : !x
      %scratch = cta.alloc : !b
      cta.local_store %zero, %scratch : !x, !b
      %y = cta.local_load %scratch : !b -> !x
      cta.tma_store_wait 1
      %panel = cta.slot %panels[%c1] : !panels -> !b
      cta.local_store %y, %panel : !x, !b
      cta.proxy_fence
      cta.tma_store %panel, %e[%p, %c0] : !b, !d
      scf.yield %s#0, %s#1 : i32, i32
    }
    cta.tma_store_wait 0
  } producer {
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %r:2 = scf.for %p = %cta to %count step %ctas iter_args(%slot0 = %c0, %parity0 = %c0) -> (i32, i32) : i32 {
      %s:2 = scf.for %i = %c0 to %k step %c2 iter_args(%slot = %slot0, %parity = %parity0) -> (i32, i32) : i32 {
        cta.mbarrier_wait %empty[%slot], %parity : !m
        cta.mbarrier_expect %full[%slot], 8192 : !m
        %b = cta.slot %ring[%slot] : !ring -> !b
        cta.tma_load %d[%p, %i], %b, %full[%slot] : !d, !b, !m
        scf.yield %slot, %parity : i32, i32
      }
      scf.yield %s#0, %s#1 : i32, i32
    }
  }
  tile.return
}

// -----

// With cta-overlap-waits the turn passes before the last product is awaited, and where there is no product at all.

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#t = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!t = !cta.buffer<64x64xf16, #t>
!ring = !cta.buffer<64x64xf16, #s, slots = 2>
!c = tensor<64x64xf32, #c>
!m = !cta.mbarrier<2>

// CHECK-LABEL: tile.kernel @products
// CHECK: cta.mbarrier_wait %[[ORDER:.*]][%[[TEAM:.*]]], %{{.*}} : <2>
// CHECK: %[[OTHER:.*]] = arith.xori %[[TEAM]]
// CHECK: scf.if
// CHECK: cta.wgmma
// CHECK-NEXT: cta.mbarrier_arrive %[[ORDER]][%[[OTHER]]]
// CHECK-NEXT: cta.wgmma_wait
// CHECK: } else {
// CHECK-NEXT: cta.mbarrier_arrive %[[ORDER]][%[[OTHER]]]
// CHECK-NOT: mbarrier_arrive %[[ORDER]]
tile.kernel @products(%count: i32, %k: i32, %d: !d {tile.tensor_map = {base = "a"}})
    attributes {num_warps = 4 : i32, producer_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.alloc : !ring
  %full = cta.mbarrier_alloc arrivals 1 : !m
  %empty = cta.mbarrier_alloc arrivals 4 : !m
  cta.warp_roles consumer {
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %r:2 = scf.for %p = %cta to %count step %ctas iter_args(%slot = %c0, %parity = %c0) -> (i32, i32) : i32 {
      %any = arith.cmpi slt, %c0, %k : i32
      %s = scf.if %any -> (!c) {
        cta.mbarrier_wait %full[%slot], %parity : !m
        %b = cta.slot %ring[%slot] : !ring -> !b
        %t = cta.trans_buffer %b : !b -> !t
        %x = cta.wgmma %b, %t, %zero {n = 64 : i32} : !b, !t -> !c
        %y = cta.wgmma_wait %x {pending = 0 : i32} : !c
        cta.mbarrier_arrive %empty[%slot] : !m
        scf.yield %y : !c
      } else {
        scf.yield %zero : !c
      }
      tile.print "s" %s : !c
      scf.yield %slot, %parity : i32, i32
    }
  } producer {
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %r:2 = scf.for %p = %cta to %count step %ctas iter_args(%slot0 = %c0, %parity0 = %c0) -> (i32, i32) : i32 {
      %s:2 = scf.for %i = %c0 to %k step %c1 iter_args(%slot = %slot0, %parity = %parity0) -> (i32, i32) : i32 {
        cta.mbarrier_wait %empty[%slot], %parity : !m
        %b = cta.slot %ring[%slot] : !ring -> !b
        cta.tma_load %d[%p, %i], %b, %full[%slot] : !d, !b, !m
        scf.yield %slot, %parity : i32, i32
      }
      scf.yield %s#0, %s#1 : i32, i32
    }
  }
  tile.return
}
