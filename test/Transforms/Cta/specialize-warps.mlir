// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-specialize-warps))' --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-specialize-warps))' --split-input-file | FileCheck %s --check-prefix=SM80
// SM80-NOT: warp_roles

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// Both copies of an iteration are one channel: a slot of each buffer, which the consumer warps await before the first use and
// release after the last.
// CHECK-LABEL: tile.kernel @channel
// CHECK: %[[RING:.*]] = cta.ring_alloc : <3 x [<64x64xf16, {{.*}}>, <64x64xf16, {{.*}}>]>
// CHECK-NEXT: cta.warp_roles role <consumer, warps = 4> {
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: %[[SLOT:.*]] = cta.ring_wait %[[RING]]
// CHECK-NEXT: cta.ring_buffers %[[RING]][%[[SLOT]]]
// CHECK-NOT: tma
// CHECK: tile.print "y"
// CHECK-NEXT: }
// CHECK-NEXT: cta.ring_release %[[RING]][%[[SLOT]]]
// CHECK: } role <producer, warps = 1, one_thread> {
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: %[[EMPTY:.*]] = cta.ring_acquire %[[RING]]
// CHECK-NEXT: %[[B:.*]]:2 = cta.ring_buffers %[[RING]][%[[EMPTY]]]
// CHECK-NEXT: cta.tma_load {{.*}}, %[[B]]#0, %[[RING]][%[[EMPTY]]]
// CHECK-NEXT: cta.tma_load {{.*}}, %[[B]]#1, %[[RING]][%[[EMPTY]]]
// CHECK-NEXT: cta.ring_commit %[[RING]][%[[EMPTY]]]
// CHECK-NEXT: }
// CHECK-NOT: tile.print
// CHECK: tile.return
tile.kernel @channel(%n: i32, %c: i1, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = cta.alloc : !b
      %m = cta.mbarrier_alloc arrivals 1 : !m
      cta.tma_load_sync %d[%i, %k], %a, %m : !d, !b, !m
      %b = cta.alloc : !b
      %o = cta.mbarrier_alloc arrivals 1 : !m
      cta.tma_load_sync %e[%k, %i], %b, %o : !d, !b, !m
      %x = cta.local_load %a : !b -> !x
      tile.print "x" %x : !x
      scf.if %c {
        %y = cta.local_load %b : !b -> !x
        tile.print "y" %y : !x
      }
    }
  }
  tile.return
}

// Both roles execute the same programs, whose number is computed once.
// CHECK-LABEL: tile.kernel @programs
// CHECK: %[[X:.*]] = arith.muli
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NEXT: tile.programs ({{.*}}) in (%[[X]], %[[X]], %c1{{.*}}) #tile.work<order = swizzle2d, group = 4> {
// CHECK: tile.print
// CHECK: } role <producer{{.*}}> {
// CHECK-NEXT: tile.programs (%[[I:.*]], %[[J:.*]], %{{.*}}, %{{.*}}) in (%[[X]], %[[X]], %c1{{.*}}) #tile.work<order = swizzle2d, group = 4> {
// CHECK: cta.tma_load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NOT: tile.print
// CHECK: tile.return
tile.kernel @programs(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c1 = arith.constant 1 : i32
  %x = arith.muli %n, %n : i32
  tile.programs (%i, %j, %k, %exists) in (%x, %x, %c1) #tile.work<order = swizzle2d, group = 4> {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %j], %a, %m : !d, !b, !m
    %y = cta.local_load %a : !b -> !x
    tile.print "" %y : !x
  }
  tile.return
}

// Copies of two blocks are two channels. The outer one, which changes less often, has one slot.
// CHECK-LABEL: tile.kernel @channels
// CHECK: %[[OUTER:.*]] = cta.ring_alloc : <1 x
// CHECK: %[[INNER:.*]] = cta.ring_alloc : <3 x
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: cta.ring_wait %[[OUTER]]
// CHECK: cta.ring_wait %[[INNER]]
// CHECK: cta.ring_release %[[INNER]]
// CHECK: cta.ring_release %[[OUTER]]
// CHECK: } role <producer{{.*}}> {
// CHECK: cta.tma_load {{.*}}, %[[OUTER]]
// CHECK: cta.tma_load {{.*}}, %[[INNER]]
// CHECK: tile.return
tile.kernel @channels(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    scf.for %k = %c0 to %n step %c1 : i32 {
      %b = cta.alloc : !b
      %o = cta.mbarrier_alloc arrivals 1 : !m
      cta.tma_load_sync %d[%i, %k], %b, %o : !d, !b, !m
      %x = cta.local_load %a : !b -> !x
      %y = cta.local_load %b : !b -> !x
      tile.print "" %x, %y : !x, !x
    }
  }
  tile.return
}

// The producer carries its coordinates itself, but not what only the consumer warps need.
// CHECK-LABEL: tile.kernel @carried
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.for {{.*}} iter_args(%[[AT:.*]] = %arg0) -> (i32)
// CHECK: cta.tma_load %{{.*}}[%[[AT]],
// CHECK-NOT: arith.addf
// CHECK: tile.return
tile.kernel @carried(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %end, %sum = scf.for %k = %c0 to %n step %c1 iter_args(%at = %n, %acc = %zero) -> (i32, !x) : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%at, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    %more = arith.addf %acc, %x : !x
    %next = arith.addi %at, %c1 : i32
    scf.yield %next, %more : i32, !x
  }
  tile.print "" %sum : !x
  tile.return
}

// Both roles execute a branch around the copies. Its results stay with the consumer warps.
// CHECK-LABEL: tile.kernel @branch
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: scf.if %arg1 -> (tensor<{{.*}}>) {
// CHECK-NEXT: cta.ring_wait
// CHECK: cta.ring_release
// CHECK: } else {
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.for {{.*}} : i32 {
// CHECK-NEXT: scf.if %arg1 {
// CHECK: cta.tma_load
tile.kernel @branch(%n: i32, %c: i1, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!x) : i32 {
    %next = scf.if %c -> !x {
      %a = cta.alloc : !b
      %m = cta.mbarrier_alloc arrivals 1 : !m
      cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
      %x = cta.local_load %a : !b -> !x
      %more = arith.addf %acc, %x : !x
      scf.yield %more : !x
    } else {
      scf.yield %acc : !x
    }
    scf.yield %next : !x
  }
  tile.print "" %sum : !x
  tile.return
}

// A branch outside of loops has one slot, and initially no else.
// CHECK-LABEL: tile.kernel @once
// CHECK: cta.ring_alloc : <1 x
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: scf.if %arg1
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.if %arg1
// CHECK: cta.tma_load
tile.kernel @once(%i: i32, %c: i1, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  scf.if %c {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %i], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// The producer itself evaluates the condition of a while loop. It may pass on fewer values than it receives.
// CHECK-LABEL: tile.kernel @while_loop
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: scf.while
// CHECK: cta.ring_wait
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.while
// CHECK-NOT: tile.print
// CHECK: arith.cmpi sgt
// CHECK: scf.condition
// CHECK: cta.tma_load
// CHECK: scf.yield
tile.kernel @while_loop(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %n) : (i32) -> i32 {
    tile.print "i" %i : i32
    %half = arith.shrsi %i, %c1 : i32
    %goes_on = arith.cmpi sgt, %half, %c1 : i32
    scf.condition(%goes_on) %half : i32
  } do {
  ^bb0(%half: i32):
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%half, %c1], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    scf.yield %half : i32
  }
  tile.return
}

// Both roles execute the operations before the loop's condition.
// CHECK-LABEL: tile.kernel @while_condition
// CHECK: role <consumer{{.*}}> {
// CHECK: scf.while
// CHECK-NEXT: cta.ring_wait
// CHECK: cta.ring_release
// CHECK: scf.condition
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.while
// CHECK-NEXT: cta.ring_acquire
// CHECK: cta.ring_commit
// CHECK: scf.condition
tile.kernel @while_condition(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %n) : (i32) -> i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c1], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    %goes_on = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%goes_on) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.subi %i, %c1 : i32
    scf.yield %next : i32
  }
  tile.return
}

// Different parameters are different tensors, also where control flow chooses one.
// CHECK-LABEL: tile.kernel @written_chosen_tensor
// CHECK: cta.warp_roles
tile.kernel @written_chosen_tensor(%n: i32, %p: !tile.ptr<f16> {tile.name = "c"}, %r: !tile.ptr<f16> {tile.name = "e"}, %t: i1, %v: f16, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    %q = scf.if %t -> !tile.ptr<f16> {
      scf.yield %p : !tile.ptr<f16>
    } else {
      scf.yield %r : !tile.ptr<f16>
    }
    tile.store %q, %v : !tile.ptr<f16>
  }
  tile.return
}

// Scalars that both roles need are computed once, before them; memory is read in each role.
// CHECK-LABEL: tile.kernel @common
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK-NOT: tile.load
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addi %[[HALF]]
// CHECK: } role <producer{{.*}}> {
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addi %[[HALF]]
tile.kernel @common(%n: i32, %p: !tile.ptr<i32> {tile.name = "sizes"}, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %size = tile.load %p : !tile.ptr<i32>
  %half = arith.divui %n, %n : i32
  %end = arith.addi %half, %size : i32
  scf.for %i = %c0 to %end step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// A loop may carry tensors that only the consumer role needs, so each role has its own.
// CHECK-LABEL: tile.kernel @common_loop
// CHECK-NOT: scf.for
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: scf.for
// CHECK: } role <producer{{.*}}> {
// CHECK: scf.for
tile.kernel @common_loop(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %end, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%count = %c0, %x = %zero) -> (i32, !x) : i32 {
    %next = arith.addi %count, %i : i32
    %more = arith.addf %x, %x : !x
    scf.yield %next, %more : i32, !x
  }
  scf.for %i = %c0 to %end step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    %y = arith.addf %x, %sum : !x
    tile.print "" %y : !x
  }
  tile.return
}

// Different parameters are different tensors.
// CHECK-LABEL: tile.kernel @written_other_tensor
// CHECK: cta.warp_roles
tile.kernel @written_other_tensor(%n: i32, %p: !tile.ptr<f16> {tile.name = "c"}, %v: f16, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    %q = tile.addptr %p, %i : !tile.ptr<f16>, i32
    tile.store %q, %v : !tile.ptr<f16>
  }
  tile.return
}

// -----

// 64 KiB per slot: three fit into 227 KiB, one less with another buffer, none with large ones.
#s = #cta.layout<[128, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 4], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [64, 0], [0, 32], [0, 64]]>
#x = #cta.layout<[128, 128], register = [[0, 1], [0, 2], [0, 64], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>
!d = !tile.desc<128x128xf32>
!b = !cta.buffer<128x128xf32, #s>
!x = tensor<128x128xf32, #x>
!m = !cta.mbarrier<1>

// CHECK-LABEL: tile.kernel @memory
// CHECK: cta.ring_alloc : <3 x [<128x128xf32,
// CHECK: cta.warp_roles
tile.kernel @memory(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_stages = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @less_memory
// CHECK: cta.ring_alloc : <2 x [<128x128xf32,
// CHECK: cta.warp_roles
tile.kernel @less_memory(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_stages = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %other = cta.alloc : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    cta.local_store %x, %other : !x, !b
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [0, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// Two consumer warp groups take the registers of 65536 that the producer releases.
// CHECK-LABEL: tile.kernel @registers_of_two_groups
// CHECK: role <consumer, warps = 8, registers = 232>
// CHECK: role <producer, warps = 4, registers = 40, one_thread>
tile.kernel @registers_of_two_groups(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [0, 0], [0, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// Four groups share the registers that the CTA starts with, five times 96 per thread: none could ever get more.
// CHECK-LABEL: tile.kernel @registers_of_four_groups
// CHECK: role <consumer, warps = 16, registers = 104>
// CHECK: role <producer, warps = 4, registers = 40, one_thread>
tile.kernel @registers_of_four_groups(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// The producer itself makes the map of each group, from sizes that it reads, when all copies through the previous map
// have arrived.
// CHECK-LABEL: tile.kernel @maps
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NOT: make_tensor_map
// CHECK: } role <producer{{.*}}> {
// CHECK: %[[N:.*]] = tile.load
// CHECK: %[[ANY:.*]] = arith.cmpi
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: cta.ring_drain
// CHECK-NEXT: }
// CHECK-NEXT: %[[MAP:.*]] = cta.make_tensor_map single %{{.*}} if %[[ANY]]
// CHECK: cta.tma_load %[[MAP]]
tile.kernel @maps(%p: !tile.ptr<f16> {tile.name = "p"}, %sizes: !tile.ptr<i32> {tile.name = "sizes"}, %place: !tile.ptr<i8>, %n: i32, %ld: i64) {
  %staging = cta.alloc : !cta.buffer<128xi8, #bytes>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = tile.addptr %sizes, %i : !tile.ptr<i32>, i32
    %k = tile.load %q : !tile.ptr<i32>
    %any = arith.cmpi slt, %c0, %k : i32
    %d = cta.make_tensor_map %p, [%k, %k], [%ld, %ld] at %place via %staging if %any {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !d
    scf.for %j = %c0 to %k step %c1 : i32 {
      %a = cta.alloc : !b
      %m = cta.mbarrier_alloc arrivals 1 : !m
      cta.tma_load_sync %d[%c0, %j], %a, %m : !d, !b, !m
      %x = cta.local_load %a : !b -> !x
      tile.print "" %x : !x
    }
  }
  tile.return
}
