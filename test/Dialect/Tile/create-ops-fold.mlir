// RUN: tile-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @constant
// CHECK-NOT: tile.splat
// CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<4xf16>
// CHECK-DAG: arith.constant dense<-7> : tensor<2x2xi8>
tile.kernel @constant() {
  %f = arith.constant 1.5 : f16
  %i = arith.constant -7 : i8
  %x = tile.splat %f : f16 -> tensor<4xf16>
  %y = tile.splat %i : i8 -> tensor<2x2xi8>
  tile.print "" %x : tensor<4xf16>
  tile.print "" %y : tensor<2x2xi8>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_argument
// CHECK-COUNT-2: tile.splat
tile.kernel @negative_argument(%f: f32, %p: !tile.ptr<f32>) {
  %x = tile.splat %f : f32 -> tensor<4xf32>
  %y = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  tile.print "" %x, %y : tensor<4xf32>, tensor<4x!tile.ptr<f32>>
  tile.return
}
