// RUN: tile-opt %s | tile-opt | FileCheck %s

#x = #cta.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#half = #cta.layout<[64, 16], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [0, 0]]>
#t = #cta.layout<[32, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]>
#s = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>

// CHECK-DAG: #[[X:.*]] = #cta.layout<[64, 32], register
// CHECK-DAG: #[[T:.*]] = #cta.layout<[32, 64], offset
// CHECK-DAG: #[[S:.*]] = #cta.layout<[64, 32], offset = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>

tile.kernel @k(%x: i32) {
  // CHECK: %[[B:.*]] = cta.alloc : <64x32xf16, #[[S]]>
  %b = cta.alloc : !cta.buffer<64x32xf16, #s>
  // CHECK: %[[R:.*]] = cta.alloc at 4096 : <64x32xf16, #[[S]], slots = 3>
  %r = cta.alloc at 4096 : !cta.buffer<64x32xf16, #s, slots = 3>
  // CHECK: cta.slot %[[R]][%{{.*}}] : <64x32xf16, #[[S]], slots = 3> -> <64x32xf16, #[[S]]>
  %t = cta.slot %r[%x] : !cta.buffer<64x32xf16, #s, slots = 3> -> !cta.buffer<64x32xf16, #s>
  // CHECK: cta.next_slot %{{.*}} of 3
  %next = cta.next_slot %x of 3
  // CHECK: cta.trans_buffer %[[B]] : <64x32xf16, #[[S]]> -> <32x64xf16, #[[T]]>
  %turned = cta.trans_buffer %b : !cta.buffer<64x32xf16, #s> -> !cta.buffer<32x64xf16, #t>
  // CHECK: cta.local_load %[[B]] : <64x32xf16, #[[S]]> -> tensor<64x32xf16, #[[X]]>
  %v = cta.local_load %b : !cta.buffer<64x32xf16, #s> -> tensor<64x32xf16, #x>
  // CHECK: cta.local_load %[[B]] at [0, 16] : <64x32xf16, #[[S]]> -> tensor<64x16xf16,
  %w = cta.local_load %b at [0, 16] : !cta.buffer<64x32xf16, #s> -> tensor<64x16xf16, #half>
  // CHECK: cta.local_store %{{.*}}, %[[B]] : tensor<64x32xf16, #[[X]]>, <64x32xf16, #[[S]]>
  cta.local_store %v, %b : tensor<64x32xf16, #x>, !cta.buffer<64x32xf16, #s>
  // CHECK: cta.barrier
  cta.barrier
  // CHECK: cta.barrier{{$}}
  cta.barrier
  // CHECK: cta.barrier groups
  cta.barrier groups
  tile.return
}

#gx = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#gs = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

// CHECK-LABEL: tile.kernel @gather
tile.kernel @gather(%v: f32) {
  %b = cta.alloc : !cta.buffer<64xf32, #gs>
  %i = tile.arange 0 to 32 : tensor<32xi32, #gx>
  // CHECK: cta.local_gather %{{.*}}[%{{.*}}] {axis = 0 : i32}
  %y = cta.local_gather %b[%i] {axis = 0 : i32} : !cta.buffer<64xf32, #gs>, tensor<32xi32, #gx> -> tensor<32xf32, #gx>
  %counts = cta.alloc : !cta.buffer<64xi32, #gs>
  // CHECK: cta.local_count %{{.*}}, %{{.*}} : tensor<32xi32, #{{.*}}>, <64xi32
  cta.local_count %i, %counts : tensor<32xi32, #gx>, !cta.buffer<64xi32, #gs>
  %c = cta.alloc : !cta.buffer<32xf32, #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>>
  // CHECK: cta.local_store first %{{.*}}, %{{.*}} :
  cta.local_store first %y, %c : tensor<32xf32, #gx>, !cta.buffer<32xf32, #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>>
  tile.return
}
