// 8-bit floats are bytes in registers and are converted in pairs.
// RUN: tile-opt %s --cta-attach-target=name=sm_89 --convert-cta-to-nvvm | FileCheck %s
// RUN: tile-opt %s --cta-attach-target=name=sm_80 --convert-cta-to-nvvm | FileCheck %s --check-prefix=BITS

// Without the instructions, by their bits.
// BITS-LABEL: llvm.func @convert
// BITS-NOT: nvvm.convert
// BITS: arith.mulf {{.*}} : f16
// BITS: arith.minui {{.*}} : i32
// BITS-NOT: nvvm.convert

#l = #cta.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>

// CHECK-LABEL: llvm.func @convert
tile.kernel @convert(%p: !tile.ptr<f8E4M3FN>, %q: !tile.ptr<f8E5M2>) attributes {num_warps = 1 : i32} {
  %ps = tile.splat %p : !tile.ptr<f8E4M3FN> -> tensor<128x!tile.ptr<f8E4M3FN>, #l>
  %qs = tile.splat %q : !tile.ptr<f8E5M2> -> tensor<128x!tile.ptr<f8E5M2>, #l>
  %x = tile.load %ps {vector = 4 : i32} : tensor<128x!tile.ptr<f8E4M3FN>, #l>
  // CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2
  // CHECK-NOT: nvvm.convert.f8x2.to.f16x2
  %h = arith.extf %x : tensor<128xf8E4M3FN, #l> to tensor<128xf16, #l>
  // CHECK-COUNT-2: nvvm.convert.f32x2.to.f8x2 {{.*}}rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>
  // CHECK-NOT: nvvm.convert.f32x2.to.f8x2
  %y = tile.rounded cast rn(%h) : (tensor<128xf16, #l>) -> tensor<128xf8E5M2, #l>
  // The bits themselves need no instruction.
  %bits = arith.bitcast %y : tensor<128xf8E5M2, #l> to tensor<128xi8, #l>
  %back = arith.bitcast %bits : tensor<128xi8, #l> to tensor<128xf8E5M2, #l>
  // CHECK-NOT: bitcast {{.*}} : i8
  // CHECK: llvm.store
  tile.store %qs, %back {vector = 4 : i32} : tensor<128x!tile.ptr<f8E5M2>, #l>
  tile.return
}
