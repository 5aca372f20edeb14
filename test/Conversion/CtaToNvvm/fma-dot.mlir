// FMA dots: each thread loads rows and columns a few k at a time, in vectors where they are contiguous.
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

#large = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 32], [32, 0], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [4, 0], [8, 0]], warp = []>
#la = #cta.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#lb = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]]>

// 128 elements of a thread times 128 k: 16 k at a time, in a loop.
// CHECK-LABEL: llvm.func @large
tile.kernel @large() attributes {num_warps = 1 : i32, shared_bytes = 65536 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x128xf32, #la>
  %b = cta.alloc at 32768 : !cta.buffer<128x64xf32, #lb>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #large>
  // CHECK: scf.for
  // CHECK-COUNT-2048: math.fma
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  %d = cta.fma_dot %a, %b, %c : !cta.buffer<64x128xf32, #la>, !cta.buffer<128x64xf32, #lb> -> tensor<64x64xf32, #large>
  tile.return
}
