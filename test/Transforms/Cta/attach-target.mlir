// RUN: tile-opt %s --cta-attach-target=name=sm_80 | FileCheck %s
// RUN: not tile-opt %s --cta-attach-target=name=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// The module's attribute states the target for all later passes, also in another run. The default is sm_90a.
// RUN: tile-opt %s --cta-attach-target=name=sm_80 | not tile-opt --pass-pipeline='builtin.module(tile.kernel(cta-allocate-shared))' 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-allocate-shared))'

// CHECK: module attributes {cta.target = #cta.target<sm_80>}
// UNKNOWN: error: unknown target 'sm_1'; expected one of sm_75
// SM80: error: kernel 'k' needs 204800 bytes of shared memory but a CTA has 166912 on sm_80
#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
tile.kernel @k(%i: i32) {
  %a = cta.alloc : !cta.buffer<32x32xf16, #s, slots = 100>
  %t = cta.slot %a[%i] : !cta.buffer<32x32xf16, #s, slots = 100> -> !cta.buffer<32x32xf16, #s>
  %x = cta.local_load %t : !cta.buffer<32x32xf16, #s> -> tensor<32x32xf16, #x>
  cta.local_store %x, %t : tensor<32x32xf16, #x>, !cta.buffer<32x32xf16, #s>
  tile.return
}
