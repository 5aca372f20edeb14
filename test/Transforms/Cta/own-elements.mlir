// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-barriers))' | FileCheck %s

#x = #cta.layout<[1024], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]>
#other = #cta.layout<[1024], register = [[1], [2], [4]], lane = [[8], [16], [32], [256], [512]], warp = [[64], [128]]>
#s = #cta.layout<[1024], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]>
!b = !cta.buffer<1024xf16, #s>

// A thread only waits for data that it has copied itself; data of another thread needs a barrier.
// CHECK-LABEL: tile.kernel @own
// CHECK-NOT: cta.barrier
// CHECK-LABEL: tile.kernel @others
// CHECK: cta.async_wait 0
// CHECK-NEXT: cta.barrier
tile.kernel @own(%p: !tile.ptr<f16>) {
  %b = cta.alloc at 0 : !b
  %ptrs = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #x>
  cta.async_copy %ptrs, %b {vector = 8 : i32} : tensor<1024x!tile.ptr<f16>, #x>, !b
  cta.async_commit
  cta.async_wait 0
  %v = cta.local_load %b : !b -> tensor<1024xf16, #x>
  tile.return
}
tile.kernel @others(%p: !tile.ptr<f16>) {
  %b = cta.alloc at 0 : !b
  %ptrs = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #x>
  cta.async_copy %ptrs, %b {vector = 8 : i32} : tensor<1024x!tile.ptr<f16>, #x>, !b
  cta.async_commit
  cta.async_wait 0
  %v = cta.local_load %b : !b -> tensor<1024xf16, #other>
  tile.return
}
