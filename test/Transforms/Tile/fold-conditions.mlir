// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-fold-conditions,canonicalize))' | FileCheck %s

// Both ends of a dimension, as block pointers check them: program ids have one end, a loop has none.
// CHECK-LABEL: tile.kernel @ends
// CHECK: %[[LAST:.*]] = arith.cmpi slt
// CHECK: scf.for
// CHECK: tile.print "" %[[LAST]], %{{true|cst.*}} :
tile.kernel @ends(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0> : tensor<64xi32>
  %k = arith.constant dense<128> : tensor<64xi32>
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %pid = tile.program_id 0
  %first = arith.muli %pid, %c64 : i32
  %all = tile.splat %first : i32 -> tensor<64xi32>
  %rows = arith.addi %all, %i : tensor<64xi32>
  %low = arith.cmpi sge, %rows, %zeros : tensor<64xi32>
  %m = tile.splat %n : i32 -> tensor<64xi32>
  %high = arith.cmpi slt, %rows, %m : tensor<64xi32>
  %inside = arith.andi %low, %high : tensor<64xi1>
  scf.for %step = %c0 to %c2 step %c1 : i32 {
    %at = arith.muli %step, %c64 : i32
    %start = tile.splat %at : i32 -> tensor<64xi32>
    %ks = arith.addi %start, %i : tensor<64xi32>
    %more = arith.cmpi sle, %zeros, %ks : tensor<64xi32>
    %less = arith.cmpi slt, %ks, %k : tensor<64xi32>
    %both = arith.andi %more, %less : tensor<64xi1>
    tile.print "" %inside, %both : tensor<64xi1>, tensor<64xi1>
  }
  tile.return
}

// The remainder of a loop's range in an iteration is not empty, if the loop begins at zero or more.
// CHECK-LABEL: tile.kernel @rest
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.if
tile.kernel @rest(%n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %left = arith.subi %n, %i : i32
    %rows = arith.minsi %left, %c64 : i32
    %any = arith.cmpi sgt, %rows, %c0 : i32
    scf.if %any {
      tile.print "" %rows : i32
    }
  }
  scf.for %i = %m to %n step %c64 : i32 {
    %left = arith.subi %n, %i : i32
    %any = arith.cmpi sgt, %left, %c0 : i32
    scf.if %any {
      tile.print "" %left : i32
    }
  }
  tile.return
}

// A parameter may be negative, and three steps reach beyond the end.
// CHECK-LABEL: tile.kernel @negative_open
// CHECK: arith.cmpi sge
// CHECK: scf.for
// CHECK: arith.cmpi slt
tile.kernel @negative_open(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0> : tensor<64xi32>
  %k = arith.constant dense<128> : tensor<64xi32>
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %all = tile.splat %n : i32 -> tensor<64xi32>
  %rows = arith.addi %all, %i : tensor<64xi32>
  %low = arith.cmpi sge, %rows, %zeros : tensor<64xi32>
  tile.print "" %low : tensor<64xi1>
  scf.for %step = %c0 to %c3 step %c1 : i32 {
    %at = arith.muli %step, %c64 : i32
    %start = tile.splat %at : i32 -> tensor<64xi32>
    %ks = arith.addi %start, %i : tensor<64xi32>
    %less = arith.cmpi slt, %ks, %k : tensor<64xi32>
    tile.print "" %less : tensor<64xi1>
  }
  tile.return
}

// Values that fit in 32 bits are compared as such; those that may have more are not.
// CHECK-LABEL: tile.kernel @narrow
// CHECK: %[[PID:.*]] = tile.program_id 1
// CHECK: %[[WIDE:.*]] = arith.muli %[[PID]], %{{.*}} : i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi64>
tile.kernel @narrow(%n: i32) {
  %c64 = arith.constant 64 : i64
  %i = tile.arange 0 to 64 : tensor<64xi32>
  %offsets = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %size = arith.extsi %n : i32 to i64
  %end = tile.splat %size : i64 -> tensor<64xi64>
  %outer = tile.program_id 1
  %outer_wide = arith.extsi %outer : i32 to i64
  %outer_first = arith.muli %outer_wide, %c64 : i64
  %outer_all = tile.splat %outer_first : i64 -> tensor<64xi64>
  %rows = arith.addi %outer_all, %offsets : tensor<64xi64>
  %inside = arith.cmpi slt, %rows, %end : tensor<64xi64>
  tile.print "" %inside : tensor<64xi1>
  %inner = tile.program_id 0
  %inner_wide = arith.extsi %inner : i32 to i64
  %inner_first = arith.muli %inner_wide, %c64 : i64
  %inner_all = tile.splat %inner_first : i64 -> tensor<64xi64>
  %columns = arith.addi %inner_all, %offsets : tensor<64xi64>
  %below = arith.cmpi slt, %columns, %end : tensor<64xi64>
  tile.print "" %below : tensor<64xi1>
  tile.return
}

// A value that is not stored need not be selected, although a sum needs it; it is if the selection is kept for another use.
// CHECK-LABEL: tile.kernel @stored
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[X:.*]], %
// CHECK: tile.reduce %[[S]]
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: tile.store %{{.*}}, %[[Y]] mask
// CHECK: %[[T:.*]] = arith.select
// CHECK: tile.print "" %[[T]] :
// CHECK: %[[Z:.*]] = arith.addf %[[T]], %[[T]]
// CHECK: tile.store %{{.*}}, %[[Z]] mask
tile.kernel @stored(%base: !tile.ptr<f32>, %condition: i1, %number: f32) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %m = tile.splat %condition : i1 -> tensor<64xi1>
  %x = tile.splat %number : f32 -> tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %s = arith.select %m, %x, %zero : tensor<64xi1>, tensor<64xf32>
  %sum = tile.reduce %s {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %sum : f32
  %y = arith.addf %s, %s : tensor<64xf32>
  tile.store %p, %y mask %m : tensor<64x!tile.ptr<f32>>
  %t = arith.select %m, %x, %zero : tensor<64xi1>, tensor<64xf32>
  tile.print "" %t : tensor<64xf32>
  %z = arith.addf %t, %t : tensor<64xf32>
  tile.store %p, %z mask %m : tensor<64x!tile.ptr<f32>>
  tile.return
}

// A value from which addresses are computed is not negative, since it does not overflow: its quotient is a shift. A
// value that is only printed may overflow, and a difference may be negative.
// CHECK-LABEL: tile.kernel @quotients
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK-COUNT-2: arith.remsi
tile.kernel @quotients(%base: !tile.ptr<f32>) {
  %c64 = arith.constant 64 : i32
  %four = arith.constant dense<4> : tensor<64xi32>
  %offsets = tile.arange 0 to 64 : tensor<64xi32>
  %id = tile.program_id 0
  %first = arith.muli %id, %c64 : i32
  %all = tile.splat %first : i32 -> tensor<64xi32>
  %i = arith.addi %all, %offsets : tensor<64xi32>
  %ps = tile.splat %base : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %group = arith.divsi %i, %four : tensor<64xi32>
  %p = tile.addptr %ps, %group : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %p : tensor<64x!tile.ptr<f32>>
  %rest = arith.remsi %i, %four : tensor<64xi32>
  tile.print "" %x : tensor<64xf32>
  tile.print "" %rest : tensor<64xi32>
  %difference = arith.subi %i, %four : tensor<64xi32>
  %before = arith.remsi %difference, %four : tensor<64xi32>
  %q = tile.addptr %ps, %before : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %y = tile.load %q : tensor<64x!tile.ptr<f32>>
  tile.print "" %y : tensor<64xf32>
  %hash = arith.muli %i, %i : tensor<64xi32>
  %bucket = arith.remsi %hash, %four : tensor<64xi32>
  tile.print "" %bucket : tensor<64xi32>
  tile.return
}
