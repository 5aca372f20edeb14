// RUN: tile-opt %s | tile-opt | FileCheck %s

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#b = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>
#x = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
// The accumulator of a warp group, and 64 columns of it.
#acc = #cta.layout<[128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#columns = #cta.layout<[128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #cta.layout<[4], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>

// CHECK: #[[A:.*]] = #cta.layout<[64], register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [0]]>
// CHECK: #[[B:.*]] = #cta.layout<[64], register = {{\[}}[1]], lane = {{\[}}[2], [4], [8], [16], [32]], warp = {{\[}}[0], [0]]>

tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<64xf32, #a>
  // CHECK: %[[Y:.*]] = cta.convert_layout %{{.*}} : tensor<64xf32, #[[A]]> -> tensor<64xf32, #[[B]]>
  %y = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>

  %m = arith.constant dense<1.0> : tensor<128x256xf16, #acc>
  // CHECK: cta.slice_columns %{{.*}} {first = 64 : i32} : tensor<128x256xf16, #{{.*}}> -> tensor<128x64xf16, #{{.*}}>
  %p = cta.slice_columns %m {first = 64 : i32} : tensor<128x256xf16, #acc> -> tensor<128x64xf16, #columns>

  %z = arith.constant dense<1.0> : tensor<128xf32, #x>
  // CHECK: cta.partial_reduce %{{.*}} {axis = 0 : i32} : tensor<128xf32, #{{.*}}> -> tensor<4xf32, #{{.*}}> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: tile.yield %{{.*}} : f32
  %s = cta.partial_reduce %z {axis = 0 : i32} : tensor<128xf32, #x> -> tensor<4xf32, #s> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

#scan = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#total = #cta.layout<[4], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>
#all = #cta.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>

// CHECK-LABEL: tile.kernel @scan_parts
// CHECK: cta.partial_scan %{{.*}} {axis = 0 : i32, reverse} : tensor<128xf32, #{{.*}}> -> tensor<128xf32, #{{.*}}>, tensor<4xf32, #{{.*}}> {
// CHECK: cta.scan_carry %{{.*}}, %{{.*}} {axis = 0 : i32, reverse} : tensor<128xf32, #{{.*}}>, tensor<4xf32, #{{.*}}> -> tensor<128xf32, #{{.*}}> {
tile.kernel @scan_parts(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #scan>
  %s, %t = cta.partial_scan %x {axis = 0 : i32, reverse} : tensor<128xf32, #scan> -> tensor<128xf32, #scan>, tensor<4xf32, #total> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %g = tile.splat %f : f32 -> tensor<4xf32, #all>
  %y = cta.scan_carry %s, %g {axis = 0 : i32, reverse} : tensor<128xf32, #scan>, tensor<4xf32, #all> -> tensor<128xf32, #scan> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : tensor<128xf32, #scan>
  tile.return
}
