// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>

// One thread zeroes the map in shared memory, replaces its fields, innermost dimension first, and copies it; the others
// wait, and all acquire it. Strides are bytes, and no size is zero.
// CHECK-LABEL: llvm.func @all_threads
// CHECK: nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT: nvvm.barrier
// CHECK: scf.if
// CHECK-DAG: arith.maxsi %arg1,
// CHECK-DAG: arith.maxsi %arg2,
// CHECK-DAG: arith.muli %arg3, %c2_i64
// CHECK: llvm.inline_asm has_side_effects {{.*}} "{{.*}}st.shared.v4.b32 [$0+112], {zero, zero, zero, zero};{{.*}}tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $3;{{.*}}tensormap.replace.tile.rank.shared::cta.b1024.b32 [$0], 1;{{.*}}tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [$0], 0, $4;{{.*}}global_dim.shared::cta.b1024.b32 [$0], 0, $5;{{.*}}element_stride.shared::cta.b1024.b32 [$0], 0, $2;{{.*}}global_stride.shared::cta.b1024.b64 [$0], 0, $6;{{.*}}box_dim.shared::cta.b1024.b32 [$0], 1, $7;{{.*}}global_dim.shared::cta.b1024.b32 [$0], 1, $8;{{.*}}elemtype.shared::cta.b1024.b32 [$0], 1;{{.*}}interleave_layout.shared::cta.b1024.b32 [$0], 0;{{.*}}swizzle_mode.shared::cta.b1024.b32 [$0], 3;{{.*}}fill_mode.shared::cta.b1024.b32 [$0], 0;{{.*}}st.global.v4.b32 [$1+112]{{.*}}fence.proxy.tensormap::generic.release.gpu;
// CHECK: nvvm.barrier
// CHECK-NEXT: llvm.inline_asm {{.*}}"fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
// CHECK: llvm.addrspacecast %arg4 : !llvm.ptr<1> to !llvm.ptr
tile.kernel @all_threads(%base: !tile.ptr<f16>, %m: i32, %n: i32, %ld: i64, %place: !tile.ptr<i8>) attributes {shared_bytes = 128 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128xi8, #bytes>
  %one = arith.constant 1 : i64
  %d = cta.make_tensor_map %base, [%m, %n], [%ld, %one] at %place via %b {box = array<i64: 128, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<128x64xf16>
  cta.tma_prefetch %d : !tile.desc<128x64xf16>
  tile.return
}

// The producer's thread does not synchronize.
// CHECK-LABEL: llvm.func @single
// CHECK-NOT: barrier
// CHECK: scf.if
// CHECK: elemtype.shared::cta.b1024.b32 [$0], 2;{{.*}}swizzle_mode.shared::cta.b1024.b32 [$0], 0;
// CHECK: acquire.gpu
// CHECK-NOT: barrier
// CHECK: llvm.return
tile.kernel @single(%base: !tile.ptr<f32>, %n: i32, %ld: i64, %c: i1, %place: !tile.ptr<i8>) attributes {shared_bytes = 128 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128xi8, #bytes>
  %d = cta.make_tensor_map single %base, [%n], [%ld] at %place via %b if %c {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  tile.return
}

// Maps that one thread makes one after the other are released together, then acquired; another condition begins anew.
// CHECK-LABEL: llvm.func @run
// CHECK-NOT: fence.proxy
// CHECK: "{{[^"]*}}st.global.v4.b32 [$1+112], {w0, w1, w2, w3};{{[^"]*}}fence.proxy.tensormap::generic.release.gpu;
// CHECK-COUNT-2: "fence.proxy.tensormap::generic.acquire.gpu
// CHECK: "{{[^"]*}}tensormap.replace{{[^"]*}}fence.proxy.tensormap::generic.release.gpu;
// CHECK: acquire.gpu
// CHECK-NOT: fence.proxy
tile.kernel @run(%base: !tile.ptr<f32>, %n: i32, %ld: i64, %c: i1, %other: i1, %p: !tile.ptr<i8>, %q: !tile.ptr<i8>) attributes {shared_bytes = 128 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128xi8, #bytes>
  %d = cta.make_tensor_map single %base, [%n], [%ld] at %p via %b if %c {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  %two = arith.addi %n, %n : i32
  %e = cta.make_tensor_map single %base, [%two], [%ld] at %q via %b if %c {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  %f = cta.make_tensor_map single %base, [%n], [%ld] at %p via %b if %other {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  tile.return
}

// The warps of a role, with a producer.
// CHECK-LABEL: llvm.func @warps
// CHECK: nvvm.barrier id = {{.*}} number_of_threads = {{.*}}
// CHECK: nvvm.barrier id = {{.*}} number_of_threads = {{.*}}
tile.kernel @warps(%base: !tile.ptr<f32>, %n: i32, %ld: i64, %place: !tile.ptr<i8>) attributes {shared_bytes = 128 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128xi8, #bytes>
  cta.warp_roles role <consumer, warps = 4> {
    %d = cta.make_tensor_map %base, [%n], [%ld] at %place via %b {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  } role <producer, warps = 1, one_thread> {
    cta.proxy_fence
  }
  tile.return
}
