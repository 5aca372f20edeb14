// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-invert-divisors,canonicalize,cse))' | FileCheck %s

// The divisor depends on the arguments: its reciprocal is computed first, but not if it is 0.
// CHECK-LABEL: tile.kernel @arguments(
// CHECK-SAME: %[[COUNT:[^:]*]]: i32, %[[D:[^:]*]]: i32
// CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[EVEN:.*]] = arith.addi %[[D]], %[[D]] : i32
// CHECK: %[[POSITIVE:.*]] = arith.maxui %[[EVEN]], %[[ONE]] : i32
// CHECK: %[[M:.*]] = arith.divui %[[ALL]], %[[POSITIVE]] : i32
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: %{{.*}}, %[[Q0:.*]] = arith.mului_extended %[[P]], %[[M]] : i32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[Q0]], %[[EVEN]] : i32
// CHECK-NEXT: %[[R0:.*]] = arith.subi %[[P]], %[[PRODUCT]] : i32
// CHECK-NEXT: %[[LESS:.*]] = arith.cmpi uge, %[[R0]], %[[EVEN]] : i32
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[Q0]], %[[ONE]] : i32
// CHECK-NEXT: %[[Q:.*]] = arith.select %[[LESS]], %[[NEXT]], %[[Q0]] : i32
// CHECK-NOT: div
// CHECK-NOT: rem
// CHECK: tile.print "" %[[Q]],
tile.kernel @arguments(%count: i32, %d: i32) {
  %first = tile.program_id 0
  %step = tile.num_programs 0
  scf.for %p = %first to %count step %step : i32 {
    %even = arith.addi %d, %d : i32
    %q = arith.divui %p, %even : i32
    %r = arith.remui %p, %even : i32
    tile.print "" %q, %r : i32, i32
  }
  tile.return
}

// A position in groups of rows: one division finds the group, and the last one finds the column, by the constant if the
// group is whole.
// CHECK-LABEL: tile.kernel @ordered(
// CHECK-SAME: %{{[^:]*}}: i32, %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32
// CHECK: scf.for
// CHECK: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: %[[ROWS:.*]] = arith.minui %{{.*}}, %[[C8:.*]] : i32
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[ROWS]], %[[C8]] : i32
// CHECK: scf.if %[[WHOLE]]
// CHECK-NEXT: arith.divui %[[IN:.*]], %[[C8]] : i32
// CHECK: else
// CHECK-NEXT: arith.divui %[[IN]], %[[ROWS]] : i32
// CHECK-NOT: div
tile.kernel @ordered(%count: i32, %x: i32, %y: i32, %j: i32) {
  %c8 = arith.constant 8 : i32
  %first = tile.program_id 0
  %step = tile.num_programs 0
  scf.for %p = %first to %count step %step : i32 {
    %row, %column = tile.swizzle2d %p, %j, %x, %y, %c8
    tile.print "" %row, %column : i32, i32
  }
  tile.return
}

// Signed: the magnitude of the divisor, and its sign for the quotient. Outside of loops there is nothing to gain.
// CHECK-LABEL: tile.kernel @signed(
// CHECK-SAME: %{{[^:]*}}: i32, %[[D:[^:]*]]: i32
// CHECK-DAG: %[[SIGN:.*]] = arith.cmpi slt, %[[D]], %c0_i32
// CHECK-DAG: %[[NEGATED:.*]] = arith.subi %c0_i32, %[[D]]
// CHECK: %[[MAGNITUDE:.*]] = arith.select %[[SIGN]], %[[NEGATED]], %[[D]]
// CHECK: arith.maxui %[[MAGNITUDE]],
// CHECK: arith.divsi
// CHECK: scf.for
// CHECK-NEXT: arith.mului_extended
// CHECK: arith.select
// CHECK: %[[Q:.*]] = arith.select %[[SIGN]],
// CHECK-NOT: divsi
// CHECK: tile.print "" %[[Q]],
tile.kernel @signed(%count: i32, %d: i32) {
  %first = tile.program_id 0
  %step = tile.num_programs 0
  %outside = arith.divsi %first, %step : i32
  tile.print "" %outside : i32
  scf.for %p = %first to %count step %step : i32 {
    %q = arith.divsi %p, %d : i32
    %r = arith.remsi %p, %d : i32
    tile.print "" %q, %r : i32, i32
  }
  tile.return
}

// Values that may be negative after wrapping, values read or computed in the loop, other widths.
// CHECK-LABEL: tile.kernel @negative_others(
// CHECK: scf.for
// CHECK: arith.divsi
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: arith.divui {{.*}} : i64
tile.kernel @negative_others(%count: i32, %d: i32, %wide: i64, %memory: !tile.ptr<i32>) {
  %first = tile.program_id 0
  %step = tile.num_programs 0
  scf.for %p = %first to %count step %step : i32 {
    %product = arith.muli %p, %p : i32
    %signed = arith.divsi %product, %d : i32
    %read = tile.load %memory : !tile.ptr<i32>
    %by_read = arith.divui %p, %read : i32
    %sum = arith.addi %p, %d : i32
    %by_sum = arith.remui %d, %sum : i32
    %long = arith.extui %p : i32 to i64
    %by_wide = arith.divui %long, %wide : i64
    tile.print "" %signed, %by_read, %by_sum, %by_wide : i32, i32, i32, i64
  }
  tile.return
}

// An unsigned loop counts beyond the maximum of a signed integer.
// CHECK-LABEL: tile.kernel @negative_unsigned_loop(
// CHECK: scf.for unsigned
// CHECK-NEXT: arith.divsi
tile.kernel @negative_unsigned_loop(%count: i32, %d: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for unsigned %p = %zero to %count step %one : i32 {
    %q = arith.divsi %p, %d : i32
    tile.print "" %q : i32
  }
  tile.return
}
