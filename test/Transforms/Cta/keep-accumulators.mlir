// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_100a},tile.kernel(cta-keep-accumulators))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf32, #x>
!t = !cta.tensor_memory<64x64xf32>
!m = !cta.mbarrier<1>

// Two dots of an iteration continue each other, and the loop carries the accumulator in tensor memory. The first iteration
// overwrites it; a loop without iterations has not written it.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[ACC:.*]] = cta.tensor_memory_alloc
// CHECK-NOT: cta.tensor_memory_store
// CHECK: scf.for %[[K:.*]] = %[[FIRST:.*]] to %[[END:.*]] step
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
// CHECK-NEXT: cta.tcgen05_mma %{{.*}}, %{{.*}}, %[[ACC]] if %[[LATER]]
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %[[ACC]] {
// CHECK-NOT: cta.tensor_memory_load
// CHECK: }
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[END]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[ANY]] -> (tensor<64x64xf32, {{.*}}>) {
// CHECK-NEXT: cta.tensor_memory_load %[[ACC]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %cst
tile.kernel @carried(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %u = cta.tensor_memory_alloc : !t
  %d = cta.mbarrier_alloc arrivals 1 : !m
  %e = cta.mbarrier_alloc arrivals 1 : !m
  %a = cta.alloc : !b
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %r = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> !x : i32 {
    cta.tensor_memory_store %acc, %t : !x, !t
    cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !b, !b, !t
    cta.tcgen05_commit %d[%0] : !m
    cta.tcgen05_await %d : !m
    %x = cta.tensor_memory_load %t : !t -> !x
    cta.tensor_memory_store %x, %u : !x, !t
    cta.tcgen05_mma %a, %a, %u {m = 64 : i32, n = 64 : i32} : !b, !b, !t
    cta.tcgen05_commit %e[%0] : !m
    cta.tcgen05_await %e : !m
    %y = cta.tensor_memory_load %u : !t -> !x
    scf.yield %y : !x
  }
  tile.print "" %r : !x
  tile.return
}

// An initial value that is not zero is stored before the loop, and the result is loaded in any case.
// CHECK-LABEL: tile.kernel @initial
// CHECK: cta.tensor_memory_store
// CHECK: scf.for
// CHECK-NOT: if %
// CHECK: cta.tcgen05_await
// CHECK-NEXT: }
// CHECK-NEXT: cta.tensor_memory_load
tile.kernel @initial(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %d = cta.mbarrier_alloc arrivals 1 : !m
  %a = cta.alloc : !b
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : !x
  %r = scf.for %k = %0 to %n step %1 iter_args(%acc = %one) -> !x : i32 {
    cta.tensor_memory_store %acc, %t : !x, !t
    cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !b, !b, !t
    cta.tcgen05_commit %d[%0] : !m
    cta.tcgen05_await %d : !m
    %x = cta.tensor_memory_load %t : !t -> !x
    scf.yield %x : !x
  }
  tile.print "" %r : !x
  tile.return
}

// The loop uses the accumulator in between.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: scf.for
// CHECK: cta.tensor_memory_store
// CHECK: cta.tensor_memory_load
// CHECK: scf.yield
tile.kernel @scaled(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %d = cta.mbarrier_alloc arrivals 1 : !m
  %a = cta.alloc : !b
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %r = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> !x : i32 {
    %half = arith.mulf %acc, %acc : !x
    cta.tensor_memory_store %half, %t : !x, !t
    cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !b, !b, !t
    cta.tcgen05_commit %d[%0] : !m
    cta.tcgen05_await %d : !m
    %x = cta.tensor_memory_load %t : !t -> !x
    scf.yield %x : !x
  }
  tile.print "" %r : !x
  tile.return
}
