// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-choose-engine))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_89},tile.kernel(tile-choose-engine))' | FileCheck %s --check-prefix=SM89
// SM89-NOT: arith.extf

// CHECK-LABEL: tile.kernel @bytes
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : tensor<32x32xf8E4M3FN> to tensor<32x32xf16>
// CHECK: %[[B:.*]] = arith.extf %{{.*}} : tensor<32x32xf8E5M2> to tensor<32x32xf16>
// CHECK: tile.dot %[[A]], %[[B]], {{.*}} : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
tile.kernel @bytes() {
  %a = arith.constant dense<1.0> : tensor<32x32xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x32xf8E5M2>
  %c = arith.constant dense<1.0> : tensor<32x32xf32>
  %d = tile.dot %a, %b, %c : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E5M2> -> tensor<32x32xf32>
  tile.print "" %d : tensor<32x32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_integers
// CHECK-NOT: arith.ext
tile.kernel @negative_integers() {
  %a = arith.constant dense<1> : tensor<32x32xi8>
  %c = arith.constant dense<1> : tensor<32x32xi32>
  %d = tile.dot %a, %a, %c : tensor<32x32xi8>, tensor<32x32xi8> -> tensor<32x32xi32>
  tile.print "" %d : tensor<32x32xi32>
  tile.return
}
