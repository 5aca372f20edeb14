// One instruction adds to consecutive floats, and fences around all of a thread's additions order them.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s
// RUN: tile-opt %s --cta-attach-target=name=sm_80 --convert-cta-to-nvvm | FileCheck %s --check-prefix=OLD

#eight = #cta.layout<[256], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>

// CHECK-LABEL: llvm.func @added
// CHECK: fence.acq_rel.gpu;
// CHECK: red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};
// CHECK: red.relaxed.gpu.global.add.v4.f32
// CHECK-NOT: fence
// OLD-LABEL: llvm.func @added
// OLD: fence.acq_rel.gpu;
// OLD-COUNT-8: atom.relaxed.gpu.global.add.f32
// OLD-NOT: atom
// OLD: llvm.return
tile.kernel @added(%pointer: !tile.ptr<f32>, %f: f32) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 256 : tensor<256xi32, #eight>
  %ps = tile.splat %pointer : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #eight>
  %p = tile.addptr %ps, %r : tensor<256x!tile.ptr<f32>, #eight>, tensor<256xi32, #eight>
  %v = tile.splat %f : f32 -> tensor<256xf32, #eight>
  %old = tile.atomic_rmw add acq_rel gpu %p, %v {vector = 4 : i32} : tensor<256x!tile.ptr<f32>, #eight>
  tile.return
}

// Results are read, so they are also acquired.
// CHECK-LABEL: llvm.func @fetched
// CHECK: atom.acq_rel.cta.global.add.noftz.v4.bf16x2 {$0, $1, $2, $3}, [$4], {$5, $6, $7, $8};
// CHECK-NOT: fence
// CHECK-LABEL: llvm.func @fetched_halves
// CHECK: fence.acq_rel.cta;
// CHECK: atom.relaxed.cta.global.add.noftz.v2.f16x2
// CHECK: atom.relaxed.cta.global.add.noftz.v2.f16x2
// CHECK: fence.acq_rel.cta;
// OLD-LABEL: llvm.func @fetched_halves
// OLD: fence.acq_rel.cta;
// OLD-COUNT-4: atom.relaxed.cta.global.add.noftz.f16x2
// OLD: fence.acq_rel.cta;
tile.kernel @fetched(%pointer: !tile.ptr<bf16>, %f: bf16) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 256 : tensor<256xi32, #eight>
  %ps = tile.splat %pointer : !tile.ptr<bf16> -> tensor<256x!tile.ptr<bf16>, #eight>
  %p = tile.addptr %ps, %r : tensor<256x!tile.ptr<bf16>, #eight>, tensor<256xi32, #eight>
  %v = tile.splat %f : bf16 -> tensor<256xbf16, #eight>
  %old = tile.atomic_rmw add acq_rel cta %p, %v {vector = 8 : i32} : tensor<256x!tile.ptr<bf16>, #eight>
  tile.print "" %old : tensor<256xbf16, #eight>
  tile.return
}
tile.kernel @fetched_halves(%pointer: !tile.ptr<f16>, %f: f16) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 256 : tensor<256xi32, #eight>
  %ps = tile.splat %pointer : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #eight>
  %p = tile.addptr %ps, %r : tensor<256x!tile.ptr<f16>, #eight>, tensor<256xi32, #eight>
  %v = tile.splat %f : f16 -> tensor<256xf16, #eight>
  %old = tile.atomic_rmw add acq_rel cta %p, %v {vector = 4 : i32} : tensor<256x!tile.ptr<f16>, #eight>
  tile.print "" %old : tensor<256xf16, #eight>
  tile.return
}
