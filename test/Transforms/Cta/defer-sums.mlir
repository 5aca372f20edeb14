// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-defer-sums))' --mlir-print-local-scope | FileCheck %s

!c = tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
!own = tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 0]]>>
!rows = tensor<64xf32, #cta.layout<[64], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]>>
!ownrows = tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>

// Lanes keep the sums of their columns, which four of them exchange after the loop; all need the maximum.
// CHECK-LABEL: tile.kernel @online(
// CHECK: scf.for {{.*}} -> (tensor<64xf32, {{.*}}>, tensor<64x4xf32, #cta.layout<[64, 4], register = {{\[}}[8, 0]], lane = {{\[}}[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]
// CHECK: tile.reshape {{.*}} -> tensor<64x8x4x2xf32
// CHECK: scf.yield
// CHECK: tile.reduce {{.*}} {axis = 1 : i32} : tensor<64x4xf32
// CHECK: arith.divf
tile.kernel @online(%n: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<1.0> : !rows
  %w = tile.splat %x : f32 -> !c
  %f = tile.splat %x : f32 -> !rows
  %m, %t = scf.for %j = %c0 to %n step %c1 iter_args(%top = %zero, %total = %zero) -> (!rows, !rows) : i32 {
    %s = tile.reduce %w {axis = 1 : i32} : !c -> !rows {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %l = tile.reduce %w {axis = 1 : i32} : !c -> !rows {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    %larger = arith.maxnumf %top, %l : !rows
    %scaled = arith.mulf %total, %f : !rows
    %next = arith.addf %scaled, %s : !rows
    scf.yield %larger, %next : !rows, !rows
  }
  %r = arith.divf %t, %m : !rows
  tile.print "r" %r : !rows
  tile.return
}

// A sum that the iteration uses, and one in which threads have whole rows.
// CHECK-LABEL: tile.kernel @kept(
// CHECK-NOT: tile.reshape
// CHECK: tile.return
tile.kernel @kept(%n: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !rows
  %own = arith.constant dense<0.0> : !ownrows
  %w = tile.splat %x : f32 -> !c
  %v = tile.splat %x : f32 -> !own
  %t:3 = scf.for %j = %c0 to %n step %c1 iter_args(%total = %zero, %last = %zero, %alone = %own) -> (!rows, !rows, !ownrows) : i32 {
    %s = tile.reduce %w {axis = 1 : i32} : !c -> !rows {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %total, %s : !rows
    %u = tile.reduce %v {axis = 1 : i32} : !own -> !ownrows {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %sum = arith.addf %alone, %u : !ownrows
    scf.yield %next, %next, %sum : !rows, !rows, !ownrows
  }
  tile.print "r" %t#0 : !rows
  tile.print "l" %t#1 : !rows
  tile.print "o" %t#2 : !ownrows
  tile.return
}

// Only some iterations add: the branch passes on partial sums, which lanes combine after the loop.
// CHECK-LABEL: tile.kernel @sometimes(
// CHECK: scf.for {{.*}} iter_args(%[[SO_FAR:[^ ]*]] = {{.*}}) -> (tensor<64x4xf32
// CHECK: scf.if {{.*}} -> (tensor<64x4xf32
// CHECK: else
// CHECK-NEXT: scf.yield %[[SO_FAR]] : tensor<64x4xf32
// CHECK: tile.reduce {{.*}} {axis = 1 : i32} : tensor<64x4xf32
tile.kernel @sometimes(%n: i32, %m: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !rows
  %w = tile.splat %x : f32 -> !c
  %t = scf.for %j = %c0 to %n step %c1 iter_args(%total = %zero) -> (!rows) : i32 {
    %adds = arith.cmpi slt, %j, %m : i32
    %next = scf.if %adds -> (!rows) {
      %s = tile.reduce %w {axis = 1 : i32} : !c -> !rows {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tile.yield %c : f32
      }
      %sum = arith.addf %total, %s : !rows
      scf.yield %sum : !rows
    } else {
      scf.yield %total : !rows
    }
    scf.yield %next : !rows
  }
  tile.print "r" %t : !rows
  tile.return
}

// Where nothing is added, another sum replaces the first.
// CHECK-LABEL: tile.kernel @negative_replaced(
// CHECK-NOT: tile.reshape
// CHECK: tile.return
tile.kernel @negative_replaced(%n: i32, %m: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !rows
  %w = tile.splat %x : f32 -> !c
  %t = scf.for %j = %c0 to %n step %c1 iter_args(%total = %zero) -> (!rows) : i32 {
    %adds = arith.cmpi slt, %j, %m : i32
    %next = scf.if %adds -> (!rows) {
      %s = tile.reduce %w {axis = 1 : i32} : !c -> !rows {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tile.yield %c : f32
      }
      %sum = arith.addf %total, %s : !rows
      scf.yield %sum : !rows
    } else {
      scf.yield %zero : !rows
    }
    scf.yield %next : !rows
  }
  tile.print "r" %t : !rows
  tile.return
}

!line = tensor<256xf32, #cta.layout<[256], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>>

// The sum of a vector: threads add up their elements, and the initial value is one term of 128.
// CHECK-LABEL: tile.kernel @number(
// CHECK: %[[SHARE:.*]] = arith.constant dense<7.812500e-03> : tensor<128xf32
// CHECK: scf.for {{.*}} = %[[SHARE]]) -> (tensor<128xf32
// CHECK: tile.reduce {{.*}} : tensor<128x2xf32, {{.*}} -> tensor<128xf32
// CHECK: tile.splat %{{.*}} : f32 -> tensor<128xf32
// CHECK: scf.yield
// CHECK: tile.reduce {{.*}} : tensor<128xf32, {{.*}} -> f32
tile.kernel @number(%n: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %v = tile.splat %x : f32 -> !line
  %t = scf.for %j = %c0 to %n step %c1 iter_args(%total = %one) -> (f32) : i32 {
    %s = tile.reduce %v {axis = 0 : i32} : !line -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %scaled = arith.mulf %total, %x : f32
    %next = arith.addf %scaled, %s : f32
    scf.yield %next : f32
  }
  tile.print "t" %t : f32
  tile.return
}
