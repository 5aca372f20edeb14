// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @reduce
tile.kernel @reduce() {
  %x = arith.constant dense<1.0> : tensor<64x32xf32>
  // CHECK: tile.reduce %{{.*}} {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: tile.yield %[[C]] : f32
  %sum = tile.reduce %x {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.reduce %{{.*}}, %{{.*}} {axis = 0 : i32} : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %v, %at = tile.reduce %sum, %i {axis = 0 : i32} : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %m = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %m, %a, %b : f32
    %ci = arith.select %m, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @scan
tile.kernel @scan() {
  %x = arith.constant dense<1.0> : tensor<128xf32>
  // CHECK: tile.scan %{{.*}} {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
  %sums = tile.scan %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.scan reverse
  %back = tile.scan reverse %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %b : f32
  }
  %i = tile.arange 0 to 64 : tensor<64xi32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : tensor<128xf32>, tensor<64xi32> -> tensor<64xf32>
  %y = tile.gather %x[%i] {axis = 0 : i32} : tensor<128xf32>, tensor<64xi32> -> tensor<64xf32>
  // CHECK: tile.butterfly %{{.*}} {axis = 0 : i32, distance = 4 : i32} : tensor<128xf32>
  %z = tile.butterfly %x {axis = 0 : i32, distance = 4 : i32} : tensor<128xf32>
  // CHECK: tile.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %h = tile.histogram %i : tensor<64xi32> -> tensor<16xi32>
  %m = arith.constant dense<true> : tensor<64xi1>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %hm = tile.histogram %i mask %m : tensor<64xi32> -> tensor<16xi32>
  tile.return
}
