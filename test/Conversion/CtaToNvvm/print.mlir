// Output and assertions through vprintf; each element is printed by one thread.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#l = #cta.layout<[16], register = [[0]], lane = [[1], [2], [4], [8], [0]], warp = []>

// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%u, %u, %u) idx (%d) 100%% of 0x%02x, 0x%04x, 0x%02x\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%u, %u, %u) assertion failed: small\0A\00")
// CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32

// CHECK-LABEL: llvm.func @print
tile.kernel @print(%x: f16, %i: i8) attributes {num_warps = 1 : i32} {
  %xs = tile.splat %x : f16 -> tensor<16xf16, #l>
  %is = tile.splat %i : i8 -> tensor<16xi8, #l>
  // CHECK: llvm.alloca {{.*}} !llvm.struct<(i32, i32, i32, i32, i32, i32, i32)>
  // CHECK: scf.if
  // CHECK-COUNT-1: llvm.call @vprintf
  tile.print "100% of " hex %i, %xs, %is : i8, tensor<16xf16, #l>, tensor<16xi8, #l>
  %c = arith.constant dense<3> : tensor<16xi8, #l>
  %small = arith.cmpi slt, %is, %c : tensor<16xi8, #l>
  // CHECK: scf.if
  // CHECK: llvm.call @vprintf
  // CHECK: llvm.intr.trap
  tile.assert %small, "small" : tensor<16xi1, #l>
  tile.return
}
