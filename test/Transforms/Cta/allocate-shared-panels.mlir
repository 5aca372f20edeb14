// Tensors that do not fit into shared memory pass through it in panels, where that helps.
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_75},tile.kernel(cta-allocate-shared))' | FileCheck %s

#x = #cta.layout<[128, 256], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [64, 0], [16, 0], [32, 0]], lane = [[0, 32], [0, 64], [0, 128], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#y = #cta.layout<[128, 256], register = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0], [0, 128]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]]>
#s = #cta.layout<[128, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]]>
#t = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#z = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>

// 128 KiB together with 16 KiB that are live at the same time: panels of 32 KiB, one after the other.
// CHECK-LABEL: tile.kernel @conversion
// CHECK-SAME: shared_bytes = 49152
// CHECK: %[[X:.*]] = arith.constant dense<1.0
// CHECK-NOT: cta.local_store %[[X]]
// CHECK: cta.local_store
// CHECK: %[[B:.*]] = cta.alloc at {{.*}} : <8192xf32
// CHECK-NEXT: cta.panel_store %[[X]], %[[B]] {{.*}}panel = 0
// CHECK-NEXT: %[[P0:.*]] = cta.panel_load %[[B]] {{.*}}panel = 0
// CHECK-NEXT: cta.panel_store %[[X]], %[[B]] {{.*}}panel = 1
// CHECK-NEXT: %[[P1:.*]] = cta.panel_load %[[B]] or %[[P0]] {{.*}}panel = 1
// CHECK: %[[P3:.*]] = cta.panel_load %[[B]] or %{{.*}}panel = 3
// CHECK-NEXT: math.absf %[[P3]]
tile.kernel @conversion() {
  %x = arith.constant dense<1.0> : tensor<128x256xf32, #x>
  %v = arith.constant dense<0.0> : tensor<64x64xf32, #z>
  %small = cta.alloc : !cta.buffer<64x64xf32, #t>
  cta.local_store %v, %small : tensor<64x64xf32, #z>, !cta.buffer<64x64xf32, #t>
  %b = cta.alloc : !cta.buffer<128x256xf32, #s>
  cta.local_store %x, %b : tensor<128x256xf32, #x>, !cta.buffer<128x256xf32, #s>
  %y = cta.local_load %b : !cta.buffer<128x256xf32, #s> -> tensor<128x256xf32, #y>
  %z = math.absf %y : tensor<128x256xf32, #y>
  %w = cta.local_load %small : !cta.buffer<64x64xf32, #t> -> tensor<64x64xf32, #z>
  tile.return
}

// Operands of 64 KiB each: along K, in order.
// CHECK-LABEL: tile.kernel @dot
// CHECK-SAME: shared_bytes = 65536
// CHECK: %[[A:.*]] = cta.alloc {{.*}} : <256x32xf32
// CHECK: %[[B:.*]] = cta.alloc {{.*}} : <32x256xf32
// CHECK: cta.panel_store %{{.*}}, %[[A]] {{.*}}panel = 0
// CHECK: cta.panel_store %{{.*}}, %[[B]] {{.*}}panel = 0
// CHECK: %[[D:.*]] = cta.fma_dot %[[A]], %[[B]], %{{.*}}
// CHECK: cta.panel_store %{{.*}}, %[[A]] {{.*}}panel = 1
// CHECK: cta.panel_store %{{.*}}, %[[B]] {{.*}}panel = 1
// CHECK: cta.fma_dot %[[A]], %[[B]], %[[D]]
#a = #cta.layout<[256, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [64, 0], [128, 0]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
#sa = #cta.layout<[256, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]>
#b = #cta.layout<[64, 256], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [16, 0], [32, 0]], lane = [[0, 32], [0, 64], [0, 128], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#sb = #cta.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#c = #cta.layout<[256, 256], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[0, 32], [0, 64], [0, 128], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
tile.kernel @dot() {
  %x = arith.constant dense<1.0> : tensor<256x64xf32, #a>
  %y = arith.constant dense<2.0> : tensor<64x256xf32, #b>
  %acc = arith.constant dense<0.0> : tensor<256x256xf32, #c>
  %a = cta.alloc : !cta.buffer<256x64xf32, #sa>
  cta.local_store %x, %a : tensor<256x64xf32, #a>, !cta.buffer<256x64xf32, #sa>
  %b = cta.alloc : !cta.buffer<64x256xf32, #sb>
  cta.local_store %y, %b : tensor<64x256xf32, #b>, !cta.buffer<64x256xf32, #sb>
  %d = cta.fma_dot %a, %b, %acc : !cta.buffer<256x64xf32, #sa>, !cta.buffer<64x256xf32, #sb> -> tensor<256x256xf32, #c>
  tile.return
}
