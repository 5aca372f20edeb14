// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-narrow-loads,canonicalize,cse))' | FileCheck %s

// Scales of groups of K have one address along all of a block, in each column.
// CHECK-LABEL: tile.kernel @scales
// CHECK: %[[LOADED:.*]] = tile.load %{{.*}} : tensor<1x32x!tile.ptr<f16>>
// CHECK: tile.broadcast %[[LOADED]] : tensor<1x32xf16> -> tensor<64x32xf16>
tile.kernel @scales(%scales: !tile.ptr<f16>, %first: i32 {tile.divisibility = 64 : i32}) {
  %group = arith.constant dense<128> : tensor<64x1xi32>
  %ks = tile.arange 0 to 64 : tensor<64xi32>
  %column = tile.expand_dims %ks {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %start = tile.splat %first : i32 -> tensor<64x1xi32>
  %k = arith.addi %start, %column : tensor<64x1xi32>
  %groups = arith.divui %k, %group : tensor<64x1xi32>
  %n = tile.arange 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %a = tile.broadcast %groups : tensor<64x1xi32> -> tensor<64x32xi32>
  %b = tile.broadcast %row : tensor<1x32xi32> -> tensor<64x32xi32>
  %at = arith.addi %a, %b : tensor<64x32xi32>
  %base = tile.splat %scales : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %p = tile.addptr %base, %at : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %x = tile.load %p : tensor<64x32x!tile.ptr<f16>>
  tile.print "" %x : tensor<64x32xf16>
  tile.return
}

// Bytes of two integers: each is loaded once, and they are recognized as consecutive. The loop carries half of the pointers.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[HALF:.*]] = tile.arange 0 to 32
// CHECK: tile.addptr %{{.*}}, %[[HALF]] : tensor<32x!tile.ptr<i8>>
// CHECK: scf.for {{.*}} -> (tensor<32x!tile.ptr<i8>>)
// CHECK: tile.load {{.*}} : tensor<32x!tile.ptr<i8>>
tile.kernel @carried(%packed: !tile.ptr<i8>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %two = arith.constant dense<2> : tensor<64xi32>
  %step = arith.constant dense<32> : tensor<64xi32>
  %ks = tile.arange 0 to 64 : tensor<64xi32>
  %halves = arith.divsi %ks, %two : tensor<64xi32>
  %base = tile.splat %packed : !tile.ptr<i8> -> tensor<64x!tile.ptr<i8>>
  %first = tile.addptr %base, %halves : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %first) -> (tensor<64x!tile.ptr<i8>>) : i32 {
    %x = tile.load %p : tensor<64x!tile.ptr<i8>>
    tile.print "" %x : tensor<64xi8>
    %next = tile.addptr %p, %step : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tile.ptr<i8>>
  }
  tile.return
}

// So are pointers of a block, since its first index is halved, too. Signed sums do not overflow, unsigned ones may.
// CHECK-LABEL: tile.kernel @blocks
// CHECK-DAG: %[[HALF:.*]] = tile.arange 0 to 32
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[ALL:.*]] = tile.splat %[[FIRST]]
// CHECK: arith.addi %[[ALL]], %[[HALF]] : tensor<32xi32>
// CHECK: arith.divui %{{.*}} : tensor<32xi32>
tile.kernel @blocks(%packed: !tile.ptr<i8>) {
  %c64 = arith.constant 64 : i32
  %two = arith.constant dense<2> : tensor<64xi32>
  %ks = tile.arange 0 to 64 : tensor<64xi32>
  %id = tile.program_id 1
  %start = arith.muli %id, %c64 : i32
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  %k = arith.addi %starts, %ks : tensor<64xi32>
  %base = tile.splat %packed : !tile.ptr<i8> -> tensor<64x!tile.ptr<i8>>
  %halves = arith.divsi %k, %two : tensor<64xi32>
  %p = tile.addptr %base, %halves : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
  %x = tile.load %p : tensor<64x!tile.ptr<i8>>
  tile.print "" %x : tensor<64xi8>
  %unsigned = arith.divui %k, %two : tensor<64xi32>
  %q = tile.addptr %base, %unsigned : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
  %y = tile.load %q : tensor<64x!tile.ptr<i8>>
  tile.print "" %y : tensor<64xi8>
  tile.return
}

// Values computed from one loaded value are loaded once as well.
// CHECK-LABEL: tile.kernel @looked_up
// CHECK: tile.load %{{.*}} : tensor<1x!tile.ptr<i32>>
// CHECK: tile.load %{{.*}} : tensor<1x!tile.ptr<i32>>
// CHECK: tile.load %{{.*}} volatile : tensor<64x!tile.ptr<i32>>
// CHECK: tile.load %{{.*}} : tensor<64x!tile.ptr<i32>>
tile.kernel @looked_up(%groups: !tile.ptr<i32>, %n: i32) {
  %row = tile.splat %n : i32 -> tensor<64xi32>
  %base = tile.splat %groups : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %p = tile.addptr %base, %row : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %group = tile.load %p : tensor<64x!tile.ptr<i32>>
  %q = tile.addptr %base, %group : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %x = tile.load %q : tensor<64x!tile.ptr<i32>>
  tile.print "" %x : tensor<64xi32>
  %other = tile.load %p volatile : tensor<64x!tile.ptr<i32>>
  %r = tile.addptr %base, %other : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %y = tile.load %r : tensor<64x!tile.ptr<i32>>
  tile.print "" %y : tensor<64xi32>
  tile.return
}

// Stays: what the loop also stores through, what is volatile, and where a mask cuts the pairs.
// CHECK-LABEL: tile.kernel @negative_others
// CHECK: scf.for {{.*}} -> (tensor<64x!tile.ptr<i8>>)
// CHECK: tile.load %{{.*}} : tensor<64x!tile.ptr<i8>>
// CHECK: tile.load %{{.*}} volatile : tensor<64x!tile.ptr<i8>>
// CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<64x!tile.ptr<i8>>
tile.kernel @negative_others(%packed: !tile.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %two = arith.constant dense<2> : tensor<64xi32>
  %step = arith.constant dense<32> : tensor<64xi32>
  %ks = tile.arange 0 to 64 : tensor<64xi32>
  %halves = arith.divsi %ks, %two : tensor<64xi32>
  %base = tile.splat %packed : !tile.ptr<i8> -> tensor<64x!tile.ptr<i8>>
  %first = tile.addptr %base, %halves : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %first) -> (tensor<64x!tile.ptr<i8>>) : i32 {
    %x = tile.load %p : tensor<64x!tile.ptr<i8>>
    tile.store %p, %x : tensor<64x!tile.ptr<i8>>
    %next = tile.addptr %p, %step : tensor<64x!tile.ptr<i8>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tile.ptr<i8>>
  }
  %y = tile.load %first volatile : tensor<64x!tile.ptr<i8>>
  %end = tile.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %ks, %end : tensor<64xi32>
  %z = tile.load %first mask %inside : tensor<64x!tile.ptr<i8>>
  tile.print "" %y, %z : tensor<64xi8>, tensor<64xi8>
  tile.return
}
