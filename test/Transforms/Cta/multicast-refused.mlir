// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-multicast))' | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<2 x [!b]>

// CTAs that do not use the slots in the same order would wait for each other for ever.
// CHECK-LABEL: tile.kernel @diverging_loop
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @diverging_loop(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %rank = cta.cluster_rank
    %end = arith.addi %n, %rank : i32
    scf.for %k = %c0 to %end step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}

// Nor CTAs that take different branches, and therefore use different slots afterwards.
// CHECK-LABEL: tile.kernel @diverging_branch
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @diverging_branch(%n: i32, %p: !tile.ptr<i1>, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %read = tile.load %p : !tile.ptr<i1>
    scf.if %read {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %c0], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}

// Or CTAs that leave a while loop at different times.
// CHECK-LABEL: tile.kernel @diverging_while
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @diverging_while(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %rank = cta.cluster_rank
    %last = scf.while (%k = %n) : (i32) -> i32 {
      %goes_on = arith.cmpi sgt, %k, %rank : i32
      scf.condition(%goes_on) %k : i32
    } do {
    ^bb0(%k: i32):
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %c0], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
      %next = arith.subi %k, %c1 : i32
      scf.yield %next : i32
    }
  }
  tile.return
}

// Each ring that is filled in a block is shared.
// CHECK-LABEL: tile.kernel @two_slots
// CHECK-COUNT-2: tma_multicast
tile.kernel @two_slots(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %ring = cta.ring_alloc : !ring
  %other = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %slot = cta.ring_acquire %ring : !ring
    %b = cta.ring_buffers %ring[%slot] : !ring
    cta.tma_load %d[%c0, %c0], %b, %ring[%slot] : !d, !b, !ring
    cta.ring_commit %ring[%slot] : !ring
    %next = cta.ring_acquire %other : !ring
    %o = cta.ring_buffers %other[%next] : !ring
    cta.tma_load %e[%c0, %c0], %o, %other[%next] : !d, !b, !ring
    cta.ring_commit %other[%next] : !ring
  }
  tile.return
}

// CTAs may execute a while loop together.
// CHECK-LABEL: tile.kernel @common_while
// CHECK: tma_multicast
tile.kernel @common_while(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %last = scf.while (%k = %n) : (i32) -> i32 {
      %goes_on = arith.cmpi sgt, %k, %c0 : i32
      scf.condition(%goes_on) %k : i32
    } do {
    ^bb0(%k: i32):
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
      %next = arith.subi %k, %c1 : i32
      scf.yield %next : i32
    }
  }
  tile.return
}

// Loop-carried values, values from memory, and the index of the CTA may differ; the index of the cluster does not.
// CHECK-LABEL: tile.kernel @differing_places
// CHECK-COUNT-1: tma_multicast
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @differing_places(%n: i32, %p: !tile.ptr<i32>, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %rank = cta.cluster_rank
    %cta = tile.program_id 0
    %read = tile.load %p : !tile.ptr<i32>
    %id = cta.cluster_id
    %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c0) -> (i32) : i32 {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %e[%id, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.tma_load %d[%at, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.tma_load %d[%cta, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.tma_load %d[%read, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.tma_load %d[%rank, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
      %next = arith.addi %at, %rank : i32
      scf.yield %next : i32
    }
  }
  tile.return
}

// One tensor map has one box, and other copies need the whole box.
// CHECK-LABEL: tile.kernel @other_copies
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @other_copies(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %rank = cta.cluster_rank
    %slot = cta.ring_acquire %ring : !ring
    %b = cta.ring_buffers %ring[%slot] : !ring
    cta.tma_load %d[%n, %c0], %b, %ring[%slot] : !d, !b, !ring
    cta.tma_load %d[%rank, %c0], %b, %ring[%slot] : !d, !b, !ring
    cta.ring_commit %ring[%slot] : !ring
  }
  tile.return
}

#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>

// Each CTA has a separate tensor map.
// CHECK-LABEL: tile.kernel @own_maps
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @own_maps(%n: i32, %p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %ld: i64) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %staging = cta.alloc : !cta.buffer<128xi8, #bytes>
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %d = cta.make_tensor_map single %p, [%n, %n], [%ld, %ld] at %place via %staging {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !d
    scf.for %k = %c0 to %n step %c1 : i32 {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %k], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}

// Or execute separate programs, however many there are.
// CHECK-LABEL: tile.kernel @diverging_programs
// CHECK-NOT: tma_multicast
// CHECK: tile.return
tile.kernel @diverging_programs(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    tile.programs (%i, %j, %k, %exists) in (%n, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_acquire %ring : !ring
      %b = cta.ring_buffers %ring[%slot] : !ring
      cta.tma_load %d[%c0, %c0], %b, %ring[%slot] : !d, !b, !ring
      cta.ring_commit %ring[%slot] : !ring
    }
  }
  tile.return
}
