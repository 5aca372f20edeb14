// Descriptors whose blocks warp groups cannot multiply in this order; the remark says in which they could.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-host-descriptors))' --mlir-print-op-on-diagnostic=false 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK

// CHECK-LABEL: tile.kernel @negative_row_major
// CHECK-NOT: tensor_map
// REMARK: remark: dot {{.*}}TMA: wgmma needs K-major operands{{.*}}b is N-major
tile.kernel @negative_row_major(%p: !tile.ptr<f16> {tile.name = "p", tile.divisibility = 16 : i32}, %n: i32 {tile.name = "n", tile.divisibility = 16 : i32}) {
  %i = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %row = arith.extsi %n : i32 to i64
  %z = arith.constant dense<0.0> : tensor<64x8xf32>
  %d = tile.make_desc %p, [%n, %n], [%row, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %e = tile.make_desc %p, [%n, %n], [%row, %one] : !tile.ptr<f16> -> !tile.desc<64x8xf16>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x8xf16> -> tensor<64x8xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x8xf16> -> tensor<64x8xf32>
  tile.print "" %c : tensor<64x8xf32>
  tile.return
}
