// Asynchronous copies: 16 bytes through L2, less through L1; a false mask ignores the source.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#x = #cta.layout<[32, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0]]>
#s = #cta.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 8], [2, 0], [4, 0], [8, 0], [16, 0]]>
#copies = #cta.layout<[16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0]]>
#t = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>

// CHECK-LABEL: llvm.func @copy
tile.kernel @copy(%p: !tile.ptr<f16>, %m: i1) attributes {num_warps = 2 : i32, shared_bytes = 4096 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<32x16xf16, #s>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x16x!tile.ptr<f16>, #x>
  %ms = tile.splat %m : i1 -> tensor<32x16xi1, #x>
  // CHECK: %[[IGNORE:.*]] = arith.xori {{.*}} : i1
  // CHECK: "cp.async.cg.shared.global [$0], [$1], 16, $2;", "l,l,b" %{{.*}}, %{{.*}}, %[[IGNORE]]
  cta.async_copy %ps, %b mask %ms : tensor<32x16xi1, #x> {vector = 8 : i32} : tensor<32x16x!tile.ptr<f16>, #x>, !cta.buffer<32x16xf16, #s>
  // CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
  cta.async_copy %ps, %b {vector = 2 : i32} : tensor<32x16x!tile.ptr<f16>, #x>, !cta.buffer<32x16xf16, #s>
  // The warps hold the same elements: only one of them copies.
  // CHECK: "@$2 cp.async.cg.shared.global [$0], [$1], 16;", "l,l,b"
  %qs = tile.splat %p : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>, #copies>
  %c = cta.alloc at 2048 : !cta.buffer<16x16xf16, #t>
  cta.async_copy %qs, %c {vector = 8 : i32} : tensor<16x16x!tile.ptr<f16>, #copies>, !cta.buffer<16x16xf16, #t>
  // CHECK: nvvm.cp.async.commit.group
  cta.async_commit
  // CHECK: nvvm.cp.async.wait.group 1
  cta.async_wait 1
  // CHECK: nvvm.barrier
  cta.barrier
  tile.return
}
