// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-allocate-shared))' --split-input-file --verify-diagnostics | FileCheck %s

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
!f16 = !cta.buffer<32x32xf16, #s>
!f32 = !cta.buffer<32x32xf32, #s>
!ring = !cta.buffer<32x32xf16, #s, slots = 3>

// The first and the last buffer are not live at the same time; the one in between is live with both.
// CHECK-LABEL: tile.kernel @reuse
// CHECK-SAME: shared_bytes = 6144
// CHECK: cta.alloc at 4096 : <32x32xf16
// CHECK: cta.alloc at 0 : <32x32xf32
// CHECK: cta.alloc at 4096 : <32x32xf16
tile.kernel @reuse(%a: i32) {
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #x>
  %w = arith.constant dense<0.0> : tensor<32x32xf32, #x>
  %first = cta.alloc : !f16
  cta.local_store %v, %first : tensor<32x32xf16, #x>, !f16
  %middle = cta.alloc : !f32
  cta.local_store %w, %middle : tensor<32x32xf32, #x>, !f32
  %x = cta.local_load %first : !f16 -> tensor<32x32xf16, #x>
  %last = cta.alloc : !f16
  cta.local_store %v, %last : tensor<32x32xf16, #x>, !f16
  %y = cta.local_load %middle : !f32 -> tensor<32x32xf32, #x>
  %z = cta.local_load %last : !f16 -> tensor<32x32xf16, #x>
  tile.return
}

// A buffer that is defined before a loop is live in the whole loop, also after its last access in program order; a
// buffer of one iteration is not.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: shared_bytes = 8192
// CHECK: cta.alloc at 0 : <32x32xf16, #{{.*}}, slots = 3>
// CHECK: cta.alloc at 6144
// CHECK: cta.alloc at 6144
tile.kernel @loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #x>
  %ring = cta.alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = cta.slot %ring[%i] : !ring -> !f16
    %x = cta.local_load %slot : !f16 -> tensor<32x32xf16, #x>
    %b = cta.alloc : !f16
    cta.local_store %v, %b : tensor<32x32xf16, #x>, !f16
    %c = cta.alloc : !f16
    cta.local_store %v, %c : tensor<32x32xf16, #x>, !f16
  }
  tile.return
}

// A copy in flight keeps its buffer allocated until all groups are complete.
// CHECK-LABEL: tile.kernel @copies
// CHECK-SAME: shared_bytes = 4096
// CHECK: cta.alloc at 0
// CHECK: cta.alloc at 2048
// CHECK: cta.alloc at 0
tile.kernel @copies(%p: !tile.ptr<f16>) {
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #x>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #x>
  %a = cta.alloc : !f16
  cta.async_copy %s, %a {vector = 8 : i32} : tensor<32x32x!tile.ptr<f16>, #x>, !f16
  cta.async_commit
  cta.async_wait 1
  %b = cta.alloc : !f16
  cta.local_store %v, %b : tensor<32x32xf16, #x>, !f16
  cta.async_wait 0
  %c = cta.alloc : !f16
  cta.local_store %v, %c : tensor<32x32xf16, #x>, !f16
  tile.return
}

// A tile with 128-byte swizzle begins a new swizzle pattern: 1024 bytes.
// CHECK-LABEL: tile.kernel @swizzled
// CHECK-SAME: shared_bytes = 1280
// CHECK: cta.alloc at 1024
// CHECK: cta.alloc at 0
tile.kernel @swizzled(%a: i32) {
  %small = cta.alloc : !cta.buffer<64xf32, #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>>
  %v = arith.constant dense<0.0> : tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>
  cta.local_store %v, %small : tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>, !cta.buffer<64xf32, #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>>
  %swizzled = cta.alloc : !cta.buffer<8x64xf16, #cta.layout<[8, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]]>>
  %x = cta.local_load %swizzled : !cta.buffer<8x64xf16, #cta.layout<[8, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]]>> -> tensor<8x64xf16, #cta.layout<[8, 64], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>>
  %y = cta.local_load %small : !cta.buffer<64xf32, #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>> -> tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>
  tile.return
}

// Rings of mbarriers are allocated after all buffers, one after the other.
// CHECK-LABEL: tile.kernel @mbarriers
// CHECK-SAME: shared_bytes = 2088
// CHECK: cta.mbarrier_alloc arrivals 1 at 2048 : <4>
// CHECK: cta.mbarrier_alloc arrivals 4 at 2080 : <1>
// CHECK: cta.alloc at 0
tile.kernel @mbarriers(%d: !tile.desc<32x32xf16>, %i: i32) {
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  %empty = cta.mbarrier_alloc arrivals 4 : !cta.mbarrier<1>
  %b = cta.alloc : !f16
  cta.tma_load %d[%i, %i], %b, %full[%i] : !tile.desc<32x32xf16>, !f16, !cta.mbarrier<4>
  cta.mbarrier_arrive %empty[%i] : !cta.mbarrier<1>
  tile.return
}

// A copy to global memory may read its buffer until the kernel ends.
// CHECK-LABEL: tile.kernel @copy_to_global
// CHECK-SAME: shared_bytes = 4096
tile.kernel @copy_to_global(%d: !tile.desc<32x32xf16>, %i: i32) {
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #x>
  %b = cta.alloc : !f16
  cta.local_store %v, %b : tensor<32x32xf16, #x>, !f16
  cta.tma_store %b, %d[%i, %i] : !f16, !tile.desc<32x32xf16>
  %c = cta.alloc : !f16
  cta.local_store %v, %c : tensor<32x32xf16, #x>, !f16
  tile.return
}

// Roles run at the same time: the producer's buffer shares memory with none of the consumer warps', which share theirs.
// CHECK-LABEL: tile.kernel @roles
// CHECK-SAME: shared_bytes = 4104
// CHECK: cta.alloc at [[PRODUCER:.*]] :
// CHECK: cta.alloc at [[MATH:.*]] :
// CHECK-NOT: at [[PRODUCER]]
// CHECK: cta.alloc at [[MATH]]
tile.kernel @roles(%d: !tile.desc<32x32xf16>, %i: i32) {
  %v = arith.constant dense<0.0> : tensor<32x32xf16, #x>
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  %b = cta.alloc : !f16
  cta.warp_roles role <consumer, warps = 4> {
    %c = cta.alloc : !f16
    cta.local_store %v, %c : tensor<32x32xf16, #x>, !f16
    %e = cta.alloc : !f16
    cta.local_store %v, %e : tensor<32x32xf16, #x>, !f16
  } role <producer, warps = 4, one_thread> {
    cta.tma_load %d[%i, %i], %b, %full[%i] : !tile.desc<32x32xf16>, !f16, !cta.mbarrier<1>
  }
  tile.return
}

// -----

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// expected-error-re @below {{kernel 'large' needs 208896 bytes of shared memory but a CTA has 166912 on sm_80; use smaller blocks or fewer stages than num_stages = 4{{.*}}bytes {{.*}}offset{{.*}}buffer{{.*}}204800{{.*}}0{{.*}}tensor<32x32xf16> x 100{{.*}}matmul.tile:12:5{{.*}}4096{{.*}}204800{{.*}}tensor<32x32xf32>{{.*}}}}
tile.kernel @large(%i: i32) attributes {num_stages = 4 : i32} {
  %b = cta.alloc : !cta.buffer<32x32xf32, #s>
  %a = cta.alloc : !cta.buffer<32x32xf16, #s, slots = 100> loc("matmul.tile":12:5)
  %t = cta.slot %a[%i] : !cta.buffer<32x32xf16, #s, slots = 100> -> !cta.buffer<32x32xf16, #s>
  %y = cta.local_load %b : !cta.buffer<32x32xf32, #s> -> tensor<32x32xf32, #x>
  %x = cta.local_load %t : !cta.buffer<32x32xf16, #s> -> tensor<32x32xf16, #x>
  cta.local_store %y, %b : tensor<32x32xf32, #x>, !cta.buffer<32x32xf32, #s>
  tile.return
}

// -----

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

tile.kernel @choice(%c: i1) {
  %a = cta.alloc : !cta.buffer<32x32xf16, #s>
  %b = cta.alloc : !cta.buffer<32x32xf16, #s>
  // expected-error @below {{cta-allocate-shared needs phase scheduled: 'arith.select' cannot have a value of type}}
  %d = arith.select %c, %a, %b : !cta.buffer<32x32xf16, #s>
  %x = cta.local_load %d : !cta.buffer<32x32xf16, #s> -> tensor<32x32xf16, #x>
  tile.return
}
