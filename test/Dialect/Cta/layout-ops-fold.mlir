// RUN: tile-opt %s --canonicalize | FileCheck %s

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#b = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>
#c = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>

// To the same layout, and there and back.
// CHECK-LABEL: tile.kernel @vanish
// CHECK-NOT: cta.convert_layout
tile.kernel @vanish(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  %same = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #a>
  %there = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %back = cta.convert_layout %there : tensor<64xf32, #b> -> tensor<64xf32, #a>
  tile.print "" %same, %back : tensor<64xf32, #a>, tensor<64xf32, #a>
  tile.return
}

// Two in a row are one.
// CHECK-LABEL: tile.kernel @chain
// CHECK-COUNT-1: cta.convert_layout
// CHECK-NOT: cta.convert_layout
tile.kernel @chain(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  %y = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %z = cta.convert_layout %y : tensor<64xf32, #b> -> tensor<64xf32, #c>
  tile.print "" %z : tensor<64xf32, #c>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_other_layout
// CHECK: cta.convert_layout
tile.kernel @negative_other_layout(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  %y = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  tile.print "" %y : tensor<64xf32, #b>
  tile.return
}
