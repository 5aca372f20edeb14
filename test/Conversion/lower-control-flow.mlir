// RUN: tile-opt %s --nvvm-lower-control-flow | FileCheck %s

// Outside before inside, later before earlier: nothing is left in regions.
// CHECK-LABEL: func.func @nested
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}}, %arg2
// CHECK: ^[[HEAD]](%[[I:.*]]: i32, %[[X:.*]]: f32):
// CHECK: cf.cond_br {{.*}}, ^[[BODY:.*]], ^[[END:bb[0-9]+]]
// CHECK: ^[[BODY]]:
// CHECK: cf.cond_br %arg1, ^{{.*}}, ^{{.*}}
// CHECK: ^[[END]]:
// CHECK: cf.cond_br %arg1
// CHECK-NOT: scf.
// CHECK: return
func.func @nested(%n: i32, %flag: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) : i32 {
    %next = scf.if %flag -> (f32) {
      %b = arith.addf %a, %x : f32
      scf.yield %b : f32
    } else {
      scf.yield %a : f32
    }
    scf.yield %next : f32
  }
  %out = scf.if %flag -> (f32) {
    scf.yield %sum : f32
  } else {
    %w = scf.while (%y = %sum) : (f32) -> f32 {
      scf.condition(%flag) %y : f32
    } do {
    ^bb0(%z: f32):
      scf.yield %z : f32
    }
    scf.yield %w : f32
  }
  return %out : f32
}
