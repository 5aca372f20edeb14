// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-simplify-inductions,canonicalize))' | FileCheck %s

// What is stored has a counter of its own, which begins a step earlier and is bumped before its use.
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

// So it is with a step that is known at launch only.
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

// Counts otherwise, and from elsewhere: both stay.
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
