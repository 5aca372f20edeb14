// RUN: tile-opt %s | tile-opt | FileCheck %s

// One warp and one m16n8k16 instruction; PTX ISA, "Matrix Fragments for mma.m16n8k16".
#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[16, 8], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#s = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>
#d = #cta.layout<[16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>

// 64-byte and 128-byte swizzles, and the accumulator of one warp group.
#wa = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#wb = #cta.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
#wc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @k() attributes {num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  // CHECK: cta.mma_sync %{{.*}}, %{{.*}}, %{{.*}} {shape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #{{.*}}>, tensor<16x8xf16, #{{.*}}> -> tensor<16x8xf32, #{{.*}}>
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>}
     : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #c>

  %x = cta.alloc : !cta.buffer<16x16xf32, #s>
  %y = cta.alloc : !cta.buffer<16x16xf32, #s>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #d>
  // CHECK: cta.fma_dot %{{.*}}, %{{.*}}, %{{.*}} : <16x16xf32, #{{.*}}>, <16x16xf32, #{{.*}}> -> tensor<16x16xf32, #{{.*}}>
  %e = cta.fma_dot %x, %y, %z : !cta.buffer<16x16xf32, #s>, !cta.buffer<16x16xf32, #s> -> tensor<16x16xf32, #d>
  tile.return
}

// CHECK: tile.kernel @warp_groups(%[[C:.*]]: i1)
tile.kernel @warp_groups(%c: i1) {
  %a = cta.alloc : !cta.buffer<64x32xf16, #wa>
  %b = cta.alloc : !cta.buffer<32x64xf16, #wb>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #wc>
  // CHECK: %[[D:.*]], %{{.*}} = cta.wgmma %{{.*}}, %{{.*}}, %{{.*}} {n = 64 : i32} : !cta.buffer<64x32xf16, #{{.*}}>, <32x64xf16, #{{.*}}> -> tensor<64x64xf32, #[[ACC:.*]]>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x32xf16, #wa>, !cta.buffer<32x64xf16, #wb> -> tensor<64x64xf32, #wc>
  // CHECK: %[[E:.*]], %[[T:.*]] = cta.wgmma %{{.*}}, %{{.*}}, %[[D]] if %[[C]] {n = 64 : i32}
  %e, %e_t = cta.wgmma %a, %b, %d if %c {n = 64 : i32} : !cta.buffer<64x32xf16, #wa>, !cta.buffer<32x64xf16, #wb> -> tensor<64x64xf32, #wc>
  // CHECK: cta.undefined : tensor<64x64xf32, #[[ACC]]>
  %u = cta.undefined : tensor<64x64xf32, #wc>
  // CHECK: cta.zeros : tensor<64x64xf32, #[[ACC]]>
  %zeros = cta.zeros : tensor<64x64xf32, #wc>
  // CHECK: cta.copy_registers %[[D]] : tensor<64x64xf32, #[[ACC]]>
  %copy = cta.copy_registers %d : tensor<64x64xf32, #wc>
  // CHECK: cta.wgmma_wait {pending = 0 : i32}
  cta.wgmma_wait {pending = 0 : i32}
  // CHECK: cta.token_none
  %none = cta.token_none
  // CHECK: cta.await %[[E]] after %[[T]] : tensor<64x64xf32, #[[ACC]]>
  %r = cta.await %e after %e_t : tensor<64x64xf32, #wc>
  tile.return
}
