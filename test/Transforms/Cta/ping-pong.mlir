// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-ping-pong))' --split-input-file --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<3 x [!b]>
!panels = !cta.buffer<64x64xf16, #s, slots = 2>
!x = tensor<64x64xf16, #x>

// Each team skips the slots of the other's steps, also before the first program, waits for its turn before it uses the
// ring, and passes the turn on after it. Panels and scratch buffers are doubled; the producer is unchanged.
// CHECK-LABEL: tile.kernel @turns
// CHECK: %[[RING:.*]] = cta.ring_alloc
// CHECK-DAG: %[[PANELS:.*]] = cta.alloc : <64x64xf16, {{.*}}, slots = 4>
// CHECK-DAG: %[[SCRATCH:.*]] = cta.alloc : <64x64xf16, {{.*}}, slots = 2>
// CHECK: cta.warp_roles role <consumer, warps = 4, teams = 2, registers = 232> {
// CHECK-NEXT: cta.turn_open of 2 teams
// CHECK-NEXT: %[[TEAM:.*]] = cta.team
// CHECK-NEXT: %[[OWN:.*]] = cta.slot %[[SCRATCH]][%[[TEAM]]]
// CHECK: arith.divui
// CHECK: %[[STEPS:.*]] = arith.select
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[TEAM]], %c1
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK-NEXT: cta.ring_skip %[[RING]], %[[STEPS]]
// CHECK: tile.programs
// CHECK-NEXT: cta.turn_begin of 2 teams
// CHECK-NEXT: scf.for
// CHECK: cta.turn_end of 2 teams
// CHECK: cta.local_store %{{.*}}, %[[OWN]]
// CHECK: %[[INDEX:.*]] = arith.addi %{{.*}}, %c1
// CHECK: cta.slot %[[PANELS]][%[[INDEX]]]
// CHECK: cta.ring_skip %[[RING]], %[[STEPS]]
// CHECK-NEXT: }
// CHECK: } role <producer, warps = 4, registers = 40, one_thread> {
// CHECK-NOT: team
tile.kernel @turns(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "c">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %panels = cta.alloc : !panels
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c2 : i32 {
        %slot = cta.ring_wait %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        %x = cta.local_load %b : !b -> !x
        tile.print "x" %x : !x
        cta.ring_release %ring[%slot] : !ring
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
    }
    cta.tma_store_wait 0
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c2 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

// With an MMA in flight, the turn is passed before the last MMA is awaited, also if there is no MMA at all.

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#t = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!t = !cta.buffer<64x64xf16, #t>
!ring = !cta.ring<2 x [!b]>
!c = tensor<64x64xf32, #c>

// CHECK-LABEL: tile.kernel @dots
// CHECK: cta.turn_begin of 2 teams
// CHECK: scf.if
// CHECK: cta.wgmma
// CHECK-NEXT: cta.turn_end of 2 teams
// CHECK-NEXT: cta.await
// CHECK: } else {
// CHECK-NEXT: cta.turn_end of 2 teams
// CHECK-NOT: cta.turn_end
tile.kernel @dots(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %any = arith.cmpi slt, %c0, %k : i32
      %s = scf.if %any -> (!c) {
        %slot = cta.ring_wait %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        %t = cta.trans_buffer %b : !b -> !t
        %x, %x_t = cta.wgmma %b, %t, %zero {n = 64 : i32} : !b, !t -> !c
        %y = cta.await %x after %x_t : !c
        cta.ring_release %ring[%slot] : !ring
        scf.yield %y : !c
      } else {
        scf.yield %zero : !c
      }
      tile.print "s" %s : !c
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}
