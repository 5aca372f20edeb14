// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-share-steps))' --mlir-print-local-scope --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-share-steps))' --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: remark: K is not split over the CTAs of a cluster: the target

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!s = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf32, #x>

// The CTAs of a cluster take turns at the steps, and then add up.
// CHECK-LABEL: tile.kernel @split(
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: tile.programs (%{{.*}}, %[[FIRST:.*]]) in ({{.*}}) #tile.work<order = grid, split_k = 2>
// CHECK: %[[STEP:.*]] = arith.muli %c1_i32, %c2_i32
// CHECK: %[[ACC:.*]] = scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK: %[[SUM:.*]] = cta.combine %[[ACC]]
// CHECK: tile.print "" %[[SUM]]
tile.kernel @split(%n: i32, %x: i32 {tile.grid_size = 0 : i32}) attributes {cluster = array<i32: 1, 1, 2>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  tile.programs (%i, %j, %k, %exists) in (%x, %c1, %c1) #tile.work<order = grid> {
    %a = cta.alloc : !s
    %b = cta.alloc : !s
    %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
      %flying, %flying_t = cta.wgmma %a, %b, %before {n = 64 : i32} : !s, !s -> !x
      %after = cta.await %flying after %flying_t : !x
      scf.yield %after : !x
    }
    tile.print "" %acc : !x
  }
  tile.return
}

// Not persistent: one cluster per program. A pointer starts at the CTA's first step; all CTAs' steps advance it.
// CHECK-LABEL: tile.kernel @once(
// CHECK: %[[X:.*]] = cta.num_clusters
// CHECK: tile.programs (%[[I:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST:.*]]) in (%[[X]], {{.*}}) #tile.work<order = grid, persistent = false, split_k = 4>
// CHECK: %[[WIDE:.*]] = arith.extsi %[[FIRST]] : i32 to i64
// CHECK: %[[DISTANCE:.*]] = arith.muli %{{.*}}, %[[WIDE]] : i64
// CHECK: %[[START:.*]] = tile.addptr %{{.*}}, %[[DISTANCE]]
// CHECK: %[[ALL:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[START]])
// CHECK: tile.addptr %[[P]], %[[ALL]]
// CHECK: cta.combine
// CHECK: tile.print "place" %[[I]], %[[X]]
tile.kernel @once(%n: i32, %p: !tile.ptr<f16>) attributes {cluster = array<i32: 1, 1, 4>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %a = cta.alloc : !s
  %acc, %end = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero, %place = %p) -> (!x, !tile.ptr<f16>) : i32 {
    %flying, %flying_t = cta.wgmma %a, %a, %before {n = 64 : i32} : !s, !s -> !x
    %after = cta.await %flying after %flying_t : !x
    %next = tile.addptr %place, %n : !tile.ptr<f16>, i32
    scf.yield %after, %next : !x, !tile.ptr<f16>
  }
  %i = tile.program_id 0
  %x = tile.num_programs 0
  tile.print "place" %i, %x : i32, i32
  tile.print "" %acc : !x
  tile.return
}

// A CTA without steps executes none, even if the computation of its first step would overflow.
// CHECK-LABEL: tile.kernel @from(
// CHECK: tile.programs (%{{.*}}, %[[FIRST:.*]]) in
// CHECK: %[[DISTANCE:.*]] = arith.muli %[[FIRST]], %c64_i32
// CHECK: %[[BEGIN:.*]] = arith.addi %[[A:.*]], %[[DISTANCE]]
// CHECK: %[[COUNT:.*]] = arith.select
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[FIRST]], %[[COUNT]]
// CHECK: %[[END:.*]] = arith.select %[[HAS]], %{{.*}}, %[[BEGIN]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
tile.kernel @from(%a: i32, %n: i32) attributes {cluster = array<i32: 1, 1, 4>} {
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : !x
  %buffer = cta.alloc : !s
  %acc = scf.for %step = %a to %n step %c64 iter_args(%before = %zero) -> (!x) : i32 {
    %flying, %flying_t = cta.wgmma %buffer, %buffer, %before {n = 64 : i32} : !s, !s -> !x
    %after = cta.await %flying after %flying_t : !x
    scf.yield %after : !x
  }
  tile.print "" %acc : !x
  tile.return
}

// expected-remark @below {{K is not split over the CTAs of a cluster: the loop's step}}
tile.kernel @negative_step(%n: i32, %s: i32) attributes {cluster = array<i32: 1, 1, 4>} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : !x
  %buffer = cta.alloc : !s
  %acc = scf.for %step = %c0 to %n step %s iter_args(%before = %zero) -> (!x) : i32 {
    %flying, %flying_t = cta.wgmma %buffer, %buffer, %before {n = 64 : i32} : !s, !s -> !x
    %after = cta.await %flying after %flying_t : !x
    scf.yield %after : !x
  }
  tile.print "" %acc : !x
  tile.return
}

// -----

// expected-remark @below {{K is not split over the CTAs of a cluster: the cluster also combines}}
tile.kernel @negative_both() attributes {cluster = array<i32: 2, 1, 2>} {
  tile.return
}

// -----

// expected-remark @below {{K is not split over the CTAs of a cluster: programs do more than accumulate dots by wgmma}}
tile.kernel @negative_form(%x: i32 {tile.grid_size = 0 : i32}) attributes {cluster = array<i32: 1, 1, 2>} {
  tile.programs (%i, %j, %k, %exists) in (%x, %x, %x) #tile.work<order = grid> {
    tile.print "" %i : i32
  }
  tile.return
}

// -----

// expected-remark @below {{K is not split over the CTAs of a cluster: programs do more than accumulate dots and advance pointers}}
tile.kernel @negative_form_once() attributes {cluster = array<i32: 1, 1, 2>} {
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!s = !cta.buffer<64x64xf16, #s>
!large = !cta.buffer<64x64xf16, #s, slots = 28>
!x = tensor<64x64xf32, #x>

// expected-remark @below {{K is not split over the CTAs of a cluster: the accumulators do not fit}}
tile.kernel @negative_no_room(%n: i32) attributes {cluster = array<i32: 1, 1, 2>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %a = cta.alloc : !s
  %more = cta.alloc : !large
  %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
    %flying, %flying_t = cta.wgmma %a, %a, %before {n = 64 : i32} : !s, !s -> !x
    %after = cta.await %flying after %flying_t : !x
    scf.yield %after : !x
  }
  tile.print "" %acc : !x
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!s = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf32, #x>

// expected-remark @below {{K is not split over the CTAs of a cluster: blocks are loaded by TMA}}
tile.kernel @negative_blocks(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 1, 1, 2>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !x
  %acc = scf.for %step = %c0 to %n step %c1 iter_args(%before = %zero) -> (!x) : i32 {
    %a = cta.alloc : !s
    %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
    cta.tma_load_sync %d[%c0, %step], %a, %full : !d, !s, !cta.mbarrier<1>
    %flying, %flying_t = cta.wgmma %a, %a, %before {n = 64 : i32} : !s, !s -> !x
    %after = cta.await %flying after %flying_t : !x
    scf.yield %after : !x
  }
  tile.print "" %acc : !x
  tile.return
}
