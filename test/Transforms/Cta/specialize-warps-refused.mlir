// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-specialize-warps))' --split-input-file --mlir-print-local-scope | FileCheck %s

// A kernel keeps its form if a producer cannot do the copies alone, or if there is no shared memory for it.

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// The producer would read the address of the copy before it is written.
// CHECK-LABEL: tile.kernel @negative_written_coordinates
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_coordinates(%n: i32, %p: !tile.ptr<i32> {tile.name = "p"}, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tile.load %p : !tile.ptr<i32>
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%at, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    tile.store %p, %i : !tile.ptr<i32>
  }
  tile.return
}

// Or the number of copies.
// CHECK-LABEL: tile.kernel @negative_written_bound
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_bound(%p: !tile.ptr<i32> {tile.name = "p"}, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tile.load %p : !tile.ptr<i32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.store %p, %c0 : !tile.ptr<i32>
  tile.return
}

// A prefetching copy would miss the written data.
// CHECK-LABEL: tile.kernel @negative_written_tensor
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_tensor(%n: i32, %p: !tile.ptr<f16> {tile.name = "a"}, %v: f16, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
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

// A parameter without a name is identified by its number.
// CHECK-LABEL: tile.kernel @negative_written_nameless_tensor
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_nameless_tensor(%n: i32, %p: !tile.ptr<f16>, %v: f16, %d: !d {tile.tensor_map = #tile.tensor_map<base = "arg1">}) {
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

// Writes by TMA count, too.
// CHECK-LABEL: tile.kernel @negative_written_by_tma
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_by_tma(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %w = cta.alloc : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    cta.local_store %x, %w : !x, !b
    cta.proxy_fence
    cta.tma_store %w, %e[%i, %c0] : !b, !d
  }
  tile.return
}

// A pointer that control flow chose may point into either tensor.
// CHECK-LABEL: tile.kernel @negative_chosen_pointer
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_chosen_pointer(%n: i32, %p: !tile.ptr<f16> {tile.name = "c"}, %r: !tile.ptr<f16> {tile.name = "a"}, %t: i1, %v: f16, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
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
      %other = tile.addptr %r, %i : !tile.ptr<f16>, i32
      scf.yield %other : !tile.ptr<f16>
    }
    tile.store %q, %v : !tile.ptr<f16>
  }
  tile.return
}

// Only TMA fills a slot.
// CHECK-LABEL: tile.kernel @negative_written_buffer
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_written_buffer(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    cta.local_store %x, %a : !x, !b
  }
  tile.return
}

// Two reads of a volatile number may return different values: one role would wait for the other for ever.
// CHECK-LABEL: tile.kernel @negative_volatile
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_volatile(%p: !tile.ptr<i32> {tile.name = "p"}, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tile.load %p volatile : !tile.ptr<i32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
  }
  tile.return
}

// Nor can a producer wait for a value that a loop waits for.
// CHECK-LABEL: tile.kernel @negative_polling
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_polling(%n: i32, %p: !tile.ptr<i32> {tile.name = "p"}, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %flag = tile.load %p volatile : !tile.ptr<i32>
    %goes_on = arith.cmpi eq, %flag, %c0 : i32
    scf.condition(%goes_on)
  } do {
    scf.yield
  }
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

// 64 KiB per slot: three fit into 227 KiB, one less with another buffer, none with large ones.
#s = #cta.layout<[128, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 4], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [64, 0], [0, 32], [0, 64]]>
#x = #cta.layout<[128, 128], register = [[0, 1], [0, 2], [0, 64], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>
!d = !tile.desc<128x128xf32>
!b = !cta.buffer<128x128xf32, #s>
!x = tensor<128x128xf32, #x>
!m = !cta.mbarrier<1>

// CHECK-LABEL: tile.kernel @negative_memory
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_memory(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %other = cta.alloc : !cta.buffer<128x128xf32, #s, slots = 3>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    %slot = cta.slot %other[%c0] : !cta.buffer<128x128xf32, #s, slots = 3> -> !b
    cta.local_store %x, %slot : !x, !b
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// Roles are whole warp groups.
// CHECK-LABEL: tile.kernel @negative_half_a_group
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_half_a_group(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_warps = 2 : i32} {
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
#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [0, 0], [0, 0], [0, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf16, #x>
!m = !cta.mbarrier<1>

// A CTA has at most 32 warps.
// CHECK-LABEL: tile.kernel @negative_too_many_warps
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_too_many_warps(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_warps = 32 : i32} {
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

// Addresses from one array may be the same; addresses from two are assumed to be those of different tensors.
// CHECK-LABEL: tile.kernel @negative_written_address
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
// CHECK-LABEL: tile.kernel @addresses_of_two_arrays
// CHECK: cta.warp_roles
tile.kernel @negative_written_address(%n: i32, %from: !tile.ptr<i64> {tile.name = "from"}, %to: !tile.ptr<i64> {tile.name = "to"}, %place: !tile.ptr<i8>, %ld: i64, %v: f16) {
  %staging = cta.alloc : !cta.buffer<128xi8, #bytes>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p_address = tile.load %from : !tile.ptr<i64>
  %p = tile.address_cast %p_address : i64 -> !tile.ptr<f16>
  %next = tile.addptr %from, %c1 : !tile.ptr<i64>, i32
  %q_address = tile.load %next : !tile.ptr<i64>
  %q = tile.address_cast %q_address : i64 -> !tile.ptr<f16>
  %d = cta.make_tensor_map %p, [%n, %n], [%ld, %ld] at %place via %staging {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !d
  scf.for %j = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%c0, %j], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    %r = tile.addptr %q, %j : !tile.ptr<f16>, i32
    tile.store %r, %v : !tile.ptr<f16>
  }
  tile.return
}
tile.kernel @addresses_of_two_arrays(%n: i32, %from: !tile.ptr<i64> {tile.name = "from"}, %to: !tile.ptr<i64> {tile.name = "to"}, %place: !tile.ptr<i8>, %ld: i64, %v: f16) {
  %staging = cta.alloc : !cta.buffer<128xi8, #bytes>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p_address = tile.load %from : !tile.ptr<i64>
  %p = tile.address_cast %p_address : i64 -> !tile.ptr<f16>
  %q_address = tile.load %to : !tile.ptr<i64>
  %q = tile.address_cast %q_address : i64 -> !tile.ptr<f16>
  %d = cta.make_tensor_map %p, [%n, %n], [%ld, %ld] at %place via %staging {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !d
  scf.for %j = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%c0, %j], %a, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    %r = tile.addptr %q, %j : !tile.ptr<f16>, i32
    tile.store %r, %v : !tile.ptr<f16>
  }
  tile.return
}

// A barrier that several copies share counts the bytes of more than one channel.
// CHECK-LABEL: tile.kernel @negative_shared_barrier
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_shared_barrier(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %b = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    cta.tma_load_sync %d[%c0, %i], %b, %m : !d, !b, !m
    %x = cta.local_load %a : !b -> !x
    %y = cta.local_load %b : !b -> !x
    tile.print "" %x, %y : !x, !x
  }
  tile.return
}

// A block that is used before it is copied has no slot at that use.
// CHECK-LABEL: tile.kernel @negative_used_before
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
tile.kernel @negative_used_before(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    %x = cta.local_load %a : !b -> !x
    tile.print "" %x : !x
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
  }
  tile.return
}

// The same if only the wait of an MMA comes after the copy.
// CHECK-LABEL: tile.kernel @negative_multiplied_before
// CHECK-NOT: cta.warp_roles
// CHECK: tile.return
#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @negative_multiplied_before(%n: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
    %a = cta.alloc : !b
    %m = cta.mbarrier_alloc arrivals 1 : !m
    %p, %p_t = cta.wgmma %a, %a, %acc {n = 64 : i32} : !b, !b -> tensor<64x64xf32, #acc>
    cta.tma_load_sync %d[%i, %c0], %a, %m : !d, !b, !m
    %r = cta.await %p after %p_t : tensor<64x64xf32, #acc>
    scf.yield %r : tensor<64x64xf32, #acc>
  }
  tile.return
}
