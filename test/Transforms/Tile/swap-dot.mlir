// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-swap-dot))' --mlir-print-local-scope | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-choose-engine,tile-swap-dot))' | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tile.trans
// OTHER: tile.trans {{.*}} tensor<64x64xf16>
// OTHER-NOT: tile.trans

// The loop carries the transposed accumulator, which is transposed back after it.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[RESULT:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x16xf32>)
// CHECK: tile.trans {{.*}} : tensor<64x64xf16> -> tensor<64x64xf16>
// CHECK-DAG: %[[A:.*]] = tile.trans {{.*}} : tensor<16x64xf16> -> tensor<64x16xf16>
// CHECK-DAG: %[[B:.*]] = tile.trans {{.*}} : tensor<64x64xf16> -> tensor<64x64xf16>
// CHECK: %[[DOT:.*]] = tile.dot %[[B]], %[[A]], %[[ACC]] {{.*}} : tensor<64x64xf16>, tensor<64x16xf16> -> tensor<64x16xf32>
// CHECK-NEXT: scf.yield %[[DOT]]
// CHECK: %[[BACK:.*]] = tile.trans %[[RESULT]] {order = array<i32: 1, 0>} : tensor<64x16xf32> -> tensor<16x64xf32>
// CHECK: tile.print "" %[[BACK]]
tile.kernel @loop(%n: i32, %d: !tile.desc<16x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                  %e: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %k = %zero to %n step %one iter_args(%acc = %z) -> tensor<16x64xf32> : i32 {
    %a = tile.desc_load %d[%zero, %k] : !tile.desc<16x64xf16> -> tensor<16x64xf16>
    %w = tile.desc_load %e[%zero, %k] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %b = tile.trans %w {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %c = tile.dot %a, %b, %acc : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %c : tensor<16x64xf32>
  }
  tile.print "" %r : tensor<16x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @once
// CHECK: tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
tile.kernel @once(%i: i32, %d: !tile.desc<32x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                  %e: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<32x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<32x64xf16> -> tensor<32x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.print "" %c : tensor<32x64xf32>
  tile.return
}

// A number of rows that is not a power of two becomes columns of wgmma, and a power of two remains rows.
// CHECK-LABEL: tile.kernel @odd_rows
// CHECK: tile.dot {{.*}} : tensor<128x64xf16>, tensor<64x144xf16> -> tensor<128x144xf32>
// CHECK: tile.trans {{.*}} : tensor<128x144xf32> -> tensor<144x128xf32>
// CHECK: tile.dot {{.*}} -> tensor<128x128xf32>
// CHECK-NEXT: tile.print
tile.kernel @odd_rows(%i: i32, %d: !tile.desc<144x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                      %e: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                      %f: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<144x128xf32>
  %square = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<144x64xf16> -> tensor<144x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16>
  %c = tile.dot %a, %b, %z : tensor<144x64xf16>, tensor<64x128xf16> -> tensor<144x128xf32>
  tile.print "" %c : tensor<144x128xf32>
  %g = tile.desc_load %f[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
  %h = tile.dot %g, %b, %square : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
  tile.print "" %h : tensor<128x128xf32>
  tile.return
}

// The left operand has the accumulator's shape, but is not added: it stays in shared memory.
// CHECK-LABEL: tile.kernel @odd_rows_and_few_columns
// CHECK: tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x96xf16> -> tensor<64x96xf32>
tile.kernel @odd_rows_and_few_columns(%i: i32, %d: !tile.desc<96x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                                      %e: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<96x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<96x64xf16> -> tensor<96x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<96x64xf16>, tensor<64x64xf16> -> tensor<96x64xf32>
  tile.print "" %c : tensor<96x64xf32>
  tile.return
}

// No swap if such a left operand has other uses, or if a matrix of the accumulator's shape is loaded.
// CHECK-LABEL: tile.kernel @negative_odd_rows
// CHECK-NOT: tile.trans
tile.kernel @negative_odd_rows(%i: i32, %d: !tile.desc<144x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                               %e: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                               %f: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                               %r: !tile.desc<144x64xf16> {tile.tensor_map = #tile.tensor_map<base = "r">}) {
  %z = arith.constant dense<0.0> : tensor<144x128xf32>
  %narrow = arith.constant dense<0.0> : tensor<144x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<144x64xf16> -> tensor<144x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16>
  %c = tile.dot %a, %b, %z : tensor<144x64xf16>, tensor<64x128xf16> -> tensor<144x128xf32>
  tile.print "" %a : tensor<144x64xf16>
  tile.print "" %c : tensor<144x128xf32>
  %g = tile.desc_load %d[%i, %i] : !tile.desc<144x64xf16> -> tensor<144x64xf16>
  %h = tile.desc_load %f[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %k = tile.dot %g, %h, %narrow : tensor<144x64xf16>, tensor<64x64xf16> -> tensor<144x64xf32>
  %residual = tile.desc_load %r[%i, %i] : !tile.desc<144x64xf16> -> tensor<144x64xf16>
  tile.print "" %residual : tensor<144x64xf16>
  tile.print "" %k : tensor<144x64xf32>
  tile.return
}

// The first accumulator is scaled between the dots; the second operand is computed; the third has too few columns.
// CHECK-LABEL: tile.kernel @negative_forms
// CHECK-NOT: tile.trans
tile.kernel @negative_forms(%n: i32, %d: !tile.desc<16x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">},
                            %e: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                            %f: !tile.desc<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %narrow = arith.constant dense<0.0> : tensor<16x32xf32>
  %half = arith.constant dense<0.5> : tensor<16x64xf32>
  %a = tile.desc_load %d[%zero, %zero] : !tile.desc<16x64xf16> -> tensor<16x64xf16>
  %b = tile.desc_load %e[%zero, %zero] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %k = %zero to %n step %one iter_args(%acc = %z) -> tensor<16x64xf32> : i32 {
    %c = tile.dot %a, %b, %acc : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    %scaled = arith.mulf %c, %half : tensor<16x64xf32>
    scf.yield %scaled : tensor<16x64xf32>
  }
  %sum = arith.addf %b, %b : tensor<64x64xf16>
  %s = tile.dot %a, %sum, %z : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
  %few = tile.desc_load %f[%zero, %zero] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
  %t = tile.dot %a, %few, %narrow : tensor<16x64xf16>, tensor<64x32xf16> -> tensor<16x32xf32>
  tile.print "" %r, %s : tensor<16x64xf32>, tensor<16x64xf32>
  tile.print "" %t : tensor<16x32xf32>
  tile.return
}
