// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-dot))' | FileCheck %s

#a = #cta.layout<[16, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[32, 16], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sa = #cta.layout<[16, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0]]>
#sb = #cta.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

!a = tensor<16x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<16x16xf32, #c>
!bufferA = !cta.buffer<16x32xf16, #sa>
!bufferB = !cta.buffer<32x16xf16, #sb>

// The operands of the second step are loaded before the MMA of the first.
// CHECK-LABEL: tile.kernel @steps
// CHECK: %[[A1:.*]] = cta.local_load %{{.*}} at [0, 16] : {{.*}} -> tensor<16x16xf16,
// CHECK: %[[B1:.*]] = cta.local_load %{{.*}} at [16, 0] : {{.*}} -> tensor<16x16xf16,
// CHECK: %[[SUM:.*]] = cta.mma_sync
// CHECK: cta.mma_sync %[[A1]], %[[B1]], %[[SUM]]
tile.kernel @steps() attributes {num_warps = 1 : i32} {
  %zero = arith.constant dense<0.0> : !c
  %x = cta.alloc : !bufferA
  %y = cta.alloc : !bufferB
  %a = cta.local_load %x : !bufferA -> !a
  %b = cta.local_load %y : !bufferB -> !b
  %d = cta.mma_sync %a, %b, %zero {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
  tile.return
}

// Another operation needs the whole operand.
// CHECK-LABEL: tile.kernel @negative_used_twice
// CHECK-NOT: cta.local_load {{.*}} at
// CHECK: tile.return
tile.kernel @negative_used_twice() attributes {num_warps = 1 : i32} {
  %zero = arith.constant dense<0.0> : !c
  %x = cta.alloc : !bufferA
  %y = cta.alloc : !bufferB
  %a = cta.local_load %x : !bufferA -> !a
  %b = cta.local_load %y : !bufferB -> !b
  %d = cta.mma_sync %a, %b, %zero {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
  %more = arith.addf %a, %a : !a
  tile.return
}

// The loads cannot move past a write of their buffer.
// CHECK-LABEL: tile.kernel @negative_written
// CHECK-NOT: cta.local_load {{.*}} at
// CHECK: tile.return
tile.kernel @negative_written(%v: f16) attributes {num_warps = 1 : i32} {
  %zero = arith.constant dense<0.0> : !c
  %x = cta.alloc : !bufferA
  %y = cta.alloc : !bufferB
  %a = cta.local_load %x : !bufferA -> !a
  %b = cta.local_load %y : !bufferB -> !b
  %other = tile.splat %v : f16 -> !a
  cta.local_store %other, %x : !a, !bufferA
  %d = cta.mma_sync %a, %b, %zero {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
  tile.return
}
