// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-make-persistent))' | FileCheck %s

// The launcher passes the grid after the tensor maps; a CTA begins with the program of its own number and goes on by
// the number of CTAs. Programs are numbered with x fastest, also inside of control flow.
// CHECK-LABEL: tile.kernel @programs(
// CHECK-SAME: %[[X:[^:]*]]: i32 {tile.grid_size = 0 : i32}, %[[Y:[^:]*]]: i32 {tile.grid_size = 1 : i32}, %[[Z:[^:]*]]: i32 {tile.grid_size = 2 : i32})
// CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[COUNT:.*]] = arith.muli %[[XY]], %[[Z]]
// CHECK: %[[FIRST:.*]] = tile.program_id 0
// CHECK: %[[CTAS:.*]] = tile.num_programs 0
// CHECK: scf.for %[[P:.*]] = %[[FIRST]] to %[[COUNT]] step %[[CTAS]]
// CHECK-NEXT: %[[IDX:.*]] = arith.remui %[[P]], %[[X]]
// CHECK-NEXT: %[[ROW:.*]] = arith.divui %[[P]], %[[X]]
// CHECK-NEXT: %[[IDY:.*]] = arith.remui %[[ROW]], %[[Y]]
// CHECK-NEXT: %[[IDZ:.*]] = arith.divui %[[ROW]], %[[Y]]
// CHECK-NOT: tile.program_id
// CHECK-NOT: tile.num_programs
// CHECK: tile.print "ids" %[[IDX]], %[[IDZ]]
// CHECK: scf.if
// CHECK-NEXT: tile.print "inside" %[[IDY]], %[[Y]], %[[X]]
// CHECK: tile.return
tile.kernel @programs(%a: !tile.ptr<f16>, %c: i1, %d: !tile.desc<64xf16> {tile.tensor_map = {base = "arg0", shape = ["5"], strides = []}}) {
  %x = tile.program_id 0
  %z = tile.program_id 2
  tile.print "ids" %x, %z : i32, i32
  scf.if %c {
    %y = tile.program_id 1
    %rows = tile.num_programs 1
    %columns = tile.num_programs 0
    tile.print "inside" %y, %rows, %columns : i32, i32, i32
  }
  %v = tile.desc_load %d[%x] : !tile.desc<64xf16> -> tensor<64xf16>
  tile.print "v" %v : tensor<64xf16>
  tile.return
}

// Programs that order themselves row by row run in that order: y fastest.
// CHECK-LABEL: tile.kernel @ordered(
// CHECK-SAME: %[[X:[^:]*]]: i32 {tile.grid_size = 0 : i32}, %[[Y:[^:]*]]: i32 {tile.grid_size = 1 : i32}, %[[Z:[^:]*]]: i32 {tile.grid_size = 2 : i32})
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: %[[IDY:.*]] = arith.remui %[[P]], %[[Y]]
// CHECK-NEXT: %[[COLUMN:.*]] = arith.divui %[[P]], %[[Y]]
// CHECK-NEXT: %[[IDX:.*]] = arith.remui %[[COLUMN]], %[[X]]
// CHECK-NEXT: %[[IDZ:.*]] = arith.divui %[[COLUMN]], %[[X]]
// CHECK: tile.swizzle2d %[[IDX]], %[[IDY]], %[[X]], %[[Y]], %c8_i32
// CHECK: tile.print "z" %[[IDZ]]
tile.kernel @ordered(%d: !tile.desc<64xf16> {tile.tensor_map = {base = "arg0", shape = ["5"], strides = []}}) {
  %c8_i32 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %z = tile.program_id 2
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %x, %y, %rows, %columns, %c8_i32
  tile.print "z" %z : i32
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  tile.print "v" %v : tensor<64xf16>
  tile.return
}

// Ordered column by column, they run in the grid's order.
// CHECK-LABEL: tile.kernel @columns(
// CHECK-SAME: %[[X:[^:]*]]: i32 {tile.grid_size = 0 : i32}
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK-NEXT: arith.remui %[[P]], %[[X]]
tile.kernel @columns(%d: !tile.desc<64xf16> {tile.tensor_map = {base = "arg0", shape = ["5"], strides = []}}) {
  %c8_i32 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %y, %x, %columns, %rows, %c8_i32
  tile.print "place" %j : i32
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  tile.print "v" %v : tensor<64xf16>
  tile.return
}

// Nothing is copied ahead.
// CHECK-LABEL: tile.kernel @negative_no_tensor_map(%{{.*}}: !tile.ptr<f16>) attributes
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @negative_no_tensor_map(%a: !tile.ptr<f16>) {
  %x = tile.program_id 0
  tile.print "x" %x : i32
  tile.return
}
