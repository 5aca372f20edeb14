// Reductions: a tree over the registers of a thread, a butterfly over the lanes along the axis.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#one_a_lane = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

// Integers of all lanes of a warp are combined by one instruction.
// CHECK-LABEL: llvm.func @integers
// CHECK-NOT: nvvm.shfl
// CHECK: nvvm.redux.sync add
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: nvvm.redux.sync max
// CHECK: arith.trunci %{{.*}} : i32 to i8
tile.kernel @integers(%p: !tile.ptr<i32>, %q: !tile.ptr<i8>) attributes {num_warps = 1 : i32} {
  %x = tile.arange 0 to 32 : tensor<32xi32, #one_a_lane>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<32xi32, #one_a_lane> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %p, %s : !tile.ptr<i32>
  %y = arith.trunci %x : tensor<32xi32, #one_a_lane> to tensor<32xi8, #one_a_lane>
  %m = tile.reduce %y {axis = 0 : i32} : tensor<32xi8, #one_a_lane> -> i8 {
  ^bb0(%a: i8, %b: i8):
    %c = arith.maxsi %a, %b : i8
    tile.yield %c : i8
  }
  tile.store %q, %m : !tile.ptr<i8>
  tile.return
}

#x = #cta.layout<[4, 64], register = [[0, 1], [0, 32], [1, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 0]], warp = [[2, 0]]>
#row = #cta.layout<[4], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[2]]>
#v = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>
#partial = #cta.layout<[2, 64], register = [[0, 1], [0, 32]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 0]], warp = [[1, 0]]>

// CHECK-LABEL: llvm.func @sum
tile.kernel @sum(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x64x!tile.ptr<f32>, #x>
  %x = tile.load %ps : tensor<4x64x!tile.ptr<f32>, #x>
  // Two rows per thread, each with 3 additions for 4 registers, then 4 lane bits; lane bit 4 only repeats.
  // CHECK-COUNT-3: arith.addf
  // CHECK-NEXT: arith.constant
  // A sum over lanes is never contracted with a product of one of them.
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: llvm.inline_asm {{.*}}"add.rn.f32 $0, $1, $2;"
  // CHECK-COUNT-3: nvvm.shfl.sync bfly
  // CHECK-COUNT-3: arith.addf
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  %s = tile.reduce %x {axis = 1 : i32} : tensor<4x64xf32, #x> -> tensor<4xf32, #row> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>, #row>
  // CHECK: llvm.inline_asm
  tile.store %qs, %s : tensor<4x!tile.ptr<f32>, #row>
  tile.return
}

// Several operands and a scalar result: every thread has it. 16 bits travel as 32, 64 bits as twice 32.
// CHECK-LABEL: llvm.func @argmax
tile.kernel @argmax(%p: !tile.ptr<f16>, %q: !tile.ptr<i64>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x!tile.ptr<f16>, #v>
  %x = tile.load %ps : tensor<32x!tile.ptr<f16>, #v>
  %r = tile.arange 0 to 32 : tensor<32xi32, #v>
  %i = arith.extsi %r : tensor<32xi32, #v> to tensor<32xi64, #v>
  // CHECK-COUNT-15: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  // CHECK-COUNT-3: nvvm.shfl.sync idx {{.*}} : i32 -> i32
  // CHECK-NOT: nvvm.shfl.sync
  %m, %mi = tile.reduce %x, %i {axis = 0 : i32} : tensor<32xf16, #v>, tensor<32xi64, #v> -> f16, i64 {
  ^bb0(%a: f16, %ai: i64, %b: f16, %bi: i64):
    %greater = arith.cmpf ogt, %a, %b : f16
    %value = arith.select %greater, %a, %b : f16
    %index = arith.select %greater, %ai, %bi : i64
    tile.yield %value, %index : f16, i64
  }
  tile.store %q, %mi : !tile.ptr<i64>
  tile.return
}

// Warps reduce separately: rows 0 and 1 in one, 2 and 3 in the other.
// CHECK-LABEL: llvm.func @partial
tile.kernel @partial(%p: !tile.ptr<f32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x64x!tile.ptr<f32>, #x>
  %x = tile.load %ps : tensor<4x64x!tile.ptr<f32>, #x>
  // CHECK-COUNT-4: arith.maxnumf
  // CHECK-NOT: nvvm.shfl.sync
  %s = cta.partial_reduce %x {axis = 0 : i32} : tensor<4x64xf32, #x> -> tensor<2x64xf32, #partial> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

// Pairs that may come in either order need only the exchange of each step. The lowest lane combines the first ones in
// the order of lanes, and all others get the result from it.
// CHECK-LABEL: llvm.func @left_of_equals
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-5: arith.select
// CHECK-NOT: arith.select
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK-LABEL: llvm.func @either_order
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-10: arith.select
// CHECK-NOT: arith.select
// CHECK: llvm.return
tile.kernel @left_of_equals(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #v>
  %x = tile.load %ps : tensor<32x!tile.ptr<f32>, #v>
  %r = tile.arange 0 to 32 : tensor<32xi32, #v>
  %m, %mi = tile.reduce %x, %r {axis = 0 : i32} : tensor<32xf32, #v>, tensor<32xi32, #v> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %value = arith.maxnumf %a, %b : f32
    %is_left = arith.cmpf oeq, %a, %value : f32
    %index = arith.select %is_left, %ai, %bi : i32
    tile.yield %value, %index : f32, i32
  }
  tile.store %q, %mi : !tile.ptr<i32>
  tile.return
}
tile.kernel @either_order(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #v>
  %x = tile.load %ps : tensor<32x!tile.ptr<f32>, #v>
  %r = tile.arange 0 to 32 : tensor<32xi32, #v>
  %m, %mi = tile.reduce %x, %r {axis = 0 : i32} : tensor<32xf32, #v>, tensor<32xi32, #v> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %value = arith.maxnumf %a, %b : f32
    %is_left = arith.cmpf oeq, %a, %value : f32
    %is_right = arith.cmpf oeq, %b, %value : f32
    %only_one = arith.cmpi ne, %is_left, %is_right : i1
    %tied = arith.minsi %ai, %bi : i32
    %one = arith.select %is_left, %ai, %bi : i32
    %index = arith.select %only_one, %one, %tied : i32
    tile.yield %value, %index : f32, i32
  }
  tile.store %q, %mi : !tile.ptr<i32>
  tile.return
}

// Products are added one after the other: each sum but the last has a product on its right.
// CHECK-LABEL: llvm.func @multiplications
// CHECK-COUNT-4: arith.mulf
// CHECK: %[[ONE:.*]] = arith.addf
// CHECK-NEXT: %[[TWO:.*]] = arith.addf %[[ONE]], %
// CHECK-NEXT: arith.addf %[[TWO]], %
#r = #cta.layout<[128], register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>
tile.kernel @multiplications(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #r>
  %x = tile.load %ps : tensor<128x!tile.ptr<f32>, #r>
  %squares = arith.mulf %x, %x : tensor<128xf32, #r>
  %s = tile.reduce %squares {axis = 0 : i32} : tensor<128xf32, #r> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %q, %s : !tile.ptr<f32>
  tile.return
}

// Counts of which each thread knows the same constant are neither exchanged nor divided by.
// CHECK-LABEL: llvm.func @counts
// CHECK-NOT: div
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: bfly
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.return
tile.kernel @counts(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {num_warps = 1 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #one_a_lane>
  %x = tile.load %ps : tensor<32x!tile.ptr<f32>, #one_a_lane>
  %ones = arith.constant dense<1.0> : tensor<32xf32, #one_a_lane>
  %mean, %n = tile.reduce %x, %ones {axis = 0 : i32} : tensor<32xf32, #one_a_lane>, tensor<32xf32, #one_a_lane> -> f32, f32 {
  ^bb0(%a: f32, %an: f32, %b: f32, %bn: f32):
    %both = arith.addf %an, %bn : f32
    %part = arith.divf %bn, %both : f32
    %difference = arith.subf %b, %a : f32
    %change = arith.mulf %difference, %part : f32
    %new = arith.addf %a, %change : f32
    tile.yield %new, %both : f32, f32
  }
  %sum = arith.mulf %mean, %n : f32
  tile.store %q, %sum : !tile.ptr<f32>
  tile.return
}
