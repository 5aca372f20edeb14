// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-descriptors))' --split-input-file --verify-diagnostics --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#rows = #cta.layout<[512, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0], [64, 0], [128, 0], [256, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#acc = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #cta.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>

// A block's buffer has the widest swizzle, and its box is a panel of it; the read is awaited at once.
// CHECK-LABEL: tile.kernel @load
// CHECK-SAME: box = array<i64: 64, 64>
// CHECK-SAME: swizzle = 128 : i32
// CHECK: %[[B:.*]] = cta.alloc : <64x128xf16, {{.*}}offset = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>>
// CHECK: %[[M:.*]] = cta.mbarrier_alloc arrivals 1 : <1>
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0], %[[B]], %[[M]]
// CHECK: cta.local_load %[[B]]
// CHECK-NOT: tma_store
// CHECK: tile.return
tile.kernel @load(%i: i32, %d: !tile.desc<64x128xf16> {tile.tensor_map = {base = "a"}}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.print "" %x : tensor<64x128xf16, #x>
  tile.return
}

// Long vectors and tall blocks are several boxes.
// CHECK-LABEL: tile.kernel @boxes
// CHECK-SAME: box = array<i64: 256>
// CHECK-SAME: swizzle = 0 : i32
// CHECK-SAME: box = array<i64: 256, 64>
// CHECK-SAME: swizzle = 128 : i32
// CHECK-COUNT-2: cta.tma_load_sync
tile.kernel @boxes(%i: i32, %d: !tile.desc<512xf32> {tile.tensor_map = {base = "a"}},
                   %e: !tile.desc<512x64xf16> {tile.tensor_map = {base = "b"}}) {
  %x = tile.desc_load %d[%i] : !tile.desc<512xf32> -> tensor<512xf32, #v>
  tile.print "" %x : tensor<512xf32, #v>
  %y = tile.desc_load %e[%i, %i] : !tile.desc<512x64xf16> -> tensor<512x64xf16, #rows>
  tile.print "" %y : tensor<512x64xf16, #rows>
  tile.return
}

// The accumulator's threads have columns of every panel: panels go through two slots in turns, and a slot is filled
// when the copy before the last has read it. The kernel ends when all have been read.
// CHECK-LABEL: tile.kernel @store_panels
// CHECK-SAME: box = array<i64: 64, 64>
// CHECK: %[[RING:.*]] = cta.alloc : <64x64xf16, {{.*}} slots = 2>
// CHECK: cta.tma_store_wait 1
// CHECK: cta.slot %[[RING]][%c0_i32
// CHECK: cta.local_store
// CHECK-NEXT: cta.proxy_fence
// CHECK-NEXT: cta.tma_store
// CHECK: cta.slice_columns {{.*}} {first = 64 : i32}
// CHECK: cta.tma_store_wait 1
// CHECK: cta.slot %[[RING]][%c1_i32
// CHECK: cta.slice_columns {{.*}} {first = 128 : i32}
// CHECK: cta.slot %[[RING]][%c0_i32
// CHECK: cta.slice_columns {{.*}} {first = 192 : i32}
// CHECK: %[[J:.*]] = arith.addi %arg0, %c192_i32
// CHECK: cta.tma_store {{.*}}[%arg0, %[[J]]]
// CHECK-NEXT: cta.tma_store_wait 0
// CHECK-NEXT: tile.return
tile.kernel @store_panels(%i: i32, %d: !tile.desc<64x256xf16> {tile.tensor_map = {base = "a"}}, %f: f16) {
  %z = tile.splat %f : f16 -> tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x256xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Threads that do not have columns of every panel write the block at once, when the copy before has read it. What one
// descriptor reads and writes has one box.
// CHECK-LABEL: tile.kernel @store_block
// CHECK-SAME: box = array<i64: 64, 64>
// CHECK: cta.alloc : <64x128xf16, {{.*}}[0, 64]]>>
// CHECK: cta.tma_load_sync
// CHECK: cta.tma_store_wait 0
// CHECK: cta.local_store
// CHECK: cta.tma_store
// CHECK-NOT: cta.tma_store %
// CHECK: tile.return
tile.kernel @store_block(%i: i32, %d: !tile.desc<64x128xf16> {tile.tensor_map = {base = "a"}}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.desc_store %d[%i, %i], %x : !tile.desc<64x128xf16>, tensor<64x128xf16, #x>
  tile.return
}

// 160 columns are five panels of 32. The write before may have ended with the first slot, too.
// CHECK-LABEL: tile.kernel @store_columns
// CHECK-SAME: box = array<i64: 64, 32>
// CHECK-SAME: swizzle = 64 : i32
// CHECK: cta.alloc : <64x32xf16, {{.*}} slots = 2>
// CHECK: cta.tma_store_wait 0
// CHECK-COUNT-4: cta.tma_store_wait 1
// CHECK: cta.tma_store_wait 0
// CHECK-NEXT: tile.return
tile.kernel @store_columns(%i: i32, %d: !tile.desc<64x160xf16> {tile.tensor_map = {base = "a"}}) {
  %z = arith.constant dense<1.0> : tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x160xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Where threads do not have columns of every panel, they get them.
// CHECK-LABEL: tile.kernel @store_converted
// CHECK: %[[X:.*]] = cta.convert_layout %{{.*}} -> tensor<64x128xf16, #cta.layout<[64, 128], register = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[}}[32, 0], [0, 0]]>>
// CHECK-COUNT-3: cta.slice_columns %[[X]]
// CHECK-NOT: cta.slice_columns
// CHECK: tile.return
tile.kernel @store_converted(%i: i32, %d: !tile.desc<64x96xf16> {tile.tensor_map = {base = "a"}}) {
  %z = arith.constant dense<1.0> : tensor<64x128xf16, #x>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x96xf16>, tensor<64x128xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[2, 8, 32], register = [[0, 0, 1], [1, 0, 0]], lane = [[0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 0]], warp = [[0, 2, 0], [0, 4, 0]]>

tile.kernel @rank(%i: i32, %d: !tile.desc<2x8x32xf16> {tile.tensor_map = {base = "a"}}) {
  // expected-error @below {{'tile.desc_load' op moves blocks of 'tensor<2x8x32xf16>', which TMA cannot; it moves vectors and matrices with rows of at least 16 bytes}}
  %x = tile.desc_load %d[%i, %i, %i] : !tile.desc<2x8x32xf16> -> tensor<2x8x32xf16, #x>
  tile.print "" %x : tensor<2x8x32xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>

tile.kernel @other_box(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = {base = "a", box = array<i64: 64, 32>, swizzle = 64 : i32}}) {
  // expected-error @below {{'tile.desc_load' op needs box [64, 64] and swizzle 128 but the descriptor has the tensor map {base = "a", box = array<i64: 64, 32>, swizzle = 64 : i32}}}
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16, #x>
  tile.print "" %x : tensor<64x64xf16, #x>
  tile.return
}

// -----

// The kernel makes the map where it makes the descriptor; box and swizzle are those of the buffers.
#x = #cta.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
// CHECK-LABEL: tile.kernel @device_map
// CHECK: %[[STAGING:.*]] = cta.alloc : <128xi8
// CHECK: %[[MAP:.*]] = cta.make_tensor_map %arg0, [%arg2, %arg2], [%arg3, %arg3] at %arg1 via %[[STAGING]] if %arg4 {box = array<i64: 64, 64>, swizzle = 128 : i32}
// CHECK-COUNT-2: cta.tma_load_sync %[[MAP]]
tile.kernel @device_map(%p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %n: i32, %ld: i64, %c: i1) {
  %d = tile.make_desc %p, [%n, %n], [%ld, %ld] at %place if %c : !tile.ptr<f16>, !tile.ptr<i8> -> !tile.desc<64x128xf16>
  %x = tile.desc_load %d[%n, %n] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  %y = tile.desc_load %d[%n, %n] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.print "" %x, %y : tensor<64x128xf16, #x>, tensor<64x128xf16, #x>
  tile.return
}
