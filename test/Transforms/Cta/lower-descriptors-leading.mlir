// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-descriptors))' --mlir-print-local-scope | FileCheck %s

#x = #cta.layout<[1, 64, 128], register = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 8, 0], [0, 16, 0], [0, 32, 0]], lane = [[0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 0, 64], [0, 1, 0]], warp = [[0, 2, 0], [0, 4, 0]]>
#acc = #cta.layout<[1, 64, 128], register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 0, 64]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]]>
#v = #cta.layout<[1, 1, 256], register = [[0, 0, 1]], lane = [[0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 0, 32]], warp = [[0, 0, 64], [0, 0, 128]]>

// Dimensions before the matrix have one index in the box, and are not in the buffer.
// CHECK-LABEL: tile.kernel @load
// CHECK-SAME: box = [1, 64, 64]
// CHECK: cta.tma_load_sync %arg2[%arg0, %arg1, %arg1], %[[B:.*]], %{{.*}} : <1x64x128xf16>, <64x128xf16
// CHECK: %[[X:.*]] = cta.local_load %[[B]]
// CHECK: tile.reshape %[[X]] : tensor<64x128xf16, {{.*}}> -> tensor<1x64x128xf16
tile.kernel @load(%z: i32, %i: i32, %d: !tile.desc<1x64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%z, %i, %i] : !tile.desc<1x64x128xf16> -> tensor<1x64x128xf16, #x>
  tile.print "" %x : tensor<1x64x128xf16, #x>
  tile.return
}

// Panels are cut from the matrix.
// CHECK-LABEL: tile.kernel @store
// CHECK-SAME: box = [1, 64, 64]
// CHECK: %[[Y:.*]] = tile.reshape %{{.*}} -> tensor<64x128xf16
// CHECK: cta.slice_columns %[[Y]]
// CHECK: cta.tma_store %{{.*}}, %arg2[%arg0, %arg1, %{{.*}}] : <64x64xf16, {{.*}}>, <1x64x128xf16>
// CHECK: cta.slice_columns %[[Y]]
// CHECK: %[[COLUMN:.*]] = arith.addi %arg1, %c64_i32
// CHECK: cta.tma_store %{{.*}}, %arg2[%arg0, %arg1, %[[COLUMN]]] : <64x64xf16, {{.*}}>, <1x64x128xf16>
tile.kernel @store(%z: i32, %i: i32, %d: !tile.desc<1x64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = arith.constant dense<1.0> : tensor<1x64x128xf16, #acc>
  tile.desc_store %d[%z, %i, %i], %x : !tile.desc<1x64x128xf16>, tensor<1x64x128xf16, #acc>
  tile.return
}

// CHECK-LABEL: tile.kernel @line
// CHECK-SAME: box = [1, 1, 32]
// CHECK: cta.tma_load_sync %{{.*}} : <1x1x256xf32>, <1x256xf32
tile.kernel @line(%i: i32, %d: !tile.desc<1x1x256xf32> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %x = tile.desc_load %d[%i, %i, %i] : !tile.desc<1x1x256xf32> -> tensor<1x1x256xf32, #v>
  tile.print "" %x : tensor<1x1x256xf32, #v>
  tile.return
}

// A tensor map that nothing reads any more is not a parameter.
// CHECK-LABEL: tile.kernel @unused
// CHECK-SAME: (%arg0: i32)
tile.kernel @unused(%i: i32, %d: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  tile.return
}
