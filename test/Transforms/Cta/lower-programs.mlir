// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-programs,canonicalize))' --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!x = tensor<128x128xf32, #x>
#e = #cta.layout<[16384], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512], [1024], [2048], [4096], [8192]]>
!exchange = !cta.buffer<16384xf32, #e>
!m = !cta.mbarrier<1>

// A CTA begins with the program of its own index and advances by the number of CTAs; x is fastest.
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

// Row by row, y is fastest; unused indices are not computed.
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

// The row-major index is arranged in groups of 8 rows; the third axis is the remainder.
// CHECK-LABEL: tile.kernel @swizzled(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %{{.*}}: i32)
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: %[[PLANE:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK-NEXT: %[[IJ:.*]] = arith.remui %[[P]], %[[PLANE]]
// CHECK-NEXT: %[[GROUP_SIZE:.*]] = arith.muli %[[Y]], %c8_i32
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %[[IJ]], %[[GROUP_SIZE]]
// CHECK: %[[J:.*]] = arith.divui
// CHECK: %[[K:.*]] = arith.divui %[[P]], %[[PLANE]]
// CHECK-NEXT: tile.print "" %{{.*}}, %[[J]], %[[K]]
tile.kernel @swizzled(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
    tile.print "" %i, %j, %k : i32, i32, i32
  }
  tile.return
}

// A program that does not depend on its index.
// CHECK-LABEL: tile.kernel @alike(
// CHECK: scf.for
// CHECK-NEXT: tile.print "here"
tile.kernel @alike(%x: i32, %y: i32, %z: i32) {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
    tile.print "here"
  }
  tile.return
}

// A group is two programs along the first axis; the rank chooses one, after groups have been ordered. Programs beyond
// the edge read the same data as the last one.
// CHECK-LABEL: tile.kernel @cluster(
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %{{.*}}: i32)
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: %[[PADDED:.*]] = arith.addi %[[X]]
// CHECK: %[[GROUPS:.*]] = arith.divui %[[PADDED]]
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: %[[CLUSTERS:.*]] = cta.num_clusters
// CHECK: scf.for %[[G:.*]] = %[[ID]] to %{{.*}} step %[[CLUSTERS]]
// CHECK: %[[PLANE:.*]] = arith.muli %[[GROUPS]], %[[Y]]
// CHECK: arith.remui %[[G]], %[[PLANE]]
// CHECK: arith.muli %[[Y]], %c4_i32
// CHECK: arith.minui %{{.*}}, %c4_i32
// CHECK: %[[J:.*]] = arith.divui
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK: %[[ROW:.*]] = arith.addi %[[TWICE]], %[[RANK]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ROW]], %[[X]]
// CHECK: %[[OWN:.*]] = arith.minui %[[ROW]]
// CHECK: tile.print "" %[[OWN]], %[[J]], %[[EXISTS]]
tile.kernel @cluster(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8, cluster = [2, 1]> {
    tile.print "" %i, %j, %exists : i32, i32, i1
  }
  tile.return
}

// Along both axes: ranks 0 and 1 are neighbours along the first.
// CHECK-LABEL: tile.kernel @square(
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: scf.for
// CHECK: %[[R:.*]] = arith.remui %[[RANK]], %c2_i32
// CHECK: %[[C:.*]] = arith.divui %[[RANK]], %c2_i32
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[R]]
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[C]]
// CHECK: arith.andi
tile.kernel @square(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 2, 2, 1>, cluster_ctas = 4 : i32} {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid, cluster = [2, 2]> {
    tile.print "" %i, %j, %exists : i32, i32, i1
  }
  tile.return
}

// The first step of a CTA is its rank; combines of a CTA are counted from one program to the next.
// CHECK-LABEL: tile.kernel @split_k(
// CHECK: %[[RANK:.*]] = cta.cluster_rank
// CHECK: %[[ID:.*]] = cta.cluster_id
// CHECK: %[[CLUSTERS:.*]] = cta.num_clusters
// CHECK: scf.for %{{.*}} = %[[ID]] to %{{.*}} step %[[CLUSTERS]] iter_args(%[[PARITY:.*]] = %c0_i32) -> (i32)
// CHECK: tile.print "first" %[[RANK]]
// CHECK: cta.cluster_sum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[PARITY]] {ctas = 2 : i32}
// CHECK: %[[NEXT:.*]] = arith.xori %[[PARITY]]
// CHECK: scf.yield %[[NEXT]]
tile.kernel @split_k(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %acc = arith.constant dense<0.0> : !x
  %memory = cta.alloc : !exchange
  %sent = cta.mbarrier_alloc arrivals 1 : !m
  %taken = cta.mbarrier_alloc arrivals 4 : !m
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    tile.print "first" %first : i32
    %sum = cta.cluster_sum %acc, %memory, %sent, %taken {ctas = 2 : i32} : !x, !exchange, !m
    tile.print "" %sum : !x
  }
  tile.return
}

// Whole programs and parts of programs. A program that one CTA executes alone has no parts.
// CHECK-LABEL: tile.kernel @tail(
// CHECK-SAME: %[[N:[^:]*]]: i32)
// CHECK: %[[STEPS:.*]] = arith.maxsi %[[N]], %c1_i32
// CHECK: scf.for %[[SEGMENT:.*]] = %c0_i32 to %{{.*}} iter_args(
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi slt, %[[SEGMENT]],
// CHECK: %[[FROM:.*]] = arith.select %[[IS_WHOLE]], %c0_i32,
// CHECK: %[[PROGRAM:.*]]:4 = scf.if %[[IS_WHOLE]]
// CHECK: %[[I:.*]] = arith.remui %[[PROGRAM]]#0
// CHECK: %[[PIECE:.*]] = arith.addi %[[PROGRAM]]#0,
// CHECK: %[[PIECES:.*]] = arith.select %[[IS_WHOLE]], %c0_i32,
// CHECK: tile.print "" %[[I]], %[[FROM]], %[[PROGRAM]]#1, %[[PIECE]], %[[PIECES]]
tile.kernel @tail(%x: i32, %y: i32, %z: i32, %n: i32) {
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    tile.print "" %i, %first, %end, %piece, %pieces : i32, i32, i32, i32, i32
  }
  tile.return
}

// A program that does not use its index: the operation that returns its steps remains.
// CHECK-LABEL: tile.kernel @anywhere(
// CHECK: scf.for %[[SEGMENT:.*]] = %c0_i32 to
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi slt, %[[SEGMENT]],
// CHECK: %[[FROM:.*]] = arith.select %[[IS_WHOLE]], %c0_i32,
// CHECK: tile.print "" %[[FROM]]
tile.kernel @anywhere(%x: i32, %y: i32, %z: i32, %n: i32) {
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%n) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    tile.print "" %first : i32
  }
  tile.return
}

// Roles iterate over the same programs. Their number is computed once; each role reads the number of the CTA itself,
// and computes the indices that it needs. The second of two teams begins with the next program of the CTA.
// CHECK-LABEL: tile.kernel @roles(
// CHECK: arith.muli
// CHECK-NEXT: %[[COUNT:.*]] = arith.muli
// CHECK-NEXT: %[[CTAS:.*]] = tile.num_programs 0
// CHECK-NEXT: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NEXT: %[[CTA:.*]] = tile.program_id 0
// CHECK-NEXT: %[[TEAM:.*]] = cta.team
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.muli %[[TEAM]], %[[CTAS]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[CTA]], %[[DISTANCE]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.muli %[[CTAS]], %c2_i32
// CHECK-NEXT: scf.for %{{.*}} = %[[FIRST]] to %[[COUNT]] step %[[TWICE]]
// CHECK-NEXT: arith.remui
// CHECK-NEXT: tile.print "consumer"
// CHECK: } role <producer{{.*}}> {
// CHECK-NEXT: %[[SAME:.*]] = tile.program_id 0
// CHECK-NEXT: scf.for %{{.*}} = %[[SAME]] to %[[COUNT]] step %[[CTAS]]
// CHECK-NEXT: tile.print "producer"
tile.kernel @roles(%x: i32, %y: i32, %z: i32) attributes {num_warps = 4 : i32} {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> {
      tile.print "consumer" %i : i32
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> {
      tile.print "producer"
    }
  }
  tile.return
}
