// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-combines,canonicalize))' --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!x = tensor<128x128xf32, #x>

// Each CTA of a cluster executes a part of the steps; the first one adds the others' accumulators, a word for each of
// 128 registers of 128 threads, and finishes the program.
// CHECK-LABEL: tile.kernel @split_k(
// CHECK: %[[MEMORY:.*]] = cta.alloc : <16384xf32, {{.*}}>
// CHECK: %[[SENT:.*]] = cta.mbarrier_alloc arrivals 1 : <1>
// CHECK: %[[TAKEN:.*]] = cta.mbarrier_alloc arrivals 4 : <1>
// CHECK: tile.programs (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST:.*]]) in
// CHECK: %[[SUM:.*]] = cta.cluster_sum %{{.*}}, %[[MEMORY]], %[[SENT]], %[[TAKEN]] {ctas = 2 : i32}
// CHECK-NEXT: %[[HAS_FIRST:.*]] = arith.cmpi eq, %[[FIRST]], %c0_i32
// CHECK-NEXT: scf.if %[[HAS_FIRST]] {
// CHECK-NEXT: tile.print "" %[[SUM]]
// CHECK: cta.cluster_barrier
// CHECK-NEXT: tile.return
tile.kernel @split_k(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    tile.print "first" %first : i32
    %sum = cta.combine %acc : !x
    tile.print "" %sum : !x
  }
  tile.return
}

// Not persistent: a cluster for each program, and no loop. A slot for each of three senders.
// CHECK-LABEL: tile.kernel @once(
// CHECK: cta.alloc : <16384xf32, {{.*}}, slots = 3>
// CHECK-NOT: tile.programs
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: tile.print "" %[[ID]]
// CHECK: cta.cluster_sum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c0_i32
tile.kernel @once(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 4>, cluster_ctas = 4 : i32} {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, persistent = false, split_k = 4> {
    tile.print "" %i : i32
    %sum = cta.combine %acc : !x
    tile.print "" %sum : !x
  }
  tile.return
}

// Whole programs and parts of programs. A part that does not begin with the program's first step leaves its accumulator,
// with 96 of 128 columns; the other adds those of its helpers and goes on. 128 bytes for the flag, 48 KiB for the accumulator.
// CHECK-LABEL: tile.kernel @tail(
// CHECK-SAME: %[[SCRATCH:[^ ]*]]: !tile.ptr<i8> {tile.scratch = 49280 : i64, tile.shares_tails})
// CHECK: tile.programs (%{{.*}}, %[[FIRST:.*]], %{{.*}}, %[[PIECE:.*]], %[[PIECES:.*]]) in
// CHECK: %[[OWNS:.*]] = arith.cmpi eq, %[[FIRST]], %c0_i32
// CHECK: scf.if %[[OWNS]] {
// CHECK: scf.for %[[BACK:.*]] = %c0_i32 to %[[PIECES]]
// CHECK-NEXT: arith.subi %[[PIECE]], %[[BACK]]
// CHECK: cta.flag_wait
// CHECK-NEXT: cta.barrier
// CHECK: cta.partial_add {{.*}} {columns = 96 : i32}
// CHECK: tile.print "sum"
// CHECK: } else {
// CHECK: cta.partial_store {{.*}} {columns = 96 : i32}
// CHECK-NEXT: cta.barrier
// CHECK: cta.flag_set
tile.kernel @tail(%x: i32, %y: i32, %z: i32, %n: i32) {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    tile.print "steps" %first, %end, %i : i32, i32, i32
    %sum = cta.combine %acc {columns = 96 : i32} : !x
    tile.print "sum" %sum : !x
  }
  tile.return
}

// Two accumulators of a part are stored consecutively after its flag, and are exchanged sequentially in a cluster, through the same memory.
// CHECK-LABEL: tile.kernel @two_sums(
// CHECK-SAME: tile.scratch = 131200 : i64
// CHECK: cta.flag_wait
// CHECK: cta.partial_add
// CHECK: cta.partial_add
// CHECK: cta.partial_store
// CHECK: cta.partial_store
// CHECK: cta.flag_set
tile.kernel @two_sums(%x: i32, %y: i32, %z: i32, %n: i32) {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    %s = cta.combine %acc : !x
    %t = cta.combine %acc : !x
    tile.print "" %s : !x
    tile.print "" %t : !x
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @two_of_clusters(
// CHECK: %[[MEMORY:.*]] = cta.alloc : <16384xf32
// CHECK-NOT: cta.alloc
// CHECK: cta.cluster_sum %{{.*}}, %[[MEMORY]], %{{.*}}, %{{.*}} {
// CHECK: cta.cluster_sum %{{.*}}, %[[MEMORY]], %{{.*}}, %{{.*}} {
// CHECK-NOT: cta.cluster_sum
tile.kernel @two_of_clusters(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    %s = cta.combine %acc : !x
    %t = cta.combine %acc : !x
    tile.print "" %s : !x
    tile.print "" %t : !x
  }
  tile.return
}
