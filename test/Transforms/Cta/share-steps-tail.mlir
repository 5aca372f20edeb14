// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-share-steps))' --mlir-print-local-scope | FileCheck %s

#a = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#b = #cta.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>
#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#y = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!a = !cta.buffer<128x64xf16, #a>
!b = !cta.buffer<64x128xf16, #b>
!x = tensor<128x128xf32, #x>
!s = !cta.buffer<64x64xf16, #s>
!y = tensor<64x64xf32, #y>

// The number of steps is known before the programs, each of which gets a first and a last one, and memory for sums.
// CHECK-LABEL: tile.kernel @split(
// CHECK-SAME: %[[N:[^:]*]]: i32, %[[X:[^:]*]]: i32
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %c0_i32
// CHECK: %[[STEPS:.*]] = arith.select %[[ANY]], %[[N]], %c0_i32
// CHECK: tile.programs (%{{.*}}, %[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}) in ({{.*}}) steps (%[[STEPS]]) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>>
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[END]], %[[STEPS]]
// CHECK: %[[LAST:.*]] = arith.select %[[BEFORE]], %[[END]], %[[N]]
// CHECK: %[[ACC:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: %[[SUM:.*]] = cta.combine %[[ACC]]
// CHECK: tile.print "" %[[SUM]]
tile.kernel @split(%n: i32, %x: i32 {tile.grid_size = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !a
    %b = cta.alloc : !b
    %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
      %after = cta.await %flying after %flying_t : !x
      scf.yield %after : !x
    }
    tile.print "" %acc : !x
  }
  tile.return
}

// Programs of different lengths: the work of a CTA would not be known from the number of programs.
// CHECK-LABEL: tile.kernel @negative_uneven(
// CHECK: tile.programs {{.*}} #tile.work<order = grid> {
// CHECK-NOT: cta.combine
tile.kernel @negative_uneven(%x: i32 {tile.grid_size = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !a
    %b = cta.alloc : !b
    %acc = scf.for %step = %c0 to %i step %c1 iter_args(%before = %zero) -> (!x) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
      %after = cta.await %flying after %flying_t : !x
      scf.yield %after : !x
    }
    tile.print "" %acc : !x
  }
  tile.return
}

// The CTAs of a cluster execute the steps together.
// CHECK-LABEL: tile.kernel @negative_cluster(
// CHECK: tile.programs {{.*}} #tile.work<order = grid, cluster = [2, 1]> {
// CHECK-NOT: cta.combine
tile.kernel @negative_cluster(%n: i32, %x: i32 {tile.grid_size = 0 : i32}) attributes {cluster = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid, cluster = [2, 1]> {
    %a = cta.alloc : !a
    %b = cta.alloc : !b
    %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
      %after = cta.await %flying after %flying_t : !x
      scf.yield %after : !x
    }
    tile.print "" %acc : !x
  }
  tile.return
}

// Small blocks are for small problems, which would wait for the schedule; a kernel that is not persistent has one program.
// CHECK-LABEL: tile.kernel @negative_small(
// CHECK-NOT: cta.combine
tile.kernel @negative_small(%n: i32, %x: i32 {tile.grid_size = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !y
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !s
    %b = cta.alloc : !s
    %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!y) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 64 : i32} : !s, !s -> !y
      %after = cta.await %flying after %flying_t : !y
      scf.yield %after : !y
    }
    tile.print "" %acc : !y
  }
  tile.return
}
// CHECK-LABEL: tile.kernel @negative_once(
// CHECK-NOT: cta.combine
tile.kernel @negative_once(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %a = cta.alloc : !a
  %b = cta.alloc : !b
  %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
    %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
    %after = cta.await %flying after %flying_t : !x
    scf.yield %after : !x
  }
  tile.print "" %acc : !x
  tile.return
}

// Sums in addition to the accumulator, unconditional or conditional, are reduced like it; other operations on them are not supported.
// CHECK-LABEL: tile.kernel @sums(
// CHECK: %[[R:.*]]:3 = scf.for
// CHECK: cta.combine %[[R]]#2
// CHECK-NEXT: cta.combine %[[R]]#1
// CHECK-NEXT: cta.combine %[[R]]#0
tile.kernel @sums(%n: i32, %m: i32, %x: i32 {tile.grid_size = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %none = arith.constant dense<0.0> : !y
  %one = arith.constant dense<1.0> : !y
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !a
    %b = cta.alloc : !b
    %s:3 = scf.for %step = %c0 to %n step %c1 iter_args(%some = %none, %before = %zero, %all = %none) -> (!y, !x, !y) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
      %after = cta.await %flying after %flying_t : !x
      %adds = arith.cmpi slt, %step, %m : i32
      %next = scf.if %adds -> (!y) {
        %sum = arith.addf %some, %one : !y
        scf.yield %sum : !y
      } else {
        scf.yield %some : !y
      }
      %more = arith.addf %one, %all : !y
      scf.yield %next, %after, %more : !y, !x, !y
    }
    tile.print "" %s#0 : !y
    tile.print "" %s#1 : !x
    tile.print "" %s#2 : !y
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_doubled(
// CHECK-NOT: cta.combine
tile.kernel @negative_doubled(%n: i32, %x: i32 {tile.grid_size = 0 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %none = arith.constant dense<0.0> : !y
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !a
    %b = cta.alloc : !b
    %s:2 = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero, %all = %none) -> (!x, !y) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 128 : i32} : !a, !b -> !x
      %after = cta.await %flying after %flying_t : !x
      %more = arith.addf %all, %all : !y
      scf.yield %after, %more : !x, !y
    }
    tile.print "" %s#0 : !x
    tile.print "" %s#1 : !y
  }
  tile.return
}
