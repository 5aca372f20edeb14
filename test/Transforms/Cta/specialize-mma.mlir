// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_100a},tile.kernel(cta-specialize-mma))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf32, #x>
!t = !cta.tensor_memory<64x64xf32>
!m = !cta.mbarrier<1>
!ring = !cta.ring<2 x [<64x64xf16, #s>]>

// The loop moves to a role of one thread, with the loop around it. MMAs release the slots and pass the accumulator, of which there
// are two: one is loaded while the other is computed.
// CHECK-LABEL: tile.kernel @moved
// CHECK-NOT: cta.mbarrier_alloc
// CHECK: %[[TWO:.*]] = cta.tensor_memory_alloc : <64x64xf32, slots = 2>
// CHECK: %[[DONE:.*]] = cta.ring_alloc : <2 x []>
// CHECK-NEXT: cta.warp_roles role <consumer, warps = 4> {
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: %[[FULL:.*]] = cta.ring_wait %[[DONE]]
// CHECK-NEXT: cta.tensor_memory_fence{{$}}
// CHECK-NEXT: %[[READY:.*]] = cta.tensor_memory_slot %[[TWO]][%[[FULL]] : !cta.ring_slot]
// CHECK-NEXT: cta.tensor_memory_load %[[READY]]
// CHECK-NEXT: cta.tensor_memory_fence before
// CHECK-NEXT: cta.ring_release %[[DONE]][%[[FULL]]]
// CHECK: tile.print
// CHECK: } role <producer, warps = 1, one_thread> {
// CHECK: } role <mma, warps = 1, one_thread> {
// CHECK: scf.for
// CHECK-NEXT: %[[EMPTY:.*]] = cta.ring_acquire %[[DONE]]
// CHECK-NEXT: cta.tensor_memory_fence{{$}}
// CHECK-NEXT: %[[ACC:.*]] = cta.tensor_memory_slot %[[TWO]][%[[EMPTY]] : !cta.ring_slot]
// CHECK-NEXT: scf.for
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %[[ACC]] if
// CHECK-NEXT: cta.ring_release %{{.*}}[%{{.*}}] by_mma
// CHECK-NEXT: }
// CHECK-NEXT: cta.ring_commit %[[DONE]][%[[EMPTY]]] by_mma
// CHECK-NOT: tile.print
tile.kernel @moved(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %d = cta.mbarrier_alloc arrivals 1 : !m
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %r = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %i = %0 to %n step %1 : i32 {
      scf.for %k = %0 to %n step %1 : i32 {
        %s = cta.ring_wait %r : !ring
        %a = cta.ring_buffers %r[%s] : !ring
        %later = arith.cmpi ne, %k, %0 : i32
        cta.tcgen05_mma %a, %a, %t if %later {m = 64 : i32, n = 64 : i32} : !b, !b, !t
        cta.tcgen05_commit %d[%0] : !m
        cta.tcgen05_await %d : !m
        cta.ring_release %r[%s] : !ring
      }
      %x = cta.tensor_memory_load %t : !t -> !x
      tile.print "" %x : !x
    }
  } role <producer, warps = 1, one_thread> {
    scf.for %i = %0 to %n step %1 : i32 {
      scf.for %k = %0 to %n step %1 : i32 {
        %s = cta.ring_acquire %r : !ring
        cta.ring_commit %r[%s] : !ring
      }
    }
  }
  tile.return
}

// Threads of the consumer store the accumulator first, and would have to pass it to the other role.
// CHECK-LABEL: tile.kernel @stored
// CHECK-NOT: role <mma
// CHECK: tile.return
tile.kernel @stored(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %d = cta.mbarrier_alloc arrivals 1 : !m
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %r = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %one = arith.constant dense<1.0> : !x
    cta.tensor_memory_store %one, %t : !x, !t
    scf.for %k = %0 to %n step %1 : i32 {
      %s = cta.ring_wait %r : !ring
      %a = cta.ring_buffers %r[%s] : !ring
      cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !b, !b, !t
      cta.tcgen05_commit %d[%0] : !m
      cta.tcgen05_await %d : !m
      cta.ring_release %r[%s] : !ring
    }
    %x = cta.tensor_memory_load %t : !t -> !x
    tile.print "" %x : !x
  } role <producer, warps = 1, one_thread> {
    scf.for %k = %0 to %n step %1 : i32 {
      %s = cta.ring_acquire %r : !ring
      cta.ring_commit %r[%s] : !ring
    }
  }
  tile.return
}
