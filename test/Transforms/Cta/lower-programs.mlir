// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-programs,canonicalize))' --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!x = tensor<128x128xf32, #x>

// A CTA begins with the program of its own number and goes on by the number of CTAs; x is fastest.
// CHECK-LABEL: tile.kernel @grid(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %[[Z:[^:]*]]: i32)
// CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[COUNT:.*]] = arith.muli %[[XY]], %[[Z]]
// CHECK: %[[FIRST:.*]] = tile.program_id 0
// CHECK: %[[CTAS:.*]] = tile.num_programs 0
// CHECK: scf.for %[[P:.*]] = %[[FIRST]] to %[[COUNT]] step %[[CTAS]]
// CHECK-NEXT: %[[I:.*]] = arith.remui %[[P]], %[[X]]
// CHECK-NEXT: %[[REST:.*]] = arith.divui %[[P]], %[[X]]
// CHECK-NEXT: %[[J:.*]] = arith.remui %[[REST]], %[[Y]]
// CHECK-NEXT: %[[K:.*]] = arith.divui %[[REST]], %[[Y]]
// CHECK-NEXT: tile.print "" %[[I]], %[[J]], %[[K]], %true
tile.kernel @grid(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> {
    tile.print "" %i, %j, %k, %exists : i32, i32, i32, i1
  }
  tile.return
}

// Row by row, y is fastest; what is not asked for is not computed.
// CHECK-LABEL: tile.kernel @transposed(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %{{.*}}: i32)
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: %[[J:.*]] = arith.remui %[[P]], %[[Y]]
// CHECK-NEXT: tile.print "" %[[J]]
tile.kernel @transposed(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = transposed> {
    tile.print "" %j : i32
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @swizzled(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %{{.*}}: i32)
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: %[[COLUMN:.*]] = arith.remui %[[P]], %[[Y]]
// CHECK-NEXT: %[[REST:.*]] = arith.divui %[[P]], %[[Y]]
// CHECK-NEXT: %[[ROW:.*]] = arith.remui %[[REST]], %[[X]]
// CHECK-NEXT: %[[I:.*]], %[[J:.*]] = tile.swizzle2d %[[ROW]], %[[COLUMN]], %[[X]], %[[Y]], %c8_i32
// CHECK-NEXT: tile.print "" %[[I]], %[[J]]
tile.kernel @swizzled(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
    tile.print "" %i, %j : i32, i32
  }
  tile.return
}

// A program that does the same everywhere.
// CHECK-LABEL: tile.kernel @alike(
// CHECK: scf.for
// CHECK-NEXT: tile.print "here"
tile.kernel @alike(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
    tile.print "here"
  }
  tile.return
}

// A group is two programs along the first axis; the rank chooses one, after groups have been ordered. Those beyond the
// edge read what the last one reads.
// CHECK-LABEL: tile.kernel @cluster(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %{{.*}}: i32)
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: %[[PADDED:.*]] = arith.addi %[[X]]
// CHECK: %[[GROUPS:.*]] = arith.divui %[[PADDED]]
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: %[[CLUSTERS:.*]] = cta.num_clusters
// CHECK: scf.for %[[G:.*]] = %[[ID]] to %{{.*}} step %[[CLUSTERS]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[G]], %[[Y]]
// CHECK: %[[GI:.*]], %[[J:.*]] = tile.swizzle2d %{{.*}}, %[[COLUMN]], %[[GROUPS]], %[[Y]], %c4_i32
// CHECK: %[[TWICE:.*]] = arith.muli %[[GI]], %c2_i32
// CHECK: %[[ROW:.*]] = arith.addi %[[TWICE]], %[[RANK]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ROW]], %[[X]]
// CHECK: %[[OWN:.*]] = arith.minui %[[ROW]]
// CHECK: tile.print "" %[[OWN]], %[[J]], %[[EXISTS]]
tile.kernel @cluster(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 2, 1, 1>} {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8, cluster = [2, 1]> {
    tile.print "" %i, %j, %exists : i32, i32, i1
  }
  tile.return
}

// Along both axes: ranks 0 and 1 are neighbours along the first.
// CHECK-LABEL: tile.kernel @square(
// CHECK-SAME: cluster_ctas = 4 : i32
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: scf.for
// CHECK: %[[R:.*]] = arith.remui %[[RANK]], %c2_i32
// CHECK: %[[C:.*]] = arith.divui %[[RANK]], %c2_i32
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[R]]
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[C]]
// CHECK: arith.andi
tile.kernel @square(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 2, 2, 1>} {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid, cluster = [2, 2]> {
    tile.print "" %i, %j, %exists : i32, i32, i1
  }
  tile.return
}

// Each CTA of a cluster does a part of the steps; the first one adds up the others' sums, a word for each of 128 registers
// of 128 threads, and finishes the program.
// CHECK-LABEL: tile.kernel @split_k(
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: %[[MEMORY:.*]] = cta.alloc : <16384xf32, {{.*}}>
// CHECK: %[[SENT:.*]] = cta.mbarrier_alloc arrivals 1 : <1>
// CHECK: %[[TAKEN:.*]] = cta.mbarrier_alloc arrivals 4 : <1>
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: scf.for %{{.*}} = %[[ID]] to %{{.*}} iter_args(%[[PARITY:.*]] = %c0_i32) -> (i32)
// CHECK: tile.print "first" %[[RANK]]
// CHECK: %[[SUM:.*]] = cta.cluster_sum %{{.*}}, %[[MEMORY]], %[[SENT]], %[[TAKEN]], %[[PARITY]] {ctas = 2 : i32}
// CHECK: %[[NEXT:.*]] = arith.xori %[[PARITY]]
// CHECK: scf.if
// CHECK-NEXT: tile.print "" %[[SUM]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: cta.cluster_barrier
// CHECK-NEXT: tile.return
tile.kernel @split_k(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>} {
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
// CHECK-SAME: cluster_ctas = 4 : i32
// CHECK: cta.alloc : <16384xf32, {{.*}}, slots = 3>
// CHECK-NOT: scf.for
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: tile.print "" %[[ID]]
// CHECK: cta.cluster_sum
tile.kernel @once(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 4>} {
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
// CHECK-SAME: %[[SCRATCH:[^ ]*]]: !tile.ptr<i8> {tile.scratch = 49280 : i64})
// CHECK: scf.for
// CHECK: %[[I:.*]] = arith.remui
// CHECK: tile.print "steps" %{{.*}}, %{{.*}}, %[[I]]
// CHECK: scf.if
// CHECK: scf.for
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
  tile.programs (%i, %j, %k, %exists, %first, %end) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    tile.print "steps" %first, %end, %i : i32, i32, i32
    %sum = cta.combine %acc {columns = 96 : i32} : !x
    tile.print "sum" %sum : !x
  }
  tile.return
}

// A program that does not ask where it lies: what gives its steps stays.
// CHECK-LABEL: tile.kernel @anywhere(
// CHECK: scf.for %[[SEGMENT:.*]] = %c0_i32 to
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi slt, %[[SEGMENT]],
// CHECK: %[[FROM:.*]] = arith.select %[[IS_WHOLE]], %c0_i32,
// CHECK: arith.cmpi eq, %[[FROM]], %c0_i32
tile.kernel @anywhere(%x: i32, %y: i32, %z: i32, %n: i32) {
  %acc = arith.constant dense<1.0> : !x
  tile.programs (%i, %j, %k, %exists, %first, %end) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    %sum = cta.combine %acc : !x
    tile.print "" %sum : !x
  }
  tile.return
}

// Two sums of a piece lie one after the other behind its flag, and are exchanged one after the other in a cluster, through the same memory.
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
  tile.programs (%i, %j, %k, %exists, %first, %end) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
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
// CHECK: cta.cluster_sum %{{.*}}, %[[MEMORY]], %{{.*}}, %{{.*}}, %c0_i32 {
// CHECK: cta.cluster_sum %{{.*}}, %[[MEMORY]], %{{.*}}, %{{.*}}, %c1_i32 {
// CHECK-NOT: cta.cluster_sum
tile.kernel @two_of_clusters(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>} {
  %acc = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    %s = cta.combine %acc : !x
    %t = cta.combine %acc : !x
    tile.print "" %s : !x
    tile.print "" %t : !x
  }
  tile.return
}
