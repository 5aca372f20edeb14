// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @elements
tile.kernel @elements(%n: i32) {
  %x = arith.constant dense<1.0> : tensor<128xf32>
  %i = tile.arange 0 to 128 : tensor<128xi32>
  // CHECK: tile.map %{{.*}}, %{{.*}} : tensor<128xf32>, tensor<128xi32> -> tensor<128xf32> {
  %y = tile.map %x, %i : tensor<128xf32>, tensor<128xi32> -> tensor<128xf32> {
  ^bb0(%a: f32, %b: i32):
    %c = arith.cmpi slt, %b, %n : i32
    %d = scf.if %c -> f32 {
      %e = math.exp %a : f32
      scf.yield %e : f32
    } else {
      scf.yield %a : f32
    }
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %d : f32
  }
  // CHECK: tile.rounded add rz(%{{.*}}, %{{.*}}) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %z = tile.rounded add rz(%x, %y) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  // CHECK: tile.rounded cast ru unsigned(%{{.*}}) : (tensor<128xi32>) -> tensor<128xf32>
  %w = tile.rounded cast ru unsigned(%i) : (tensor<128xi32>) -> tensor<128xf32>
  // CHECK: tile.rounded cast rn(%{{.*}}) : (tensor<128xf32>) -> tensor<128xf8E5M2>
  %v = tile.rounded cast rn(%x) : (tensor<128xf32>) -> tensor<128xf8E5M2>
  // CHECK: tile.hint %{{.*}} divisibility [16] contiguity [8] constancy [1] : tensor<128xi32>
  %h = tile.hint %i divisibility [16] contiguity [8] constancy [1] : tensor<128xi32>
  // CHECK: tile.hint %{{.*}} divisibility [8] : i32
  %s = tile.hint %n divisibility [8] : i32
  // CHECK: tile.read_register globaltimer : i64
  %t = tile.read_register globaltimer : i64
  // CHECK: tile.read_register smid : i32
  %m = tile.read_register smid : i32
  tile.return
}
