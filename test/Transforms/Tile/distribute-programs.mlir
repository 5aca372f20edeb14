// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-distribute-programs))' | FileCheck %s

// The launcher passes the grid after the tensor maps; queries of the grid use these arguments, also in control
// flow.
// CHECK-LABEL: tile.kernel @programs(
// CHECK-SAME: %[[X:[^:]*]]: i32 {tile.grid_size = 0 : i32}, %[[Y:[^:]*]]: i32 {tile.grid_size = 1 : i32}, %[[Z:[^:]*]]: i32 {tile.grid_size = 2 : i32})
// CHECK-NEXT: tile.programs (%[[IDX:.*]], %[[IDY:.*]], %[[IDZ:.*]], %{{.*}}) in (%[[X]], %[[Y]], %[[Z]]) #tile.work<order = grid> {
// CHECK-NEXT: %{{.*}} = tile.inline_asm "// ids"{{.*}}(%[[IDX]], %[[IDZ]])
// CHECK-NEXT: scf.if
// CHECK-NEXT: %{{.*}} = tile.inline_asm "// inside"{{.*}}(%[[IDY]], %[[Y]], %[[X]])
// CHECK: tile.desc_load %{{.*}}[%[[IDX]]]
// CHECK: }
// CHECK-NEXT: tile.return
tile.kernel @programs(%a: !tile.ptr<f16>, %c: i1, %d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %x = tile.program_id 0
  %z = tile.program_id 2
  %use1 = tile.inline_asm "// ids", "=r,r,r" pack 1(%x, %z) : (i32, i32) -> i32
  scf.if %c {
    %y = tile.program_id 1
    %rows = tile.num_programs 1
    %columns = tile.num_programs 0
    %use2 = tile.inline_asm "// inside", "=r,r,r,r" pack 1(%y, %rows, %columns) : (i32, i32, i32) -> i32
  }
  %v = tile.desc_load %d[%x] : !tile.desc<64xf16> -> tensor<64xf16>
  %use3 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  tile.return
}

// The program's own order becomes the order of the work.
// CHECK-LABEL: tile.kernel @ordered(
// CHECK: tile.programs (%[[I:.*]], %[[J:.*]], %[[Z:.*]], %{{.*}}) in ({{.*}}) #tile.work<order = swizzle2d, group = 8>
// CHECK-NOT: tile.swizzle2d
// CHECK: tile.inline_asm "// place"{{.*}}(%[[I]], %[[J]], %[[Z]])
tile.kernel @ordered(%d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %c8_i32 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %z = tile.program_id 2
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %x, %y, %rows, %columns, %c8_i32
  %use4 = tile.inline_asm "// place", "=r,r,r,r" pack 1(%i, %j, %z) : (i32, i32, i32) -> i32
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  %use5 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  tile.return
}

// A program that needs its position, or whose groups are known only at run time, orders itself; y is
// fastest.
// CHECK-LABEL: tile.kernel @place(
// CHECK: tile.programs (%[[X:.*]], %[[Y:.*]], %{{.*}}, %{{.*}}) in ({{.*}}) #tile.work<order = transposed>
// CHECK: tile.swizzle2d %[[X]], %[[Y]]
tile.kernel @place(%d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %c8_i32 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %x, %y, %rows, %columns, %c8_i32
  %use6 = tile.inline_asm "// x", "=r,r" pack 1(%x) : (i32) -> i32
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  %use7 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  tile.return
}
// CHECK-LABEL: tile.kernel @groups(
// CHECK: tile.programs {{.*}} #tile.work<order = transposed>
// CHECK: tile.swizzle2d
tile.kernel @groups(%group: i32, %d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %x = tile.program_id 0
  %y = tile.program_id 1
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %x, %y, %rows, %columns, %group
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  %use8 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  tile.return
}

// Programs ordered by columns run in the grid's order.
// CHECK-LABEL: tile.kernel @columns(
// CHECK: tile.programs {{.*}} #tile.work<order = grid>
// CHECK: tile.swizzle2d
tile.kernel @columns(%d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %c8_i32 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %rows = tile.num_programs 0
  %columns = tile.num_programs 1
  %i, %j = tile.swizzle2d %y, %x, %columns, %rows, %c8_i32
  %use9 = tile.inline_asm "// place", "=r,r" pack 1(%j) : (i32) -> i32
  %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
  %use10 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  tile.return
}

// Nothing is prefetched.
// CHECK-LABEL: tile.kernel @negative_no_tensor_map(%{{.*}}: !tile.ptr<f16>) attributes
// CHECK-NOT: tile.programs
// CHECK: tile.return
tile.kernel @negative_no_tensor_map(%a: !tile.ptr<f16>) {
  %x = tile.program_id 0
  %use11 = tile.inline_asm "// x", "=r,r" pack 1(%x) : (i32) -> i32
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_persistent(
// CHECK-COUNT-1: tile.programs
// CHECK-NOT: tile.programs
// CHECK: tile.return
tile.kernel @negative_persistent(%n: i32, %d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
    %use12 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  }
  tile.return
}
