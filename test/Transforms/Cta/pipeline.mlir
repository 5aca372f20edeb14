// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-pipeline))' | FileCheck %s

#load = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#shared = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// Two copies ahead of the loop; in it, wait for the oldest, then copy two iterations ahead, then use.
// CHECK-LABEL: tile.kernel @loop
// CHECK: cta.alloc : <32x32xf16, #{{.*}}, slots = 3>
// CHECK-COUNT-2: cta.async_commit
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.async_copy
// CHECK: cta.local_load
// CHECK: cta.next_slot %{{.*}} of 3
// CHECK: scf.yield
// CHECK: cta.async_wait 0
tile.kernel @loop(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #load>
  %step = arith.constant dense<32> : tensor<32x32xi32, #load>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %q = %s) -> (tensor<32x32xf16, #load>, tensor<32x32x!tile.ptr<f16>, #load>) : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %q, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    %t = arith.addf %sum, %x : tensor<32x32xf16, #load>
    %next = tile.addptr %q, %step : tensor<32x32x!tile.ptr<f16>, #load>, tensor<32x32xi32, #load>
    scf.yield %t, %next : tensor<32x32xf16, #load>, tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.store %s, %r#0 : tensor<32x32x!tile.ptr<f16>, #load>
  tile.return
}

#wide = #cta.layout<[128, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#wide_shared = #cta.layout<[128, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]]>

// Three slots of 32 KiB would leave shared memory for one CTA, two leave it for two.
// CHECK-LABEL: tile.kernel @room_for_two
// CHECK: cta.alloc : <128x128xf16, #{{.*}}, slots = 2>
tile.kernel @room_for_two(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf16, #wide>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>, #wide>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128x128xf16, #wide>) : i32 {
    %b = cta.alloc : !cta.buffer<128x128xf16, #wide_shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<128x128x!tile.ptr<f16>, #wide>, !cta.buffer<128x128xf16, #wide_shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<128x128xf16, #wide_shared> -> tensor<128x128xf16, #wide>
    %t = arith.addf %sum, %x : tensor<128x128xf16, #wide>
    scf.yield %t : tensor<128x128xf16, #wide>
  }
  tile.store %s, %r : tensor<128x128x!tile.ptr<f16>, #wide>
  tile.return
}

// The loop writes global memory, which a later iteration may copy.
// CHECK-LABEL: tile.kernel @negative_store
// CHECK: scf.for
// CHECK: cta.async_wait 0
// CHECK: tile.store
tile.kernel @negative_store(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    tile.store %s, %x : tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.return
}

// The loop writes to another parameter.
// CHECK-LABEL: tile.kernel @other_store
// CHECK: cta.alloc : <32x32xf16, #{{.*}}, slots = 3>
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.async_copy
// CHECK: tile.store
tile.kernel @other_store(%p: !tile.ptr<f16>, %o: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %t = tile.splat %o : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    tile.store %t, %x : tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.return
}

// An atomic operation may wait for other programs, whose writes are copied then.
// CHECK-LABEL: tile.kernel @negative_atomic
// CHECK: scf.for
// CHECK: tile.atomic_rmw
// CHECK: cta.async_wait 0
tile.kernel @negative_atomic(%p: !tile.ptr<f16>, %o: !tile.ptr<i32>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %one = arith.constant dense<1> : tensor<32x32xi32, #load>
  %t = tile.splat %o : !tile.ptr<i32> -> tensor<32x32x!tile.ptr<i32>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %old = tile.atomic_rmw add acq_rel gpu %t, %one : tensor<32x32x!tile.ptr<i32>, #load>
    tile.store %t, %old : tensor<32x32x!tile.ptr<i32>, #load>
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  }
  tile.return
}

// An operation whose result is not used has waited for no other.
// CHECK-LABEL: tile.kernel @blind_atomic
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.async_copy
// CHECK: tile.atomic_rmw
tile.kernel @blind_atomic(%p: !tile.ptr<f16>, %o: !tile.ptr<i32>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %one = arith.constant dense<1> : tensor<32x32xi32, #load>
  %t = tile.splat %o : !tile.ptr<i32> -> tensor<32x32x!tile.ptr<i32>, #load>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    %old = tile.atomic_rmw add acq_rel gpu %t, %one : tensor<32x32x!tile.ptr<i32>, #load>
  }
  tile.return
}

// Both iterations have their own slot: nothing is copied in the loop.
// CHECK-LABEL: tile.kernel @short
// CHECK: cta.alloc : <32x32xf16, #{{.*}}, slots = 2>
// CHECK-COUNT-2: cta.async_commit
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.local_load
// CHECK-NOT: cta.async_copy
// CHECK: cta.async_wait 0
tile.kernel @short(%p: !tile.ptr<f16>, %o: !tile.ptr<f16>) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %t = tile.splat %o : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    tile.store %t, %x : tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.return
}

// The number of iterations of a loop of step 0 is not known.
// CHECK-LABEL: tile.kernel @negative_step_of_zero
// CHECK-NOT: cta.async_copy
// CHECK: scf.for
// CHECK: cta.async_copy
// CHECK: cta.async_wait 0
tile.kernel @negative_step_of_zero(%p: !tile.ptr<f16>, %o: !tile.ptr<f16>) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %t = tile.splat %o : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  scf.for %i = %c0 to %c2 step %c0 : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    tile.store %t, %x : tensor<32x32x!tile.ptr<f16>, #load>
  }
  tile.return
}

// Nor are its loads unrolled.
// CHECK-LABEL: tile.kernel @negative_step_of_loads
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK-NOT: tile.load
tile.kernel @negative_step_of_loads(%p: !tile.ptr<f32>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #load>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #load>
  %r = scf.for %i = %c0 to %n step %c0 iter_args(%sum = %zero) -> (tensor<32x32xf32, #load>) : i32 {
    %x = tile.load %s : tensor<32x32x!tile.ptr<f32>, #load>
    %y = arith.addf %sum, %x : tensor<32x32xf32, #load>
    scf.yield %y : tensor<32x32xf32, #load>
  }
  tile.store %s, %r : tensor<32x32x!tile.ptr<f32>, #load>
  tile.return
}

// Two copies go to one buffer.
// CHECK-LABEL: tile.kernel @negative_two_copies
// CHECK-NOT: cta.slot
// CHECK: tile.return
tile.kernel @negative_two_copies(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #load>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf16, #load>) : i32 {
    %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
    cta.async_commit
    cta.async_wait 0
    %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
    %t = arith.addf %sum, %x : tensor<32x32xf16, #load>
    scf.yield %t : tensor<32x32xf16, #load>
  }
  tile.store %s, %r : tensor<32x32x!tile.ptr<f16>, #load>
  tile.return
}

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]>
#b = #cta.layout<[16, 32], register = [[1, 0], [8, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#c = #cta.layout<[16, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]>
#rows = #cta.layout<[16, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]]>
#sharedA = #cta.layout<[16, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0]]>
!a = tensor<16x16xf16, #a>
!b = tensor<16x32xf16, #b>
!c = tensor<16x32xf32, #c>
!pa = tensor<16x32x!tile.ptr<f16>, #rows>
!pb = tensor<32x32x!tile.ptr<f16>, #load>
!bufferA = !cta.buffer<16x32xf16, #sharedA>
!bufferB = !cta.buffer<32x32xf16, #shared>

// An MMA in steps: three copies and the operands of the first step before the loop; in it, all but the last step, then
// wait, copy three iterations ahead, load the first operands of the next iteration, and the last step.
// CHECK-LABEL: tile.kernel @steps
// CHECK-COUNT-2: cta.async_commit
// CHECK: cta.async_wait 1
// CHECK: cta.async_commit
// CHECK: %[[A0:.*]] = cta.local_load %{{.*}} at [0, 0]
// CHECK: %[[B0:.*]] = cta.local_load %{{.*}} at [0, 0]
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[A0]], %[[Y:.*]] = %[[B0]])
// CHECK: cta.local_load %{{.*}} at [0, 16]
// CHECK: cta.local_load %{{.*}} at [16, 0]
// CHECK: cta.mma_sync %{{.*}}, %[[Y]],
// CHECK: cta.async_wait 1
// CHECK: cta.async_commit
// CHECK: cta.local_load %{{.*}} at [0, 0]
// CHECK: cta.local_load %{{.*}} at [0, 0]
// CHECK: cta.mma_sync
// CHECK: scf.yield
tile.kernel @steps(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %s = tile.splat %p : !tile.ptr<f16> -> !pa
  %t = tile.splat %p : !tile.ptr<f16> -> !pb
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!c) : i32 {
    %x = cta.alloc : !bufferA
    cta.async_copy %s, %x {vector = 8 : i32} : !pa, !bufferA
    cta.async_commit
    cta.async_wait 0
    %y = cta.alloc : !bufferB
    cta.async_copy %t, %y {vector = 8 : i32} : !pb, !bufferB
    cta.async_commit
    cta.async_wait 0
    %a0 = cta.local_load %x at [0, 0] : !bufferA -> !a
    %b0 = cta.local_load %y at [0, 0] : !bufferB -> !b
    %a1 = cta.local_load %x at [0, 16] : !bufferA -> !a
    %b1 = cta.local_load %y at [16, 0] : !bufferB -> !b
    %d0 = cta.mma_sync %a0, %b0, %sum {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    %d1 = cta.mma_sync %a1, %b1, %d0 {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    scf.yield %d1 : !c
  }
  tile.return
}

// The loaded values are needed for more than the dot: nothing is prefetched.
// CHECK-LABEL: tile.kernel @negative_more_than_a_dot
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK: cta.async_commit
// CHECK: cta.local_load %{{.*}} at [0, 0]
// CHECK: cta.mma_sync
// CHECK: scf.yield
tile.kernel @negative_more_than_a_dot(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %s = tile.splat %p : !tile.ptr<f16> -> !pa
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!c) : i32 {
    %x = cta.alloc : !bufferA
    cta.async_copy %s, %x {vector = 8 : i32} : !pa, !bufferA
    cta.async_commit
    cta.async_wait 0
    %a0 = cta.local_load %x at [0, 0] : !bufferA -> !a
    %a1 = cta.local_load %x at [0, 16] : !bufferA -> !a
    %b = cta.local_load %x : !bufferA -> !b
    %d0 = cta.mma_sync %a0, %b, %sum {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    %d1 = cta.mma_sync %a1, %b, %d0 {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    scf.yield %d1 : !c
  }
  tile.return
}

// A wait without copies, which no pass creates, has no position among the stages of loads into registers.
#left = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]]>
#right = #cta.layout<[32, 32], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 16]]>
#sum = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 16]]>
// CHECK-LABEL: tile.kernel @negative_wait
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: cta.async_wait 0
tile.kernel @negative_wait(%p: !tile.ptr<f16>, %n: i32) attributes {num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #sum>
  %pa = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #left>
  %pb = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #right>
  %pc = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #sum>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf32, #sum>) : i32 {
    cta.async_wait 0
    %x = tile.load %pa : tensor<32x32x!tile.ptr<f16>, #left>
    %y = tile.load %pb : tensor<32x32x!tile.ptr<f16>, #right>
    %d = cta.mma_sync %x, %y, %sum {shape = array<i32: 16, 8, 16>} : tensor<32x32xf16, #left>, tensor<32x32xf16, #right> -> tensor<32x32xf32, #sum>
    scf.yield %d : tensor<32x32xf32, #sum>
  }
  %h = arith.truncf %r : tensor<32x32xf32, #sum> to tensor<32x32xf16, #sum>
  tile.store %pc, %h : tensor<32x32x!tile.ptr<f16>, #sum>
  tile.return
}

// Copies that no loop prefetches arrive together: one wait for both, followed by the fence for warp groups.
// CHECK-LABEL: tile.kernel @together
// CHECK-COUNT-2: cta.async_commit
// CHECK-NEXT: cta.async_wait 0
// CHECK-NEXT: cta.proxy_fence
// CHECK-NEXT: cta.local_load
// CHECK: cta.async_commit
// CHECK-NEXT: cta.async_wait 0
tile.kernel @together(%p: !tile.ptr<f16>) {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  cta.proxy_fence
  %c = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %c {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  %x = cta.local_load %c : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  tile.store %s, %x : tensor<32x32x!tile.ptr<f16>, #load>
  %d = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %d {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  tile.print "" %x : tensor<32x32xf16, #load>
  tile.return
}

// They begin before copied data are used, together with the computation of their addresses, but after stores.
// CHECK-LABEL: tile.kernel @early
// CHECK: cta.async_commit
// CHECK: tile.addptr
// CHECK: cta.async_commit
// CHECK-NEXT: cta.async_wait 0
// CHECK: tile.store
// CHECK: cta.async_commit
tile.kernel @early(%p: !tile.ptr<f16>, %n: i32) {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  %y = arith.negf %x : tensor<32x32xf16, #load>
  %c = cta.alloc : !cta.buffer<32x32xf16, #shared>
  %m = tile.splat %n : i32 -> tensor<32x32xi32, #load>
  %t = tile.addptr %s, %m : tensor<32x32x!tile.ptr<f16>, #load>, tensor<32x32xi32, #load>
  cta.async_copy %t, %c {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  %z = cta.local_load %c : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  %w = arith.addf %y, %z : tensor<32x32xf16, #load>
  tile.store %s, %w : tensor<32x32x!tile.ptr<f16>, #load>
  %d = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %d {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  %v = cta.local_load %d : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  tile.store %s, %v : tensor<32x32x!tile.ptr<f16>, #load>
  tile.return
}

// Stores of wgmma operands wait for the loads after them, and one fence follows; not if they are read before.
// CHECK-LABEL: tile.kernel @loads_together
// CHECK-COUNT-2: tile.load
// CHECK-COUNT-2: cta.local_store
// CHECK-NEXT: cta.proxy_fence
// CHECK-NEXT: cta.local_load
// CHECK: tile.load
// CHECK-NEXT: cta.local_store
tile.kernel @loads_together(%p: !tile.ptr<f16>) {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
  %x = tile.load %s : tensor<32x32x!tile.ptr<f16>, #load>
  cta.local_store %x, %b : tensor<32x32xf16, #load>, !cta.buffer<32x32xf16, #shared>
  cta.proxy_fence
  %c = cta.alloc : !cta.buffer<32x32xf16, #shared>
  %y = tile.load %s : tensor<32x32x!tile.ptr<f16>, #load>
  cta.local_store %y, %c : tensor<32x32xf16, #load>, !cta.buffer<32x32xf16, #shared>
  cta.proxy_fence
  %u = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  %d = cta.alloc : !cta.buffer<32x32xf16, #shared>
  %z = tile.load %s : tensor<32x32x!tile.ptr<f16>, #load>
  cta.local_store %z, %d : tensor<32x32xf16, #load>, !cta.buffer<32x32xf16, #shared>
  tile.print "" %u : tensor<32x32xf16, #load>
  tile.return
}

// In addition to MMAs, loads of few registers go before waits, to the copies and loads before them, but not before
// writes.
// CHECK-LABEL: tile.kernel @early_loads
// CHECK: cta.async_commit
// CHECK-NEXT: tile.load
// CHECK: cta.async_wait 0
// CHECK: tile.store
// CHECK: tile.load
tile.kernel @early_loads(%p: !tile.ptr<f16>) {
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #load>
  %b = cta.alloc : !cta.buffer<32x32xf16, #shared>
  cta.async_copy %s, %b {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #load>, !cta.buffer<32x32xf16, #shared>
  cta.async_commit
  cta.async_wait 0
  %x = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  %y = tile.load %s : tensor<32x32x!tile.ptr<f16>, #load>
  %z = arith.addf %x, %y : tensor<32x32xf16, #load>
  tile.store %s, %z : tensor<32x32x!tile.ptr<f16>, #load>
  %w = cta.local_load %b : !cta.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #load>
  %v = tile.load %s : tensor<32x32x!tile.ptr<f16>, #load>
  %u = arith.addf %w, %v : tensor<32x32xf16, #load>
  tile.store %s, %u : tensor<32x32x!tile.ptr<f16>, #load>
  %left = arith.constant dense<1.0> : tensor<32x32xf16, #left>
  %right = arith.constant dense<1.0> : tensor<32x32xf16, #right>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #sum>
  %d = cta.mma_sync %left, %right, %zero {shape = array<i32: 16, 8, 16>} : tensor<32x32xf16, #left>, tensor<32x32xf16, #right> -> tensor<32x32xf32, #sum>
  tile.print "" %d : tensor<32x32xf32, #sum>
  tile.return
}

#pairs = #cta.layout<[256], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>

// Loads that would be unrolled if there were an iteration.
// CHECK-LABEL: tile.kernel @negative_no_iteration
// CHECK: scf.for
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @negative_no_iteration(%p: !tile.ptr<f32>, %n: i32) attributes {num_stages = 3 : i32} {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32, #pairs>
  %step = arith.constant dense<256> : tensor<256xi32, #pairs>
  %columns = tile.arange 0 to 256 : tensor<256xi32, #pairs>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #pairs>
  %first = tile.addptr %s, %columns : tensor<256x!tile.ptr<f32>, #pairs>, tensor<256xi32, #pairs>
  %r:2 = scf.for %i = %n to %n step %c1 iter_args(%q = %first, %sum = %zero) -> (tensor<256x!tile.ptr<f32>, #pairs>, tensor<256xf32, #pairs>) : i32 {
    %x = tile.load %q : tensor<256x!tile.ptr<f32>, #pairs>
    %t = arith.addf %sum, %x : tensor<256xf32, #pairs>
    %next = tile.addptr %q, %step : tensor<256x!tile.ptr<f32>, #pairs>, tensor<256xi32, #pairs>
    scf.yield %next, %t : tensor<256x!tile.ptr<f32>, #pairs>, tensor<256xf32, #pairs>
  }
  tile.store %first, %r#1 : tensor<256x!tile.ptr<f32>, #pairs>
  tile.return
}
