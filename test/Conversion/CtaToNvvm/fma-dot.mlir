// Scalar products: each thread loads rows and columns a few k at a time, in vectors where they are contiguous.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#acc = #cta.layout<[16, 16], register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0]], warp = [[8, 0]]>
#a = #cta.layout<[16, 8], offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]>
#b = #cta.layout<[8, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]>

// CHECK-LABEL: llvm.func @f32
tile.kernel @f32(%p: !tile.ptr<f32>) attributes {num_warps = 2 : i32, shared_bytes = 1024 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<16x8xf32, #a>
  %b = cta.alloc at 512 : !cta.buffer<8x16xf32, #b>
  %c = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  // Two rows of A, 4 k at a time; two neighbouring columns of B for each k.
  // CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xi32>
  // CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xi32>
  // CHECK-COUNT-16: math.fma
  // CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xi32>
  // CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xi32>
  // CHECK-COUNT-16: math.fma
  // CHECK-NOT: math.fma
  %d = cta.fma_dot %a, %b, %c : !cta.buffer<16x8xf32, #a>, !cta.buffer<8x16xf32, #b> -> tensor<16x16xf32, #acc>
  tile.return
}

// CHECK-LABEL: llvm.func @i8
tile.kernel @i8() attributes {num_warps = 2 : i32, shared_bytes = 1024 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<16x8xi8, #a>
  %b = cta.alloc at 512 : !cta.buffer<8x16xi8, #b>
  %c = arith.constant dense<0> : tensor<16x16xi32, #acc>
  // CHECK: arith.extsi
  // CHECK-COUNT-32: arith.muli {{.*}} : i32
  %d = cta.fma_dot %a, %b, %c : !cta.buffer<16x8xi8, #a>, !cta.buffer<8x16xi8, #b> -> tensor<16x16xi32, #acc>
  tile.return
}
