// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-assign-layouts))' | FileCheck %s

// Loads and stores are coalesced in vectors of 16 bytes, and so is the arithmetic between them.
// CHECK-DAG: #[[WIDE:.*]] = #cta.layout<[1024], register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]]
// CHECK-DAG: #[[SINGLE:.*]] = #cta.layout<[2048], register = {{\[\[}}128], [256], [512], [1024]], lane = {{\[\[}}1], [2], [4], [8], [16]]
// CHECK-DAG: #[[WIDEST:.*]] = #cta.layout<[2048], register = {{\[\[}}1], [2], [4], [1024]], lane = {{\[\[}}8], [16], [32], [64], [128]]
// CHECK-DAG: #[[ROWS:.*]] = #cta.layout<[4, 512], register = {{.*}}, warp = {{\[\[}}1, 0], [2, 0]]>
// CHECK-LABEL: tile.kernel @vector
// CHECK-NOT: cta.convert_layout
// CHECK: %[[X:.*]] = tile.load %{{.*}} : tensor<1024x!tile.ptr<f32>, #[[WIDE]]>
// CHECK-NEXT: arith.negf %[[X]] : tensor<1024xf32, #[[WIDE]]>
tile.kernel @vector(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %y = arith.negf %x : tensor<1024xf32>
  tile.store %q, %y : tensor<1024x!tile.ptr<f32>>
  tile.return
}

// Four rows are reduced: each warp takes one row, not a quarter of each row.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.load %{{.*}} : tensor<4x512x!tile.ptr<f32>, #[[ROWS]]>
tile.kernel @rows(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32} {
  %c512 = arith.constant dense<512> : tensor<4x1xi32>
  %m = tile.arange 0 to 4 : tensor<4xi32>
  %m2 = tile.expand_dims %m {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %first = arith.muli %m2, %c512 : tensor<4x1xi32>
  %firsts = tile.broadcast %first : tensor<4x1xi32> -> tensor<4x512xi32>
  %n = tile.arange 0 to 512 : tensor<512xi32>
  %n2 = tile.expand_dims %n {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %columns = tile.broadcast %n2 : tensor<1x512xi32> -> tensor<4x512xi32>
  %o = arith.addi %firsts, %columns : tensor<4x512xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<4x512x!tile.ptr<f32>>
  %q = tile.addptr %s, %o : tensor<4x512x!tile.ptr<f32>>, tensor<4x512xi32>
  %x = tile.load %q : tensor<4x512x!tile.ptr<f32>>
  %y = tile.reduce %x {axis = 1 : i32} : tensor<4x512xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : tensor<4xf32>
  tile.return
}

// The widest of several types decides if all are accessed equally often: here f32 and f16 take 4 elements each.
// Accesses in a loop take precedence over accesses outside. Unaligned addresses have a separate layout.
// CHECK-LABEL: tile.kernel @types
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<f32>, #[[WIDE]]>
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<f16>, #[[WIDE]]>
// CHECK: scf.for
// CHECK: tile.load %{{.*}} : tensor<2048x!tile.ptr<f16>, #[[WIDEST]]>
// CHECK: tile.load %{{.*}} : tensor<2048x!tile.ptr<f16>, #[[SINGLE]]>
// CHECK: }
// CHECK: tile.load %{{.*}} : tensor<2048x!tile.ptr<f32>, #[[WIDEST]]>
tile.kernel @types(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %h: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %odd: !tile.ptr<f16> {tile.divisibility = 2 : i32}, %n: i32) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %t = tile.splat %h : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %u = tile.addptr %t, %r : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %y = tile.load %u : tensor<1024x!tile.ptr<f16>>
  %r2 = tile.arange 0 to 2048 : tensor<2048xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t2 = tile.splat %h : !tile.ptr<f16> -> tensor<2048x!tile.ptr<f16>>
    %u2 = tile.addptr %t2, %r2 : tensor<2048x!tile.ptr<f16>>, tensor<2048xi32>
    %y2 = tile.load %u2 : tensor<2048x!tile.ptr<f16>>
    %t3 = tile.splat %odd : !tile.ptr<f16> -> tensor<2048x!tile.ptr<f16>>
    %u3 = tile.addptr %t3, %r2 : tensor<2048x!tile.ptr<f16>>, tensor<2048xi32>
    %y3 = tile.load %u3 : tensor<2048x!tile.ptr<f16>>
  }
  %s2 = tile.splat %p : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %q2 = tile.addptr %s2, %r2 : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %x2 = tile.load %q2 : tensor<2048x!tile.ptr<f32>>
  tile.return
}

// Blocks that a reshape makes from a row have the row's layout, and joined blocks stay in the same threads.
// CHECK-LABEL: tile.kernel @reshaped
// CHECK: tile.reshape %{{.*}} : tensor<1024xf32, #[[WIDE]]>
// CHECK-NOT: cta.convert_layout
// CHECK: arith.negf
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
tile.kernel @reshaped(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %blocks = tile.reshape %x : tensor<1024xf32> -> tensor<16x64xf32>
  %y = arith.negf %blocks : tensor<16x64xf32>
  %row = tile.reshape %y : tensor<16x64xf32> -> tensor<1024xf32>
  tile.store %q, %row : tensor<1024x!tile.ptr<f32>>
  tile.return
}

// CHECK-LABEL: tile.kernel @joined
// CHECK: tile.expand_dims %[[X:.*]] {axis = 2 : i32} : tensor<16x64xi32, #[[PART:.*]]> -> tensor<16x64x1xi32
// CHECK-NEXT: tile.broadcast
// CHECK-NEXT: tile.reshape
// CHECK-NOT: cta.convert_layout
// CHECK: tile.desc_store
tile.kernel @joined(%d: !tile.desc<16x128xi32>) {
  %c0 = arith.constant 0 : i32
  %x = arith.constant dense<1> : tensor<16x64xi32>
  %each = tile.expand_dims %x {axis = 2 : i32} : tensor<16x64xi32> -> tensor<16x64x1xi32>
  %both = tile.broadcast %each : tensor<16x64x1xi32> -> tensor<16x64x2xi32>
  %flat = tile.reshape %both : tensor<16x64x2xi32> -> tensor<16x128xi32>
  tile.desc_store %d[%c0, %c0], %flat : !tile.desc<16x128xi32>, tensor<16x128xi32>
  tile.return
}
