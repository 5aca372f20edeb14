// The dimension along which lanes are arranged if no addresses are consecutive, and the warps' parts of a scan.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-assign-layouts))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-assign-layouts))' | FileCheck %s --check-prefix=OLD

// Quotients and remainders of a parameter are close to each other, its multiples are not: lanes go along columns.
// CHECK-DAG: #[[DOWN:.*]] = #cta.layout<[32, 32], register = {{.*}}, lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp
// A step of two elements is shorter than a step of a parameter: lanes go along rows.
// CHECK-DAG: #[[ALONG:.*]] = #cta.layout<[32, 32], register = {{.*}}, lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp
// One warp with sixteen elements per thread: four groups of four.
// CHECK-DAG: #[[SCAN:.*]] = #cta.layout<[512], register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]]>
// One instruction adds to four neighbours, where the target has such an instruction.
// CHECK-DAG: #[[FOUR:.*]] = #cta.layout<[1024], register = {{\[\[}}1], [2], [512]]
// OLD-DAG: #[[ONE:.*]] = #cta.layout<[1024], register = {{\[\[}}128], [256], [512]]

// CHECK-LABEL: tile.kernel @pixels
// CHECK: tile.load %{{.*}} : tensor<32x32x!tile.ptr<f16>, #[[DOWN]]>
tile.kernel @pixels(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %width: i32, %stride: i32) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %w = tile.splat %width : i32 -> tensor<32xi32>
  %x = arith.remsi %r, %w : tensor<32xi32>
  %rows = tile.expand_dims %x {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s = tile.splat %stride : i32 -> tensor<32xi32>
  %c = arith.muli %r, %s : tensor<32xi32>
  %columns = tile.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %a = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %a, %b : tensor<32x32xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %ps, %o : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %v = tile.load %q : tensor<32x32x!tile.ptr<f16>>
  tile.print "" %v : tensor<32x32xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @every_other
// CHECK: tile.load %{{.*}} : tensor<32x32x!tile.ptr<f16>, #[[ALONG]]>
tile.kernel @every_other(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %stride: i32) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %s = tile.splat %stride : i32 -> tensor<32xi32>
  %x = arith.muli %r, %s : tensor<32xi32>
  %rows = tile.expand_dims %x {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %c = arith.muli %r, %two : tensor<32xi32>
  %columns = tile.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %a = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %a, %b : tensor<32x32xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %ps, %o : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %v = tile.load %q : tensor<32x32x!tile.ptr<f16>>
  tile.print "" %v : tensor<32x32xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @scan
// CHECK: tile.scan {{.*}} : tensor<512xf32, #[[SCAN]]>
tile.kernel @scan(%f: f32) attributes {num_warps = 4 : i32} {
  %x = tile.splat %f : f32 -> tensor<512xf32>
  %y = tile.scan %x {axis = 0 : i32} : tensor<512xf32> -> tensor<512xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : tensor<512xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @atomic
// CHECK: tile.atomic_rmw {{.*}} : tensor<1024x!tile.ptr<f32>, #[[FOUR]]>
// OLD: tile.atomic_rmw {{.*}} : tensor<1024x!tile.ptr<f32>, #[[ONE]]>
tile.kernel @atomic(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %f: f32) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.splat %f : f32 -> tensor<1024xf32>
  %old = tile.atomic_rmw add relaxed gpu %q, %v : tensor<1024x!tile.ptr<f32>>
  tile.return
}

// Half bytes: values that pairs of elements share are loaded by the threads that store the results, since a warp finds
// them in two lines of memory. A step of eight bytes is too large.
// CHECK-LABEL: tile.kernel @halves
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<i8>, #[[WIDE:.*]]>
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<i64>, #[[THIN:.*]]>
// CHECK-NOT: cta.convert_layout %{{.*}} : tensor<1024xi8,
// CHECK: cta.convert_layout %{{.*}} : tensor<1024xi64, #[[THIN]]>
// CHECK: tile.store %{{.*}} : tensor<1024x!tile.ptr<f16>, #[[WIDE]]>
tile.kernel @halves(%p: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %far: !tile.ptr<i64> {tile.divisibility = 8 : i32},
                    %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %two = arith.constant dense<2> : tensor<1024xi32>
  %half = arith.divsi %r, %two : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<1024x!tile.ptr<i8>>
  %pp = tile.addptr %ps, %half : tensor<1024x!tile.ptr<i8>>, tensor<1024xi32>
  %x = tile.load %pp : tensor<1024x!tile.ptr<i8>>
  %fs = tile.splat %far : !tile.ptr<i64> -> tensor<1024x!tile.ptr<i64>>
  %fp = tile.addptr %fs, %r : tensor<1024x!tile.ptr<i64>>, tensor<1024xi32>
  %y = tile.load %fp : tensor<1024x!tile.ptr<i64>>
  %xf = arith.sitofp %x : tensor<1024xi8> to tensor<1024xf16>
  %yf = arith.sitofp %y : tensor<1024xi64> to tensor<1024xf16>
  %z = arith.addf %xf, %yf : tensor<1024xf16>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %r : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  tile.store %qp, %z : tensor<1024x!tile.ptr<f16>>
  tile.return
}

// A table of 16 values is read by the threads that store the results; a table of unknown size is not.
// CHECK-LABEL: tile.kernel @table
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<f32>, #[[WIDE:.*]]>
// CHECK: tile.load %{{.*}} : tensor<1024x!tile.ptr<f32>, #[[THIN:.*]]>
// CHECK: cta.convert_layout %{{.*}} : tensor<1024xf32, #[[THIN]]>
// CHECK: tile.store %{{.*}} : tensor<1024x!tile.ptr<f16>, #[[WIDE]]>
tile.kernel @table(%p: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %table: !tile.ptr<f32>,
                   %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32} {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %fifteen = arith.constant dense<15> : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<1024x!tile.ptr<i32>>
  %pp = tile.addptr %ps, %r : tensor<1024x!tile.ptr<i32>>, tensor<1024xi32>
  %packed = tile.load %pp : tensor<1024x!tile.ptr<i32>>
  %code = arith.andi %packed, %fifteen : tensor<1024xi32>
  %ts = tile.splat %table : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %near = tile.addptr %ts, %code : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %near : tensor<1024x!tile.ptr<f32>>
  %far = tile.addptr %ts, %packed : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %y = tile.load %far : tensor<1024x!tile.ptr<f32>>
  %z = arith.addf %x, %y : tensor<1024xf32>
  %h = arith.truncf %z : tensor<1024xf32> to tensor<1024xf16>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %qp = tile.addptr %qs, %r : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  tile.store %qp, %h : tensor<1024x!tile.ptr<f16>>
  tile.return
}
