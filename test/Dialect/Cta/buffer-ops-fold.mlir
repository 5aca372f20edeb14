// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @slots(
// CHECK-SAME: %[[I:.*]]: i32)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK: %[[J:.*]] = cta.next_slot %[[I]] of 3
// CHECK: tile.print "" %[[C2]], %[[C0]], %[[J]]
tile.kernel @slots(%i: i32) {
  %c1 = arith.constant 1 : i32
  %a = cta.next_slot %c1 of 3
  %b = cta.next_slot %a of 3
  %c = cta.next_slot %i of 3
  tile.print "" %a, %b, %c : i32, i32, i32
  tile.return
}
