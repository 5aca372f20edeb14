// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-barriers))' --split-input-file --verify-diagnostics | FileCheck %s

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#rows = #cta.layout<[32, 32], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#mixed = #cta.layout<[32, 32], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [16, 0], [2, 0]], warp = [[4, 0], [8, 0], [1, 0]]>
#small = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#all = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
#columns = #cta.layout<[32, 32], register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8], [0, 16]]>
#panels = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 16]]>
#wa = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #cta.layout<[16, 64], register = [[0, 32], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
!wa = !cta.buffer<64x16xf16, #wa>
!wb = !cta.buffer<16x64xf16, #wb>
!b = !cta.buffer<32x32xf16, #s>
!panels = !cta.buffer<32x32xf16, #panels>
!v = tensor<32x32xf16, #x>

// Read after write and write after read; two reads need nothing.
// CHECK-LABEL: tile.kernel @straight
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: tile.return
tile.kernel @straight(%a: i32) {
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  cta.local_store %v, %b : !v, !b
  %x = cta.local_load %b : !b -> !v
  %y = cta.local_load %b : !b -> !v
  cta.local_store %v, %b : !v, !b
  tile.return
}

// Elements that several warps read are not written before all of these warps have read them, nor read before they are
// written. A block of which each warp has a part, other parameters, and a second write need no order.
// CHECK-LABEL: tile.kernel @replicas
// CHECK: tile.load %[[X:.*]] : tensor<32x
// CHECK-NEXT: tile.load %[[Y:.*]] : tensor<128x
// CHECK-NEXT: tile.store %[[Y]],
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.store %[[X]],
// CHECK-NEXT: tile.store %[[X]],
// CHECK-NEXT: tile.load %[[Y]]
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.load %[[X]]
tile.kernel @replicas(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #small>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #all>
  %v = tile.load %px : tensor<32x!tile.ptr<f32>, #small>
  %w = tile.load %py : tensor<128x!tile.ptr<f32>, #all>
  tile.store %py, %w : tensor<128x!tile.ptr<f32>, #all>
  tile.store %px, %v : tensor<32x!tile.ptr<f32>, #small>
  tile.store %px, %v : tensor<32x!tile.ptr<f32>, #small>
  %again = tile.load %py : tensor<128x!tile.ptr<f32>, #all>
  %last = tile.load %px : tensor<32x!tile.ptr<f32>, #small>
  tile.print "" %v : tensor<32xf32, #small>
  tile.print "" %last : tensor<32xf32, #small>
  tile.return
}

// If only stores need a value that several warps hold, the warp that stores it also reads it.
// CHECK-LABEL: tile.kernel @in_place
// CHECK: tile.load %{{.*}} first : tensor<32x
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.load %{{.*}} : tensor<32x
// CHECK-NOT: cta.barrier
// CHECK: tile.return
tile.kernel @in_place(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %px = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #small>
  %py = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #small>
  %v = tile.load %px : tensor<32x!tile.ptr<f32>, #small>
  %w = arith.negf %v : tensor<32xf32, #small>
  %z = tile.load %py : tensor<32x!tile.ptr<f32>, #small>
  %s = arith.addf %w, %z : tensor<32xf32, #small>
  tile.store %px, %s : tensor<32x!tile.ptr<f32>, #small>
  tile.return
}

// All warps read a scalar, whatever the origin of its pointer: one that a loop advances, or one of two.
// CHECK-LABEL: tile.kernel @scalars
// CHECK: scf.for
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.store
// CHECK: scf.yield
// CHECK: arith.select
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.address_cast
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.store
tile.kernel @scalars(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32, %c: i1, %address: i64, %f: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (!tile.ptr<f32>) : i32 {
    %v = tile.load %p : !tile.ptr<f32>
    tile.store %x, %v : !tile.ptr<f32>
    %next = tile.addptr %p, %c1 : !tile.ptr<f32>, i32
    scf.yield %next : !tile.ptr<f32>
  }
  %either = arith.select %c, %end, %y : !tile.ptr<f32>
  %a = tile.load %either : !tile.ptr<f32>
  %b = tile.load %y : !tile.ptr<f32>
  %any = tile.address_cast %address : i64 -> !tile.ptr<f32>
  tile.store %any, %f : !tile.ptr<f32>
  tile.return
}

// A loop that waits for another program, and may end at a different iteration in each warp, has no barrier.
// CHECK-LABEL: tile.kernel @polls
// CHECK-NOT: cta.barrier
tile.kernel @polls(%x: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  tile.store %x, %zero : !tile.ptr<i32>
  scf.while : () -> () {
    %v = tile.load %x volatile : !tile.ptr<i32>
    %waits = arith.cmpi eq, %v, %zero : i32
    scf.condition(%waits)
  } do {
    scf.yield
  }
  tile.return
}

// The analysis also follows a branch and the condition of a loop; atomic operations write.
// CHECK-LABEL: tile.kernel @branches
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: tile.load
// CHECK: tile.splat
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.atomic_rmw
tile.kernel @branches(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %c: i1) {
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<32xi32, #small>
  %p = scf.if %c -> (!tile.ptr<i32>) {
    scf.yield %x : !tile.ptr<i32>
  } else {
    scf.yield %y : !tile.ptr<i32>
  }
  %q = scf.while (%r = %p) : (!tile.ptr<i32>) -> !tile.ptr<i32> {
    scf.condition(%c) %r : !tile.ptr<i32>
  } do {
  ^bb0(%r: !tile.ptr<i32>):
    %next = tile.addptr %r, %one : !tile.ptr<i32>, i32
    scf.yield %next : !tile.ptr<i32>
  }
  %v = tile.load %q : !tile.ptr<i32>
  %py = tile.splat %y : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #small>
  %old = tile.atomic_rmw add relaxed gpu %py, %ones : tensor<32x!tile.ptr<i32>, #small>
  tile.return
}

// Two buffers at the same addresses conflict with each other, adjacent buffers do not.
// CHECK-LABEL: tile.kernel @shared_bytes
// CHECK: cta.local_store
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: tile.return
tile.kernel @shared_bytes(%a: i32) {
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  %c = cta.alloc at 2048 : !b
  %d = cta.alloc at 1024 : !b
  cta.local_store %v, %b : !v, !b
  cta.local_store %v, %c : !v, !b
  cta.local_store %v, %d : !v, !b
  tile.return
}

// The read of one iteration and the write of the next; an existing barrier counts.
// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: }
tile.kernel @loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    cta.local_store %v, %b : !v, !b
    cta.barrier
    %x = cta.local_load %b : !b -> !v
  }
  tile.return
}

// A write in one branch only; a loop with its condition at the start; operands of an MMA are reads.
// CHECK-LABEL: tile.kernel @control
// CHECK: scf.if
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: }
// CHECK-NEXT: scf.while
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.fma_dot
// CHECK: } do {
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
tile.kernel @control(%c: i1) {
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  scf.if %c {
    cta.local_store %v, %b : !v, !b
  }
  scf.while : () -> () {
    %x = cta.fma_dot %b, %b, %v : !b, !b -> !v
    scf.condition(%c)
  } do {
    cta.local_store %v, %b : !v, !b
    scf.yield
  }
  tile.return
}

// Synchronous copies are ordered among themselves.
// CHECK-LABEL: tile.kernel @synchronous_copy
// CHECK-NOT: cta.barrier
// CHECK: tile.return
tile.kernel @synchronous_copy(%i: i32, %d: !tile.desc<32x32xf16>) {
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  %m = cta.mbarrier_alloc arrivals 1 at 2048 : !cta.mbarrier<1>
  cta.local_store %v, %b : !v, !b
  cta.tma_load_sync %d[%i, %i], %b, %m : !tile.desc<32x32xf16>, !b, !cta.mbarrier<1>
  %x = cta.local_load %b : !b -> !v
  cta.tma_load_sync %d[%i, %i], %b, %m : !tile.desc<32x32xf16>, !b, !cta.mbarrier<1>
  tile.return
}

// Writes must be complete before one thread copies the data; only that thread waits until the copy has read, so the
// others need a barrier after the wait, even if there was a barrier before it.
// CHECK-LABEL: tile.kernel @copy_to_global
// CHECK: scf.for
// CHECK-NEXT: cta.tma_store_wait 0
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: cta.proxy_fence
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.tma_store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: }
tile.kernel @copy_to_global(%n: i32, %d: !tile.desc<32x32xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    cta.tma_store_wait 0
    cta.local_store %v, %b : !v, !b
    cta.proxy_fence
    cta.tma_store %b, %d[%i, %i] : !b, !tile.desc<32x32xf16>
    cta.barrier
  }
  tile.return
}

// If each warp group writes and copies its own rows, only its warps synchronize; with other rows, all warps do.
// CHECK-LABEL: tile.kernel @groups
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier groups
// CHECK-NEXT: cta.tma_store
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier{{$}}
// CHECK-NEXT: cta.tma_store
tile.kernel @groups(%i: i32, %d: !tile.desc<32x32xf16>) attributes {num_warps = 8 : i32} {
  %own = arith.constant dense<0.0> : tensor<32x32xf16, #rows>
  %others = arith.constant dense<0.0> : tensor<32x32xf16, #mixed>
  %b = cta.alloc at 0 : !b
  %c = cta.alloc at 2048 : !b
  cta.local_store %own, %b : tensor<32x32xf16, #rows>, !b
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !b, !tile.desc<32x32xf16>
  cta.local_store %others, %c : tensor<32x32xf16, #mixed>, !b
  cta.tma_store %c, %d[%i, %i] : !b, !tile.desc<32x32xf16>
  tile.return
}

// The same for columns, if the buffer has a panel for each group; but not if it writes rows and copies columns.
// CHECK-LABEL: tile.kernel @groups_of_columns
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier groups
// CHECK-NEXT: cta.tma_store
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier{{$}}
// CHECK-NEXT: cta.tma_store
tile.kernel @groups_of_columns(%i: i32, %d: !tile.desc<32x32xf16>) attributes {num_warps = 8 : i32} {
  %own = arith.constant dense<0.0> : tensor<32x32xf16, #columns>
  %others = arith.constant dense<0.0> : tensor<32x32xf16, #rows>
  %b = cta.alloc at 0 : !panels
  %c = cta.alloc at 2048 : !panels
  cta.local_store %own, %b : tensor<32x32xf16, #columns>, !panels
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !panels, !tile.desc<32x32xf16>
  cta.local_store %others, %c : tensor<32x32xf16, #rows>, !panels
  cta.tma_store %c, %d[%i, %i] {groups = 2 : i32} : !panels, !tile.desc<32x32xf16>
  tile.return
}

// All warps read the scalar, possibly from rows that the other group's copy overwrites: barriers of groups are not
// enough then. A copy to another tensor does not matter.
// CHECK-LABEL: tile.kernel @read_before_copy
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier groups
// CHECK-NEXT: cta.tma_store
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier{{$}}
// CHECK-NEXT: cta.tma_store
tile.kernel @read_before_copy(%i: i32, %x: !tile.ptr<f16> {tile.name = "x"},
                              %dx: !tile.desc<32x32xf16> {tile.tensor_map = #tile.tensor_map<base = "x">},
                              %dy: !tile.desc<32x32xf16> {tile.tensor_map = #tile.tensor_map<base = "y">})
    attributes {num_warps = 8 : i32} {
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #rows>
  %b = cta.alloc at 0 : !b
  %c = cta.alloc at 2048 : !b
  %first = tile.load %x : !tile.ptr<f16>
  cta.local_store %v, %b : tensor<32x32xf16, #rows>, !b
  cta.tma_store %b, %dy[%i, %i] {groups = 2 : i32} : !b, !tile.desc<32x32xf16>
  cta.local_store %v, %c : tensor<32x32xf16, #rows>, !b
  cta.tma_store %c, %dx[%i, %i] {groups = 2 : i32} : !b, !tile.desc<32x32xf16>
  tile.return
}

// A masked load reads from an address in x instead, and x has been read; data found through t has not.
// CHECK-LABEL: tile.kernel @address_instead
// CHECK-NOT: cta.barrier
// CHECK: tile.store
// CHECK: cta.barrier
// CHECK-NEXT: tile.store
tile.kernel @address_instead(%x: !tile.ptr<f16> {tile.name = "x"}, %t: !tile.ptr<i64> {tile.name = "t"}, %c: i1, %h: f16) {
  %v = tile.load %x : !tile.ptr<f16>
  %inside = tile.load %t : !tile.ptr<i64>
  %p = tile.address_cast %inside : i64 -> !tile.ptr<f16>
  tile.store %p, %h : !tile.ptr<f16>
  %number = tile.address_cast %x : !tile.ptr<f16> -> i64
  %either = tile.load %t mask %c other %number : !tile.ptr<i64>
  %q = tile.address_cast %either : i64 -> !tile.ptr<f16>
  tile.store %q, %h : !tile.ptr<f16>
  tile.return
}

// A barrier does not make TMA's writes visible to reads.
// CHECK-LABEL: tile.kernel @read_behind_copy
// CHECK: cta.tma_store
// CHECK-NOT: cta.barrier
// CHECK: tile.return
tile.kernel @read_behind_copy(%i: i32, %x: !tile.ptr<f16> {tile.name = "x"}, %d: !tile.desc<32x32xf16> {tile.tensor_map = #tile.tensor_map<base = "x">}) {
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  cta.local_store %v, %b : !v, !b
  cta.tma_store %b, %d[%i, %i] : !b, !tile.desc<32x32xf16>
  %first = tile.load %x : !tile.ptr<f16>
  tile.return
}

// An MMA that is awaited has read its operands, and so have those before it.
// CHECK-LABEL: tile.kernel @dots
// CHECK: cta.wgmma
// CHECK: cta.wgmma
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: cta.local_store
// CHECK-NEXT: tile.return
tile.kernel @dots() {
  %v = arith.constant dense<0.0> : tensor<16x64xf16, #row>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  %half = arith.constant dense<0.0> : tensor<64x64xf16, #c>
  %q = cta.alloc at 0 : !wa
  %a = cta.alloc at 2048 : !wb
  %b = cta.alloc at 4096 : !wb
  %d, %td = cta.wgmma %q, %a, %zero {n = 64 : i32} : !wa, !wb -> tensor<64x64xf32, #c>
  %e, %te = cta.wgmma %q, %b, %half {n = 64 : i32} : !wa, !wb -> tensor<64x64xf16, #c>
  cta.local_store %v, %a : tensor<16x64xf16, #row>, !wb
  cta.local_store %v, %b : tensor<16x64xf16, #row>, !wb
  tile.return
}

// The group that has the turn does not wait for the group that waits for the turn.
// CHECK-LABEL: tile.kernel @turn
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.turn_begin
// CHECK-NEXT: cta.wgmma
// CHECK-NEXT: cta.turn_end
// CHECK-NEXT: tile.return
tile.kernel @turn() {
  %v = arith.constant dense<0.0> : tensor<16x64xf16, #row>
  %half = arith.constant dense<0.0> : tensor<64x64xf16, #c>
  %q = cta.alloc at 0 : !wa
  %a = cta.alloc at 2048 : !wb
  cta.local_store %v, %a : tensor<16x64xf16, #row>, !wb
  cta.turn_begin of 2
  %d, %td = cta.wgmma %q, %a, %half {n = 64 : i32} : !wa, !wb -> tensor<64x64xf16, #c>
  cta.turn_end of 2
  tile.return
}

// In a role only the consumer warps synchronize.
// CHECK-LABEL: tile.kernel @role
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK: cta.local_store
// CHECK-NEXT: cta.barrier{{$}}
// CHECK-NEXT: cta.local_load
// CHECK: } role <producer{{.*}}> {
// CHECK-NOT: cta.barrier
// CHECK: tile.return
tile.kernel @role(%i: i32, %d: !tile.desc<32x32xf16>) {
  %c0 = arith.constant 0 : i32
  %v = arith.constant dense<0.0> : !v
  %b = cta.alloc at 0 : !b
  %c = cta.alloc at 2048 : !b
  %m = cta.mbarrier_alloc arrivals 1 at 4096 : !cta.mbarrier<1>
  cta.warp_roles role <consumer, warps = 4> {
    cta.local_store %v, %b : !v, !b
    %x = cta.local_load %b : !b -> !v
    tile.print "" %x : !v
  } role <producer, warps = 4, one_thread> {
    cta.tma_load %d[%i, %i], %c, %m[%c0] : !tile.desc<32x32xf16>, !b, !cta.mbarrier<1>
  }
  tile.return
}

// -----

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

tile.kernel @unplaced() {
  %b = cta.alloc : !cta.buffer<32x32xf16, #s>
  // expected-error @below {{uses a buffer without an offset; run cta-allocate-shared first}}
  %x = cta.local_load %b : !cta.buffer<32x32xf16, #s> -> tensor<32x32xf16, #x>
  tile.return
}
