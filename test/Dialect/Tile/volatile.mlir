// Volatile reads are neither merged nor removed, nor is a loop that only waits for one.
// RUN: tile-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: tile.kernel @reads
// CHECK-COUNT-2: tile.load %arg0 volatile
// CHECK: tile.load %arg1 :
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @reads(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) {
  %a = tile.load %p volatile : !tile.ptr<i32>
  %b = tile.load %p volatile : !tile.ptr<i32>
  %c = tile.load %q : !tile.ptr<i32>
  %d = tile.load %q : !tile.ptr<i32>
  %sum = arith.addi %c, %d : i32
  tile.store %q, %sum : !tile.ptr<i32>
  tile.return
}

// CHECK-LABEL: tile.kernel @waits
// CHECK: scf.while
// CHECK: tile.load %arg0 volatile
tile.kernel @waits(%flag: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %v = tile.load %flag volatile : !tile.ptr<i32>
    %waits = arith.cmpi eq, %v, %zero : i32
    scf.condition(%waits)
  } do {
    scf.yield
  }
  tile.return
}
