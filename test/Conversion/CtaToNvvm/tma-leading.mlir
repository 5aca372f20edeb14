// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#s = #cta.layout<[128, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [64, 0]]>

// Dimensions that the buffer lacks are coordinates after those of the matrix, innermost first. The second warp group
// copies from row 64.
// CHECK-LABEL: llvm.func @leading
// CHECK-SAME: (%[[Z:[^ ]*]]: i32, %[[I:[^ ]*]]: i32, %[[J:[^ ]*]]: i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%[[J]], %[[I]], %[[Z]]]
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c64_i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[I]], %[[ROW]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%[[J]], %[[FIRST]], %[[Z]]]
tile.kernel @leading(%z: i32, %i: i32, %j: i32, %d: !tile.desc<1x128x32xf16> {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 8 : i32, shared_bytes = 9216 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128x32xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 at 8192 : !cta.mbarrier<1>
  cta.tma_load_sync %d[%z, %i, %j], %b, %m : !tile.desc<1x128x32xf16>, !cta.buffer<128x32xf16, #s>, !cta.mbarrier<1>
  cta.tma_store %b, %d[%z, %i, %j] {groups = 2 : i32} : !cta.buffer<128x32xf16, #s>, !tile.desc<1x128x32xf16>
  tile.return
}
