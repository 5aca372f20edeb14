// Shape changes and register permutations rename registers: no instruction.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#column = #cta.layout<[32, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#vector = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#matrix = #cta.layout<[32, 4], register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#swapped = #cta.layout<[32, 4], register = [[0, 2], [0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#transposed = #cta.layout<[4, 32], register = [[2, 0], [1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#flat = #cta.layout<[128], register = [[64], [32]], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK-LABEL: llvm.func @renamed(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
tile.kernel @renamed(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 32 : tensor<32xi32, #vector>
  %e = tile.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #vector> -> tensor<32x1xi32, #column>
  %b = tile.broadcast %e : tensor<32x1xi32, #column> -> tensor<32x4xi32, #matrix>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x4x!tile.ptr<i32>, #matrix>
  %pr = tile.addptr %ps, %b : tensor<32x4x!tile.ptr<i32>, #matrix>, tensor<32x4xi32, #matrix>
  // Registers 0, 1, 2, 3 of #matrix hold columns 0, 1, 2, 3.
  // CHECK: %[[A:.*]] = llvm.load
  // CHECK: %[[B:.*]] = llvm.load
  // CHECK: %[[C:.*]] = llvm.load
  // CHECK: %[[D:.*]] = llvm.load
  %x = tile.load %pr {isVolatile} : tensor<32x4x!tile.ptr<i32>, #matrix>
  %s = cta.convert_layout %x : tensor<32x4xi32, #matrix> -> tensor<32x4xi32, #swapped>
  %t = tile.trans %s {order = array<i32: 1, 0>} : tensor<32x4xi32, #swapped> -> tensor<4x32xi32, #transposed>
  %f = tile.reshape %t : tensor<4x32xi32, #transposed> -> tensor<128xi32, #flat>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #flat>
  // In #flat, register 1 holds row 2 of the transposed matrix: column 2.
  // CHECK: st.global.cs.b32 {{.*}}, %[[A]] :
  // CHECK: st.global.cs.b32 {{.*}}, %[[C]] :
  // CHECK: st.global.cs.b32 {{.*}}, %[[B]] :
  // CHECK: st.global.cs.b32 {{.*}}, %[[D]] :
  tile.store %qs, %f {cache = #tile<cache cs>} : tensor<128x!tile.ptr<i32>, #flat>
  tile.return
}

// Elements in another register of the same lane are renamed; elements of another lane arrive by a shuffle of that register.
// CHECK-LABEL: llvm.func @butterfly
// CHECK: %[[A:.*]] = llvm.load
// CHECK: %[[B:.*]] = llvm.load
// CHECK: %[[C:.*]] = llvm.load
// CHECK: %[[D:.*]] = llvm.load
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: nvvm.shfl.sync bfly {{.*}}, %[[C]], %[[TWO]]
// CHECK: nvvm.shfl.sync bfly {{.*}}, %[[D]],
// CHECK: nvvm.shfl.sync bfly {{.*}}, %[[A]],
// CHECK: nvvm.shfl.sync bfly {{.*}}, %[[B]],
tile.kernel @butterfly(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 128 : tensor<128xi32, #flat>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<128x!tile.ptr<i32>, #flat>
  %pr = tile.addptr %ps, %r : tensor<128x!tile.ptr<i32>, #flat>, tensor<128xi32, #flat>
  %x = tile.load %pr {isVolatile} : tensor<128x!tile.ptr<i32>, #flat>
  // In #flat, 32 is register 2 and 2 is lane 2.
  %y = tile.butterfly %x {axis = 0 : i32, distance = 34 : i32} : tensor<128xi32, #flat>
  tile.store %ps, %y : tensor<128x!tile.ptr<i32>, #flat>
  tile.return
}
