// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-reuse-stores))' | FileCheck %s

#x = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #cta.layout<[64, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
#s = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#plain = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
!x = tensor<64x16xf16, #x>
!rows = tensor<64x16xf16, #rows>
!s = !cta.buffer<64x16xf16, #s>
!plain = !cta.buffer<64x16xf16, #plain>

// CHECK-LABEL: tile.kernel @twice
// CHECK: %[[A:.*]] = cta.alloc
// CHECK-NOT: cta.alloc
// CHECK: cta.local_store %{{.*}}, %[[A]]
// CHECK-NOT: cta.local_store
// CHECK: cta.local_load %[[A]]
// CHECK: cta.local_load %[[A]]
tile.kernel @twice(%f: f16) {
  %x = tile.splat %f : f16 -> !x
  %a = cta.alloc : !s
  cta.local_store %x, %a : !x, !s
  %b = cta.alloc : !s
  cta.local_store %x, %b : !x, !s
  %y = cta.local_load %b : !s -> !rows
  %z = cta.local_load %a : !s -> !rows
  tile.print "" %y, %z : !rows, !rows
  tile.return
}

// Another layout, a buffer that is written again before it is read, and another tile.
// CHECK-LABEL: tile.kernel @negative_stores
// CHECK-COUNT-5: cta.local_store
tile.kernel @negative_stores(%f: f16, %g: f16) {
  %x = tile.splat %f : f16 -> !x
  %other = tile.splat %g : f16 -> !x
  %a = cta.alloc : !s
  cta.local_store %x, %a : !x, !s
  %b = cta.alloc : !plain
  cta.local_store %x, %b : !x, !plain
  %y = cta.local_load %b : !plain -> !rows
  cta.local_store %other, %a : !x, !s
  %c = cta.alloc : !s
  cta.local_store %x, %c : !x, !s
  %z = cta.local_load %c : !s -> !rows
  %d = cta.alloc : !s
  cta.local_store %other, %d : !x, !s
  %v = cta.local_load %d : !s -> !rows
  %w = cta.local_load %a : !s -> !rows
  tile.print "" %y, %z, %v, %w : !rows, !rows, !rows, !rows
  tile.return
}
