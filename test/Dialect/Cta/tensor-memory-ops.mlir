// RUN: tile-opt %s | tile-opt | FileCheck %s

#s = #cta.layout<[4], offset = [[1], [2]]>
#a = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#half = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #cta.layout<[128, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
!place = !cta.buffer<4xi32, #s>
!a = !cta.buffer<64x64xf16, #a>
!m = !cta.mbarrier<1>

// CHECK-LABEL: tile.kernel @ops
// CHECK: %[[BASE:.*]] = cta.tensor_memory_open 128 through %{{.*}} : <4xi32
// CHECK-NEXT: cta.tensor_memory_alloc at %[[BASE]] + 64 : <64x64xf32>
// CHECK-NEXT: cta.tensor_memory_alloc : <128x64xi32>
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %{{.*}} {m = 64 : i32, n = 64 : i32} :
// CHECK-NEXT: cta.tcgen05_mma %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} {m = 64 : i32, n = 64 : i32} :
// CHECK-NEXT: cta.tcgen05_commit %{{.*}}[%{{.*}}] : <1>
// CHECK-NEXT: cta.tcgen05_await %{{.*}} : <1>
// CHECK-NEXT: cta.tensor_memory_load %{{.*}} : <64x64xf32> -> tensor<64x64xf32,
// CHECK-NEXT: cta.tensor_memory_store %{{.*}}, %{{.*}} {columns = 48 : i32} : tensor<64x64xf32,
// CHECK-NEXT: cta.tensor_memory_load %{{.*}} : <128x64xi32> -> tensor<128x64xi32,
// CHECK: %[[TWO:.*]] = cta.tensor_memory_alloc : <64x64xf32, slots = 2>
// CHECK-NEXT: cta.tensor_memory_slot %[[TWO]][%{{.*}} : i32] : <64x64xf32, slots = 2> -> <64x64xf32>
// CHECK: cta.tensor_memory_fence before
// CHECK-NEXT: cta.tensor_memory_fence{{$}}
// CHECK-NEXT: cta.tensor_memory_close %[[BASE]], 128
tile.kernel @ops(%c: i1) {
  %place = cta.alloc : !place
  %a = cta.alloc : !a
  %b = cta.alloc : !a
  %done = cta.mbarrier_alloc arrivals 1 : !m
  %base = cta.tensor_memory_open 128 through %place : !place
  %t = cta.tensor_memory_alloc at %base + 64 : !cta.tensor_memory<64x64xf32>
  %i = cta.tensor_memory_alloc : !cta.tensor_memory<128x64xi32>
  %0 = arith.constant 0 : i32
  cta.tcgen05_mma %a, %b, %t {m = 64 : i32, n = 64 : i32} : !a, !a, !cta.tensor_memory<64x64xf32>
  cta.tcgen05_mma %a, %b, %t if %c {m = 64 : i32, n = 64 : i32} : !a, !a, !cta.tensor_memory<64x64xf32>
  cta.tcgen05_commit %done[%0] : !m
  cta.tcgen05_await %done : !m
  %x = cta.tensor_memory_load %t : !cta.tensor_memory<64x64xf32> -> tensor<64x64xf32, #half>
  cta.tensor_memory_store %x, %t {columns = 48 : i32} : tensor<64x64xf32, #half>, !cta.tensor_memory<64x64xf32>
  %y = cta.tensor_memory_load %i : !cta.tensor_memory<128x64xi32> -> tensor<128x64xi32, #row>
  tile.print "" %y : tensor<128x64xi32, #row>
  %two = cta.tensor_memory_alloc : !cta.tensor_memory<64x64xf32, slots = 2>
  %one = cta.tensor_memory_slot %two[%0 : i32] : !cta.tensor_memory<64x64xf32, slots = 2> -> !cta.tensor_memory<64x64xf32>
  %z = cta.tensor_memory_load %one : !cta.tensor_memory<64x64xf32> -> tensor<64x64xf32, #half>
  tile.print "" %z : tensor<64x64xf32, #half>
  cta.tensor_memory_fence before
  cta.tensor_memory_fence
  cta.tensor_memory_close %base, 128
  tile.return
}

#wa = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#wb = #cta.layout<[64, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
#ws = #cta.layout<[128, 4], offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>

// CHECK-LABEL: tile.kernel @scales
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %{{.*}} scales %[[S:.*]], %[[S]] in %{{.*}} {m = 128 : i32, n = 128 : i32} :
tile.kernel @scales() {
  %a = cta.alloc : !cta.buffer<128x64xi8, #wa>
  %b = cta.alloc : !cta.buffer<64x128xi8, #wb>
  %s = cta.alloc : !cta.buffer<128x4xi8, #ws>
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<128x128xf32>
  %m = cta.tensor_memory_alloc : !cta.tensor_memory<128x8xi32>
  cta.tcgen05_mma %a, %b, %t scales %s, %s in %m {m = 128 : i32, n = 128 : i32} : !cta.buffer<128x64xi8, #wa>, !cta.buffer<64x128xi8, #wb>, !cta.tensor_memory<128x128xf32>, !cta.buffer<128x4xi8, #ws>, !cta.buffer<128x4xi8, #ws>, !cta.tensor_memory<128x8xi32>
  tile.return
}
