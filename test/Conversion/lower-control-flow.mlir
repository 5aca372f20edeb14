// RUN: tile-opt %s --nvvm-lower-control-flow | FileCheck %s

// Outer operations before inner ones, later ones before earlier ones: no region contains any.
// CHECK-LABEL: func.func @nested
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %arg0, %c0
// CHECK: cf.cond_br %[[ANY]], ^[[BODY:.*]](%{{.*}}, %arg2 : i32, f32), ^[[END:bb[0-9]+]](%arg2 : f32)
// CHECK: ^[[BODY]](%[[I:.*]]: i32, %[[X:.*]]: f32):
// CHECK: cf.cond_br %arg1, ^{{.*}}, ^{{.*}}
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %arg0
// CHECK: cf.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]], {{.*}}), ^[[END]]
// CHECK: ^[[END]](
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

// The next variable may be beyond the type's largest integer: the last one is compared, and with a bound that is not
// beyond the smallest.
// CHECK-LABEL: func.func @steps
// CHECK: %[[LEAST:.*]] = arith.maxsi %arg1, %c-2147483645_i32
// CHECK: %[[LIMIT:.*]] = arith.subi %[[LEAST]], %c3_i32
// CHECK: ^{{.*}}(%[[I:.*]]: i32):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c3_i32
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]]
// CHECK: cf.cond_br %[[MORE]], ^{{.*}}(%[[NEXT]] : i32)
func.func @steps(%a: i32, %b: i32) {
  %c3 = arith.constant 3 : i32
  scf.for %i = %a to %b step %c3 : i32 {
    func.call @use(%i) : (i32) -> ()
  }
  return
}
func.func private @use(i32)

// CHECK-LABEL: func.func @unsigned
// CHECK: %[[LEAST:.*]] = arith.maxui %arg1, %arg2
// CHECK: %[[LIMIT:.*]] = arith.subi %[[LEAST]], %arg2
// CHECK: arith.cmpi ult, %arg0, %arg1
// CHECK: arith.cmpi ult, %{{.*}}, %[[LIMIT]]
func.func @unsigned(%a: i8, %b: i8, %s: i8) {
  scf.for unsigned %i = %a to %b step %s : i8 {
    %wide = arith.extui %i : i8 to i32
    func.call @use(%wide) : (i32) -> ()
  }
  return
}

// CHECK-LABEL: func.func @known_end
// CHECK-NOT: arith.max
// CHECK: return
func.func @known_end(%a: i32) {
  %c3 = arith.constant 3 : i32
  %c100 = arith.constant 100 : i32
  scf.for %i = %a to %c100 step %c3 : i32 {
    func.call @use(%i) : (i32) -> ()
  }
  return
}
