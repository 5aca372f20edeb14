// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-simplify-inductions,canonicalize))' | FileCheck %s

// The stored value has a separate counter, which begins one step earlier and is incremented before its use.
// CHECK-LABEL: tile.kernel @two_counters
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NEXT: tile.print "" %[[I]], %[[I]]
tile.kernel @two_counters(%n: i32) {
  %step = arith.constant 132 : i32
  %first = tile.program_id 0
  %before = arith.subi %first, %step : i32
  %r = scf.for %i = %first to %n step %step iter_args(%c = %before) -> i32 : i32 {
    %d = arith.addi %c, %step : i32
    tile.print "" %i, %d : i32, i32
    scf.yield %d : i32
  }
  tile.return
}

// The same with a step that is known only at launch.
// CHECK-LABEL: tile.kernel @variable_step
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: tile.print "" %[[I]]
tile.kernel @variable_step(%n: i32, %step: i32) {
  %first = tile.program_id 0
  %before = arith.subi %first, %step : i32
  %r = scf.for %i = %first to %n step %step iter_args(%c = %before) -> i32 : i32 {
    %d = arith.addi %c, %step : i32
    tile.print "" %d : i32
    scf.yield %d : i32
  }
  tile.return
}

// Another step, and another start: both counters stay.
// CHECK-LABEL: tile.kernel @others
// CHECK: iter_args(%[[TWICE:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
// CHECK: tile.print "" %[[TWICE]], %[[OTHER]]
tile.kernel @others(%n: i32, %m: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%c = %zero, %d = %m) -> (i32, i32) : i32 {
    tile.print "" %c, %d : i32, i32
    %e = arith.addi %c, %two : i32
    %f = arith.addi %d, %one : i32
    scf.yield %e, %f : i32, i32
  }
  tile.return
}

// A block of offsets grows by the same number: it is computed, so that each use has it in the required layout.
// CHECK-LABEL: tile.kernel @block
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NEXT: %[[COUNT:.*]] = arith.subi %[[I]], %{{.*}} : i32
// CHECK-NEXT: %[[STEPS:.*]] = arith.divui %[[COUNT]], %{{.*}} : i32
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[STEPS]] : i32 to i64
// CHECK-NEXT: %[[SUM:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK-NEXT: %[[ALL:.*]] = tile.splat %[[SUM]]
// CHECK-NEXT: %[[BLOCK:.*]] = arith.addi %{{.*}}, %[[ALL]]
// CHECK-NEXT: tile.print "" %[[BLOCK]]
tile.kernel @block(%n: i32, %m: i32, %init: !tile.ptr<i64>) {
  %two = arith.constant 2 : i32
  %growth = arith.constant dense<64> : tensor<8xi64>
  %from = tile.splat %init : !tile.ptr<i64> -> tensor<8x!tile.ptr<i64>>
  %first = tile.load %from : tensor<8x!tile.ptr<i64>>
  %r = scf.for %i = %m to %n step %two iter_args(%c = %first) -> tensor<8xi64> : i32 {
    tile.print "" %c : tensor<8xi64>
    %d = arith.addi %c, %growth : tensor<8xi64>
    scf.yield %d : tensor<8xi64>
  }
  tile.return
}

// Read after the loop, or by what the loop computes: both stay.
// CHECK-LABEL: tile.kernel @negative_blocks
// CHECK: iter_args(%[[READ:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
// CHECK: tile.print "" %[[READ]], %[[OTHER]]
tile.kernel @negative_blocks(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = tile.arange 0 to 8 : tensor<8xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%c = %init, %o = %init) -> (tensor<8xi32>, tensor<8xi32>) : i32 {
    tile.print "" %c, %o : tensor<8xi32>, tensor<8xi32>
    %growth = tile.splat %i : i32 -> tensor<8xi32>
    %d = arith.addi %c, %init : tensor<8xi32>
    %e = arith.addi %o, %growth : tensor<8xi32>
    scf.yield %d, %e : tensor<8xi32>, tensor<8xi32>
  }
  tile.print "" %r#0 : tensor<8xi32>
  tile.return
}
