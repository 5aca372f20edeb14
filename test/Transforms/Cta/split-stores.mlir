// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-split-stores))' --mlir-print-local-scope | FileCheck %s

#sum = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #cta.layout<[64, 256], register = [[0, 32], [0, 64], [0, 128], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#columns = #cta.layout<[64, 256], register = [[1, 0], [2, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[16, 0], [32, 0]]>
#row = #cta.layout<[1, 256], register = [[0, 32], [0, 64], [0, 128]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [0, 0]]>
#vector = #cta.layout<[256], register = [[32], [64], [128]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>

// Four panels of 64 columns, each computed, moved to where its rows are written, and written under its own mask.
// CHECK-LABEL: tile.kernel @panels
// CHECK: %[[B:.*]] = cta.alloc : <64x64xf16
// CHECK-NOT: cta.convert_layout
// CHECK: %[[S:.*]] = cta.slice_columns %{{.*}} {first = 0 : i32}
// CHECK: %[[E:.*]] = math.exp %[[S]] : tensor<64x64xf32
// CHECK: %[[H:.*]] = arith.truncf %[[E]]
// CHECK: cta.local_store %[[H]], %[[B]]
// CHECK: %[[Y:.*]] = cta.local_load %[[B]]
// CHECK-SAME: register = {{\[}}[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[16, 0], [32, 0]]
// CHECK: tile.arange 0 to 64
// CHECK: tile.store %{{.*}}, %[[Y]] mask
// CHECK: cta.slice_columns %{{.*}} {first = 64 : i32}
// CHECK: tile.arange 64 to 128
// CHECK: tile.store
// CHECK: cta.slice_columns %{{.*}} {first = 128 : i32}
// CHECK: tile.store
// CHECK: cta.slice_columns %{{.*}} {first = 192 : i32}
// CHECK: tile.store
// CHECK-NEXT: tile.return
tile.kernel @panels(%p: !tile.ptr<f16>, %f: !tile.ptr<f32>, %n: i32) {
  %fs = tile.splat %f : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #sum>
  %x = tile.load %fs : tensor<64x256x!tile.ptr<f32>, #sum>
  %e = math.exp %x : tensor<64x256xf32, #sum>
  %h = arith.truncf %e : tensor<64x256xf32, #sum> to tensor<64x256xf16, #sum>
  %y = cta.convert_layout %h : tensor<64x256xf16, #sum> -> tensor<64x256xf16, #rows>
  %r = tile.arange 0 to 256 : tensor<256xi32, #vector>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #vector> -> tensor<1x256xi32, #row>
  %limit = tile.splat %n : i32 -> tensor<1x256xi32, #row>
  %inside = arith.cmpi slt, %row, %limit : tensor<1x256xi32, #row>
  %m = tile.broadcast %inside : tensor<1x256xi1, #row> -> tensor<64x256xi1, #rows>
  %cols = tile.broadcast %row : tensor<1x256xi32, #row> -> tensor<64x256xi32, #rows>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>, #rows>
  %q = tile.addptr %s, %cols : tensor<64x256x!tile.ptr<f16>, #rows>, tensor<64x256xi32, #rows>
  tile.store %q, %y mask %m : tensor<64x256x!tile.ptr<f16>, #rows>
  tile.return
}

// Two matrices computed from one are stored alternately: common operands are computed once per panel.
// CHECK-LABEL: tile.kernel @in_turns
// CHECK: %[[S:.*]] = cta.slice_columns %{{.*}} {first = 0 : i32}
// CHECK: %[[E:.*]] = math.exp %[[S]] : tensor<64x64xf32
// CHECK-NOT: math.exp
// CHECK: tile.store
// CHECK: arith.addf %[[E]], %[[E]]
// CHECK: tile.store
// CHECK: cta.slice_columns %{{.*}} {first = 64 : i32}
tile.kernel @in_turns(%p: !tile.ptr<f32> {tile.name = "p"}, %q: !tile.ptr<f32> {tile.name = "q"}, %f: !tile.ptr<f32>) {
  %fs = tile.splat %f : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #sum>
  %x = tile.load %fs : tensor<64x256x!tile.ptr<f32>, #sum>
  %e = math.exp %x : tensor<64x256xf32, #sum>
  %d = arith.addf %e, %e : tensor<64x256xf32, #sum>
  %first = cta.convert_layout %e : tensor<64x256xf32, #sum> -> tensor<64x256xf32, #rows>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #rows>
  tile.store %ps, %first : tensor<64x256x!tile.ptr<f32>, #rows>
  %second = cta.convert_layout %d : tensor<64x256xf32, #sum> -> tensor<64x256xf32, #rows>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #rows>
  tile.store %qs, %second : tensor<64x256x!tile.ptr<f32>, #rows>
  tile.return
}

// But not to the same tensor: the second one is written last.
// CHECK-LABEL: tile.kernel @negative_in_turns
// CHECK: math.exp %{{.*}} : tensor<64x256xf32
// CHECK: cta.slice_columns %{{.*}} {first = 192 : i32}
// CHECK: tile.store
// CHECK: cta.slice_columns %{{.*}} {first = 0 : i32}
tile.kernel @negative_in_turns(%p: !tile.ptr<f32> {tile.name = "p"}, %f: !tile.ptr<f32>) {
  %fs = tile.splat %f : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #sum>
  %x = tile.load %fs : tensor<64x256x!tile.ptr<f32>, #sum>
  %e = math.exp %x : tensor<64x256xf32, #sum>
  %d = arith.addf %e, %e : tensor<64x256xf32, #sum>
  %first = cta.convert_layout %e : tensor<64x256xf32, #sum> -> tensor<64x256xf32, #rows>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x256x!tile.ptr<f32>, #rows>
  tile.store %ps, %first : tensor<64x256x!tile.ptr<f32>, #rows>
  %second = cta.convert_layout %d : tensor<64x256xf32, #sum> -> tensor<64x256xf32, #rows>
  tile.store %ps, %second : tensor<64x256x!tile.ptr<f32>, #rows>
  tile.return
}

// Addresses that are loaded cannot be computed for a part.
// CHECK-LABEL: tile.kernel @loaded
// CHECK: cta.convert_layout
// CHECK: tile.store
tile.kernel @loaded(%p: !tile.ptr<f16>, %f: f16) {
  %h = tile.splat %f : f16 -> tensor<64x256xf16, #sum>
  %y = cta.convert_layout %h : tensor<64x256xf16, #sum> -> tensor<64x256xf16, #rows>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>, #rows>
  %o = tile.load %s : tensor<64x256x!tile.ptr<f16>, #rows>
  %i = arith.fptosi %o : tensor<64x256xf16, #rows> to tensor<64x256xi32, #rows>
  %q = tile.addptr %s, %i : tensor<64x256x!tile.ptr<f16>, #rows>, tensor<64x256xi32, #rows>
  tile.store %q, %y : tensor<64x256x!tile.ptr<f16>, #rows>
  tile.return
}

// Vectors along the columns would be split: threads own rows of a panel.
// CHECK-LABEL: tile.kernel @down
// CHECK: cta.convert_layout
// CHECK: tile.store
tile.kernel @down(%p: !tile.ptr<f16>, %f: f16) {
  %h = tile.splat %f : f16 -> tensor<64x256xf16, #sum>
  %y = cta.convert_layout %h : tensor<64x256xf16, #sum> -> tensor<64x256xf16, #columns>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>, #columns>
  tile.store %s, %y {vector = 4 : i32} : tensor<64x256x!tile.ptr<f16>, #columns>
  tile.return
}

// One warp writes 8 columns of so many rows at a time, but not if 16 elements of a row are written at once.
#one_sum = #cta.layout<[128, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0], [32, 0], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#one_rows = #cta.layout<[128, 32], register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0], [64, 0]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
// CHECK-LABEL: tile.kernel @wide_vectors
// CHECK: cta.alloc : <128x16xi8
// CHECK: tile.store {{.*}} {vector = 16 : i32} : tensor<128x16x
// CHECK: tile.store {{.*}} {vector = 16 : i32} : tensor<128x16x
tile.kernel @wide_vectors(%p: !tile.ptr<i8>, %v: i8) attributes {num_warps = 1 : i32} {
  %x = tile.splat %v : i8 -> tensor<128x32xi8, #one_sum>
  %y = cta.convert_layout %x : tensor<128x32xi8, #one_sum> -> tensor<128x32xi8, #one_rows>
  %s = tile.splat %p : !tile.ptr<i8> -> tensor<128x32x!tile.ptr<i8>, #one_rows>
  tile.store %s, %y {vector = 16 : i32} : tensor<128x32x!tile.ptr<i8>, #one_rows>
  tile.return
}
