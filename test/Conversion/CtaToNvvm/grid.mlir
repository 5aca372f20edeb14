// Partial accumulators move 16 bytes per thread and access; flags are released and acquired by one thread.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// CHECK-LABEL: llvm.func @k
// CHECK-COUNT-32: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: llvm.store
// CHECK: st.release.gpu.global.b32
// CHECK: ld.acquire.gpu.global.b32 flag
// CHECK-SAME: st.relaxed.gpu.global.b32 [$0], 0
// CHECK-COUNT-32: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.addf
tile.kernel @k(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %value: f32) {
  %x = tile.splat %value : f32 -> tensor<128x128xf32, #x>
  cta.partial_store %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>
  cta.flag_set %p : !tile.ptr<i32>
  cta.flag_wait %p : !tile.ptr<i32>
  %s = cta.partial_add %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>
  cta.partial_store %s, %q : tensor<128x128xf32, #x>, !tile.ptr<i32>
  tile.return
}

// 96 of 128 columns move: 24 accesses for each of two tiles of 64 rows.
// CHECK-LABEL: llvm.func @columns
// CHECK-COUNT-24: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: llvm.store
// CHECK-COUNT-24: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tile.kernel @columns(%p: !tile.ptr<i32>, %value: f32) {
  %x = tile.splat %value : f32 -> tensor<128x128xf32, #x>
  cta.partial_store %x, %p {columns = 96 : i32} : tensor<128x128xf32, #x>, !tile.ptr<i32>
  %s = cta.partial_add %x, %p {columns = 96 : i32} : tensor<128x128xf32, #x>, !tile.ptr<i32>
  tile.print "" %s : tensor<128x128xf32, #x>
  tile.return
}
