// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-distribute-programs{several=false}))' | FileCheck %s
// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-distribute-programs))' | FileCheck %s --check-prefix=GRID

// A causal mask: rows of block `x` see columns up to its last one. Two iterations more from one program to the next; the
// second loop has as many in all of them. Programs of other axes keep their order.
// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: uneven
// CHECK: tile.program_id 0 descending
// CHECK: tile.program_id 1{{$}}
// CHECK: tile.program_id 0 descending
// GRID-LABEL: tile.kernel @causal
// GRID-NOT: tile.grid_size
// GRID: tile.program_id 0 descending
tile.kernel @causal(%s: i32, %d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %first = arith.muli %x, %c128 : i32
  %end = arith.addi %first, %c128 : i32
  %seen = arith.minsi %end, %s : i32
  %more = arith.addi %seen, %c63 : i32
  %blocks = arith.divsi %more, %c64 : i32
  scf.for %i = %c0 to %blocks step %c1 : i32 {
    %v = tile.desc_load %d[%i] : !tile.desc<64xf16> -> tensor<64xf16>
    %use1 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  }
  scf.for %i = %first to %end step %c64 : i32 {
    %use2 = tile.inline_asm "// y", "=r,r" pack 1(%y) : (i32) -> i32
  }
  %again = tile.program_id 0
  %use3 = tile.inline_asm "// again", "=r,r" pack 1(%again) : (i32) -> i32
  tile.return
}

// -----

// The first programs are the longest, so the order does not change.
// CHECK-LABEL: tile.kernel @backward
// CHECK-SAME: uneven
// CHECK-NOT: descending
tile.kernel @backward(%s: i32) {
  %c64 = arith.constant 64 : i32
  %x = tile.program_id 1
  %first = arith.muli %x, %c64 : i32
  scf.for %i = %first to %s step %c64 : i32 {
    %use4 = tile.inline_asm "// i", "=r,r" pack 1(%i) : (i32) -> i32
  }
  tile.return
}

// -----

// A loop that distributes work, one that has the same length in all programs, and one whose length depends on another
// number: no gain is known.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: uneven
// CHECK-NOT: descending
// GRID-LABEL: tile.kernel @others
// GRID-SAME: tile.grid_size
tile.kernel @others(%tiles: i32, %stride: i32, %d: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "arg0", shape = ["5"]>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c132 = arith.constant 132 : i32
  %x = tile.program_id 0
  scf.for %tile = %x to %tiles step %c132 : i32 {
    %v = tile.desc_load %d[%tile] : !tile.desc<64xf16> -> tensor<64xf16>
    %use5 = tile.inline_asm "// v", "=h,h" pack 1(%v) : (tensor<64xf16>) -> tensor<64xf16>
  }
  %end = arith.muli %x, %stride : i32
  scf.for %i = %c0 to %end step %c1 : i32 {
    %use6 = tile.inline_asm "// i", "=r,r" pack 1(%i) : (i32) -> i32
  }
  tile.return
}

// -----

// Programs wait for earlier programs, which must start first.
// CHECK-LABEL: tile.kernel @waits
// CHECK-SAME: uneven
// CHECK-NOT: descending
tile.kernel @waits(%flag: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<1xi32>
  %x = tile.program_id 0
  scf.for %i = %c0 to %x step %c1 : i32 {
    %use7 = tile.inline_asm "// i", "=r,r" pack 1(%i) : (i32) -> i32
  }
  %place = tile.splat %flag : !tile.ptr<i32> -> tensor<1x!tile.ptr<i32>>
  scf.while : () -> () {
    %seen = tile.atomic_rmw add acquire gpu %place, %zero : tensor<1x!tile.ptr<i32>>
    %turn = tile.reduce %seen {axis = 0 : i32} : tensor<1xi32> -> i32 {
    ^bb0(%a: i32, %b: i32):
      tile.yield %a : i32
    }
    %waits = arith.cmpi ne, %turn, %x : i32
    scf.condition(%waits)
  } do {
    scf.yield
  }
  tile.return
}
