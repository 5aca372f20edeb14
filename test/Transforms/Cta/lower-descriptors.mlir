// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-descriptors))' --split-input-file --verify-diagnostics --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#y = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#rows = #cta.layout<[512, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0], [64, 0], [128, 0], [256, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#acc = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#half = #cta.layout<[64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#turned = #cta.layout<[256, 128], register = [[1, 0], [0, 8], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32], [0, 64]]>
#left = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #cta.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>

// A block's buffer has the widest swizzle, and its box is a panel of it; the read is awaited immediately.
// CHECK-LABEL: tile.kernel @load
// CHECK-SAME: box = [64, 64]
// CHECK-SAME: swizzle = 128
// CHECK: %[[B:.*]] = cta.alloc : <64x128xf16, {{.*}}offset = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>>
// CHECK: %[[M:.*]] = cta.mbarrier_alloc arrivals 1 : <1>
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0], %[[B]], %[[M]]
// CHECK: cta.local_load %[[B]]
// CHECK-NOT: tma_store
// CHECK: tile.return
tile.kernel @load(%i: i32, %d: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.print "" %x : tensor<64x128xf16, #x>
  tile.return
}

// Users that need a block in another layout read it from its buffer in that layout; in a loop once, before it.
// CHECK-LABEL: tile.kernel @load_converted
// CHECK: %[[B:.*]] = cta.alloc
// CHECK: cta.tma_load_sync
// CHECK: %[[Y:.*]] = cta.local_load %[[B]] {{.*}} -> tensor<64x64xf16, {{.*}} warp = {{\[}}[16, 0], [32, 0]]>>
// CHECK-NOT: cta.convert_layout
// CHECK: scf.for
// CHECK-NOT: cta.local_load
// CHECK: tile.print "" %[[Y]]
tile.kernel @load_converted(%i: i32, %n: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16, #y>
  scf.for %k = %i to %n step %n : i32 {
    %y = cta.convert_layout %x : tensor<64x64xf16, #y> -> tensor<64x64xf16, #left>
    %z = cta.convert_layout %x : tensor<64x64xf16, #y> -> tensor<64x64xf16, #left>
    tile.print "" %y, %z : tensor<64x64xf16, #left>, tensor<64x64xf16, #left>
  }
  tile.return
}

// The last panel of 144 columns has 16: a separate box, through a second map of the same tensor. Each of its rows takes 128 bytes.
// CHECK-LABEL: tile.kernel @load_columns
// CHECK-SAME: %arg1: !tile.desc<64x144xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64], swizzle = 128>}
// CHECK-SAME: %arg2: !tile.desc<64x16xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 16], swizzle = 128>}
// CHECK: %[[B:.*]] = cta.alloc : <64x144xf16, {{.*}}[1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]>>
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0] tail %arg2, %[[B]]
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0] tail %arg2,
tile.kernel @load_columns(%i: i32, %d: !tile.desc<64x144xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x144xf16> -> tensor<64x256xf16, #acc>
  %y = tile.desc_load %d[%i, %i] : !tile.desc<64x144xf16> -> tensor<64x256xf16, #acc>
  tile.print "" %x, %y : tensor<64x256xf16, #acc>, tensor<64x256xf16, #acc>
  tile.return
}

// Long vectors and tall blocks are several boxes.
// CHECK-LABEL: tile.kernel @boxes
// CHECK-SAME: box = [256]>
// CHECK-SAME: box = [256, 64]
// CHECK-SAME: swizzle = 128
// CHECK-COUNT-2: cta.tma_load_sync
tile.kernel @boxes(%i: i32, %d: !tile.desc<512xf32> {tile.tensor_map = #tile.tensor_map<base = "a">},
                   %e: !tile.desc<512x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %x = tile.desc_load %d[%i] : !tile.desc<512xf32> -> tensor<512xf32, #v>
  tile.print "" %x : tensor<512xf32, #v>
  %y = tile.desc_load %e[%i, %i] : !tile.desc<512x64xf16> -> tensor<512x64xf16, #rows>
  tile.print "" %y : tensor<512x64xf16, #rows>
  tile.return
}

// The accumulator's threads have columns of every panel: panels alternate between two slots, and a slot is filled when
// the copy before the last has read it. The kernel ends when all have been read.
// CHECK-LABEL: tile.kernel @store_panels
// CHECK-SAME: box = [64, 64]
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
tile.kernel @store_panels(%i: i32, %d: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %p: !tile.ptr<f16>) {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>, #acc>
  %z = tile.load %ps : tensor<64x256x!tile.ptr<f16>, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x256xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Writes with equal panels share one ring, if each of them goes through all of its slots.
// CHECK-LABEL: tile.kernel @store_twice
// CHECK: %[[RING:.*]] = cta.alloc : <64x64xf16, {{.*}}slots = 2>
// CHECK-NOT: cta.alloc
// CHECK-COUNT-6: cta.slot %[[RING]]
// CHECK: tile.return
tile.kernel @store_twice(%i: i32, %d: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}, %f: f16, %p: !tile.ptr<f16>) {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>, #acc>
  %z = tile.load %ps : tensor<64x256x!tile.ptr<f16>, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x256xf16>, tensor<64x256xf16, #acc>
  %y = tile.splat %f : f16 -> tensor<64x128xf16, #half>
  tile.desc_store %e[%i, %i], %y : !tile.desc<64x128xf16>, tensor<64x128xf16, #half>
  tile.return
}

// Panels of a splat are created, not sliced.
// CHECK-LABEL: tile.kernel @store_splat
// CHECK-NOT: cta.slice_columns
// CHECK-COUNT-4: tile.splat %{{.*}} : f16 -> tensor<64x64xf16
// CHECK-NOT: cta.slice_columns
// CHECK: tile.return
tile.kernel @store_splat(%i: i32, %d: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %f: f16) {
  %z = tile.splat %f : f16 -> tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x256xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Where a loop reads 128 bytes of each row in a step, L2 also reads the bytes of the next step.
// CHECK-LABEL: tile.kernel @walk
// CHECK-SAME: %arg1: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64], swizzle = 128, l2_promotion = 256>}
// CHECK-SAME: %arg2: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b", box = [64, 64], swizzle = 128>}
// CHECK-SAME: %arg3: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "c", box = [64, 64], swizzle = 128>}
tile.kernel @walk(%i: i32, %along: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                  %across: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                  %wide: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "c">}) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  scf.for %k = %zero to %i step %step : i32 {
    %x = tile.desc_load %along[%i, %k] : !tile.desc<64x64xf16> -> tensor<64x64xf16, #y>
    %y = tile.desc_load %across[%k, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16, #y>
    %z = tile.desc_load %wide[%i, %k] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
    tile.print "" %x : tensor<64x64xf16, #y>
    tile.print "" %y : tensor<64x64xf16, #y>
    tile.print "" %z : tensor<64x128xf16, #x>
  }
  tile.return
}

// Threads that do not have columns of every panel write the whole block when the previous copy has read it. A
// descriptor that is both read and written has one box.
// CHECK-LABEL: tile.kernel @store_block
// CHECK-SAME: box = [64, 64]
// CHECK: cta.alloc : <64x128xf16, {{.*}}[0, 64]]>>
// CHECK: cta.tma_load_sync
// CHECK: cta.tma_store_wait 0
// CHECK: cta.local_store
// CHECK: cta.tma_store
// CHECK-NOT: cta.tma_store %
// CHECK: tile.return
tile.kernel @store_block(%i: i32, %d: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.desc_store %d[%i, %i], %x : !tile.desc<64x128xf16>, tensor<64x128xf16, #x>
  tile.return
}

// 160 columns are two alternating panels of 64, and one of 32, with a separate buffer and tensor map. The previous
// write into any of them was three writes ago.
// CHECK-LABEL: tile.kernel @store_columns
// CHECK-SAME: !tile.desc<64x160xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64], swizzle = 128>}
// CHECK-SAME: %arg2: !tile.desc<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 32], swizzle = 64>}
// CHECK-DAG: %[[RING:.*]] = cta.alloc : <64x64xf16, {{.*}} slots = 2>
// CHECK-DAG: %[[LAST:.*]] = cta.alloc : <64x32xf16
// CHECK-COUNT-2: cta.tma_store_wait 2
// CHECK: arith.constant dense<1.000000e+00> : tensor<64x32xf16
// CHECK: cta.tma_store_wait 2
// CHECK: cta.tma_store %[[LAST]], %arg2
// CHECK-NEXT: cta.tma_store_wait 0
// CHECK-NEXT: tile.return
tile.kernel @store_columns(%i: i32, %d: !tile.desc<64x160xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<1.0> : tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x160xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Three whole panels in two slots: the first write of the next program uses the slot of the last write but one.
// CHECK-LABEL: tile.kernel @store_turns
// CHECK: cta.tma_store_wait 1
// CHECK: cta.tma_store_wait 3
// CHECK: cta.tma_store_wait 1
// CHECK: cta.tma_store_wait 3
// CHECK: cta.tma_store_wait 0
// CHECK-NEXT: tile.return
tile.kernel @store_turns(%i: i32, %d: !tile.desc<64x224xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<1.0> : tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x224xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// Sizes without a panel of a power of two are divided into equal ones: 176 columns into eleven of 16.
// CHECK-LABEL: tile.kernel @store_narrow
// CHECK-SAME: box = [64, 16]
// CHECK-SAME: swizzle = 32
// CHECK: cta.tma_store_wait 0
// CHECK-COUNT-11: cta.tma_store %
// CHECK-NOT: cta.tma_store %
// CHECK: tile.return
tile.kernel @store_narrow(%i: i32, %d: !tile.desc<64x176xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<1.0> : tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x176xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// 144 rows are stored as two bands of 64 and one of 16 if threads have whole columns. Of each, a warp group copies its
// own columns: one panel of the buffer.
// CHECK-LABEL: tile.kernel @store_rows
// CHECK-SAME: !tile.desc<144x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64], swizzle = 128>}
// CHECK-SAME: %arg3: !tile.desc<16x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [16, 64], swizzle = 128>}
// CHECK-DAG: %[[RING:.*]] = cta.alloc : <64x128xf16, {{.*}} slots = 2>
// CHECK-DAG: %[[LAST:.*]] = cta.alloc : <16x128xf16
// CHECK: %[[TURNED:.*]] = tile.trans {{.*}} -> tensor<128x256xf16
// CHECK: cta.slice_columns %[[TURNED]] {first = 0 : i32}
// CHECK: cta.tma_store {{.*}}, %arg2[%{{.*}}, %arg1] {groups = 2 : i32}
// CHECK: %[[BAND:.*]] = cta.slice_columns %[[TURNED]] {first = 64 : i32}
// CHECK: %[[I:.*]] = arith.addi %arg0, %c64_i32
// CHECK: %[[ROWS:.*]] = tile.trans %[[BAND]] {{.*}} -> tensor<64x128xf16
// CHECK: cta.local_store %[[ROWS]]
// CHECK: cta.tma_store {{.*}}, %arg2[%[[I]], %arg1] {groups = 2 : i32}
// CHECK: cta.slice_columns %[[TURNED]] {first = 128 : i32} {{.*}} -> tensor<128x16xf16
// CHECK: cta.tma_store %[[LAST]], %arg3
// CHECK-NEXT: cta.tma_store_wait 0
// CHECK-NEXT: tile.return
tile.kernel @store_rows(%i: i32, %j: i32, %d: !tile.desc<144x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %f: f16) attributes {num_warps = 8 : i32} {
  %z = tile.splat %f : f16 -> tensor<256x128xf16, #turned>
  tile.desc_store %d[%i, %j], %z : !tile.desc<144x128xf16>, tensor<256x128xf16, #turned>
  tile.return
}

// If threads do not have whole columns, a conversion provides them.
// CHECK-LABEL: tile.kernel @store_rows_converted
// CHECK: cta.convert_layout %{{.*}} -> tensor<64x256xf16, {{.*}} lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[0, 32], [0, 64]]>>
// CHECK-COUNT-3: cta.tma_store %
// CHECK-NOT: cta.tma_store %
// CHECK: tile.return
tile.kernel @store_rows_converted(%i: i32, %d: !tile.desc<48x256xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<1.0> : tensor<64x256xf16, #acc>
  tile.desc_store %d[%i, %i], %z : !tile.desc<48x256xf16>, tensor<64x256xf16, #acc>
  tile.return
}

// If threads do not have columns of every panel, a conversion provides them.
// CHECK-LABEL: tile.kernel @store_converted
// CHECK: %[[X:.*]] = cta.convert_layout %{{.*}} -> tensor<64x128xf16, #cta.layout<[64, 128], register = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[}}[32, 0], [0, 0]]>>
// CHECK-COUNT-2: cta.slice_columns %[[X]]
// CHECK-NOT: cta.slice_columns
// CHECK: tile.return
tile.kernel @store_converted(%i: i32, %d: !tile.desc<64x96xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<1.0> : tensor<64x128xf16, #x>
  tile.desc_store %d[%i, %i], %z : !tile.desc<64x96xf16>, tensor<64x128xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[2, 8, 32], register = [[0, 0, 1], [1, 0, 0]], lane = [[0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 0]], warp = [[0, 2, 0], [0, 4, 0]]>

tile.kernel @rank(%i: i32, %d: !tile.desc<2x8x32xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  // expected-error @below {{'tile.desc_load' op moves blocks of 'tensor<2x8x32xf16>'; TMA needs vectors or matrices with rows of at least 16 bytes}}
  %x = tile.desc_load %d[%i, %i, %i] : !tile.desc<2x8x32xf16> -> tensor<2x8x32xf16, #x>
  tile.print "" %x : tensor<2x8x32xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>

tile.kernel @other_box(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 32], swizzle = 64>}) {
  // expected-error @below {{'tile.desc_load' op needs box [64, 64] and swizzle 128 but the descriptor has the tensor map #tile.tensor_map<base = "a", box = [64, 32], swizzle = 64>}}
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

// -----

// A kernel makes one map of a tensor, so that panels are equal: nine of 16 columns.
#acc = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
// CHECK-LABEL: tile.kernel @device_map_columns
// CHECK: cta.make_tensor_map {{.*}} {box = array<i64: 64, 16>, swizzle = 32 : i32}
// CHECK-NOT: tail
// CHECK: tile.return
tile.kernel @device_map_columns(%p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %n: i32, %ld: i64, %c: i1) {
  %d = tile.make_desc %p, [%n, %n], [%ld, %ld] at %place if %c : !tile.ptr<f16>, !tile.ptr<i8> -> !tile.desc<64x144xf16>
  %x = tile.desc_load %d[%n, %n] : !tile.desc<64x144xf16> -> tensor<64x256xf16, #acc>
  tile.print "" %x : tensor<64x256xf16, #acc>
  tile.return
}

// -----

// Maps that the program makes and opens: the box is the same, and warp groups do not divide it.
#x = #cta.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
// CHECK-LABEL: tile.kernel @memory_map
// CHECK: %[[STAGING:.*]] = cta.alloc : <128xi8
// CHECK: %[[LD:.*]] = arith.extsi %arg2 : i32 to i64
// CHECK: cta.make_tensor_map %arg0, [%arg2, %arg2], [%[[LD]], %{{.*}}] at %arg1 via %[[STAGING]] {box = array<i64: 64, 64>, swizzle = 128 : i32}
// CHECK: %[[MAP:.*]] = tile.open_tensor_map %arg1
// CHECK: cta.tma_load_sync %[[MAP]]
// CHECK: cta.tma_store %{{.*}}, %[[MAP]][%arg2, %arg2] : <64x128xf16
tile.kernel @memory_map(%p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %n: i32) {
  tile.create_tensor_map %place, %p, [%n, %n] {block = array<i64: 64, 128>} : !tile.ptr<i8>, !tile.ptr<f16>
  %d = tile.open_tensor_map %place : !tile.ptr<i8> -> !tile.desc<64x128xf16>
  %x = tile.desc_load %d[%n, %n] : !tile.desc<64x128xf16> -> tensor<64x128xf16, #x>
  tile.desc_store %d[%n, %n], %x : !tile.desc<64x128xf16>, tensor<64x128xf16, #x>
  tile.return
}

// -----

tile.kernel @narrow_map(%p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %n: i32) {
  // expected-error @below {{'tile.create_tensor_map' op is for blocks of 'tensor<64x4xf16>'; TMA needs rows of at least 16 bytes}}
  tile.create_tensor_map %place, %p, [%n, %n] {block = array<i64: 64, 4>} : !tile.ptr<i8>, !tile.ptr<f16>
  tile.return
}
