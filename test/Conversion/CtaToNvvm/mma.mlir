// mma.sync for each operand type: one instruction for each 16x8 tile of a warp and each step of k.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#a_f16 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_f16 = #cta.layout<[32, 32], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_f16 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>
#a_bf16 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_bf16 = #cta.layout<[32, 32], register = [[1, 0], [0, 8], [8, 0], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_bf16 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>
#a_tf32 = #cta.layout<[32, 32], register = [[8, 0], [0, 4], [0, 8], [0, 16], [16, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_tf32 = #cta.layout<[32, 32], register = [[4, 0], [0, 8], [8, 0], [16, 0]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_tf32 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>
#a_s8 = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16], [16, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_s8 = #cta.layout<[32, 32], register = [[1, 0], [2, 0], [16, 0], [0, 8]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_s8 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>
#a_f8 = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16], [16, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_f8 = #cta.layout<[32, 32], register = [[1, 0], [2, 0], [16, 0], [0, 8]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_f8 = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>
#a_f16acc = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b_f16acc = #cta.layout<[32, 32], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16]]>
#acc_f16acc = #cta.layout<[32, 32], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16]]>

// CHECK-LABEL: llvm.func @f16
tile.kernel @f16(%p: !tile.ptr<f16>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #a_f16>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<f16>, #a_f16>
  %qs = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #b_f16>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<f16>, #b_f16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32, #acc_f16>
  // CHECK-COUNT-8: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
  // CHECK-NOT: nvvm.mma.sync
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>}
     : tensor<32x32xf16, #a_f16>, tensor<32x32xf16, #b_f16> -> tensor<32x32xf32, #acc_f16>
  %rs = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #a_f16>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<f16>, #a_f16>
  tile.return
}

// CHECK-LABEL: llvm.func @f16acc
tile.kernel @f16acc(%p: !tile.ptr<f16>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #a_f16acc>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<f16>, #a_f16acc>
  %qs = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #b_f16acc>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<f16>, #b_f16acc>
  %c = arith.constant dense<0.0> : tensor<32x32xf16, #acc_f16acc>
  // CHECK-COUNT-8: nvvm.mma.sync {{.*}} : (vector<2xf16>, vector<2xf16>, vector<2xf16>)
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>}
     : tensor<32x32xf16, #a_f16acc>, tensor<32x32xf16, #b_f16acc> -> tensor<32x32xf16, #acc_f16acc>
  %rs = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #a_f16acc>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<f16>, #a_f16acc>
  tile.return
}

// CHECK-LABEL: llvm.func @bf16
tile.kernel @bf16(%p: !tile.ptr<bf16>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<32x32x!tile.ptr<bf16>, #a_bf16>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<bf16>, #a_bf16>
  %qs = tile.splat %p : !tile.ptr<bf16> -> tensor<32x32x!tile.ptr<bf16>, #b_bf16>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<bf16>, #b_bf16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32, #acc_bf16>
  // CHECK-COUNT-16: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}k = 8>
  // CHECK-NOT: nvvm.mma.sync
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 8>}
     : tensor<32x32xbf16, #a_bf16>, tensor<32x32xbf16, #b_bf16> -> tensor<32x32xf32, #acc_bf16>
  %rs = tile.splat %p : !tile.ptr<bf16> -> tensor<32x32x!tile.ptr<bf16>, #a_bf16>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<bf16>, #a_bf16>
  tile.return
}

// CHECK-LABEL: llvm.func @tf32
tile.kernel @tf32(%p: !tile.ptr<f32>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #a_tf32>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<f32>, #a_tf32>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #b_tf32>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<f32>, #b_tf32>
  %c = arith.constant dense<0.0> : tensor<32x32xf32, #acc_tf32>
  // The instruction ignores the low bits of f32 operands.
  // CHECK-NOT: nvvm.convert
  // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}k = 8>
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 8>}
     : tensor<32x32xf32, #a_tf32>, tensor<32x32xf32, #b_tf32> -> tensor<32x32xf32, #acc_tf32>
  %rs = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #a_tf32>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<f32>, #a_tf32>
  tile.return
}

// CHECK-LABEL: llvm.func @s8
tile.kernel @s8(%p: !tile.ptr<i8>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<32x32x!tile.ptr<i8>, #a_s8>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<i8>, #a_s8>
  %qs = tile.splat %p : !tile.ptr<i8> -> tensor<32x32x!tile.ptr<i8>, #b_s8>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<i8>, #b_s8>
  %c = arith.constant dense<0> : tensor<32x32xi32, #acc_s8>
  // CHECK-COUNT-4: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}k = 32>
  // CHECK-NOT: nvvm.mma.sync
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 32>}
     : tensor<32x32xi8, #a_s8>, tensor<32x32xi8, #b_s8> -> tensor<32x32xi32, #acc_s8>
  %rs = tile.splat %p : !tile.ptr<i8> -> tensor<32x32x!tile.ptr<i8>, #a_s8>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<i8>, #a_s8>
  tile.return
}

// CHECK-LABEL: llvm.func @f8
tile.kernel @f8(%p: !tile.ptr<f8E4M3FN>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f8E4M3FN> -> tensor<32x32x!tile.ptr<f8E4M3FN>, #a_f8>
  %a = tile.load %ps : tensor<32x32x!tile.ptr<f8E4M3FN>, #a_f8>
  %qs = tile.splat %p : !tile.ptr<f8E4M3FN> -> tensor<32x32x!tile.ptr<f8E4M3FN>, #b_f8>
  %b = tile.load %qs : tensor<32x32x!tile.ptr<f8E4M3FN>, #b_f8>
  %c = arith.constant dense<0.0> : tensor<32x32xf32, #acc_f8>
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"
  // CHECK-NOT: llvm.nvvm.mma
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 32>}
     : tensor<32x32xf8E4M3FN, #a_f8>, tensor<32x32xf8E4M3FN, #b_f8> -> tensor<32x32xf32, #acc_f8>
  %rs = tile.splat %p : !tile.ptr<f8E4M3FN> -> tensor<32x32x!tile.ptr<f8E4M3FN>, #a_f8>
  tile.store %rs, %a : tensor<32x32x!tile.ptr<f8E4M3FN>, #a_f8>
  tile.return
}
