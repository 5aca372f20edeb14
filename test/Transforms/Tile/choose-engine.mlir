// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine))' --mlir-print-op-on-diagnostic=false 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-choose-engine))' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: remark
// OTHER-NOT: wgmma
// OTHER: engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 4]>
// OTHER-NOT: wgmma

// Dots of operands from descriptors get wgmma.
// CHECK-LABEL: tile.kernel @blocks
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1]>}
tile.kernel @blocks(%i: i32, %d: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {num_warps = 8 : i32} {
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x256xf16> -> tensor<64x256xf16>
  %c = tile.dot %a, %b, %z : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %c : tensor<128x256xf32>
  tile.return
}

// A few rows are the columns of the transposed dot.
// CHECK-LABEL: tile.kernel @few_rows
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n16k16, bf16, bf16, f32, groups = [1, 1], swapped>}
tile.kernel @few_rows(%i: i32, %d: !tile.desc<16x64xbf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x64xbf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<16x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<16x64xbf16> -> tensor<16x64xbf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xbf16> -> tensor<64x64xbf16>
  %c = tile.dot %a, %b, %z : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
  tile.print "" %c : tensor<16x64xf32>
  tile.return
}

// The result of another dot stays in registers, and threads copy operands loaded through pointers that no descriptor can replace.
// CHECK-LABEL: tile.kernel @computed
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
// REMARK-NOT: remark
tile.kernel @computed(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %p: !tile.ptr<f16>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %s = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %t = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %c = tile.dot %t, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %x = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
  %e = tile.dot %a, %x, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %e : tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @types
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k32, i8, i8, i32, groups = [1, 1], b = transposed>}
// CHECK: tile.dot {{.*}} {engine = #cta.fma, precision = #tile<precision ieee>}
// REMARK: remark: dot {{.*}}TMA: wgmma does not support
tile.kernel @types(%i: i32, %d: !tile.desc<64x64xi8> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x64xf32> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0> : tensor<64x64xi32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xi8> -> tensor<64x64xi8>
  %c = tile.dot %a, %a, %z : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  tile.print "" %c : tensor<64x64xi32>
  %y = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xf32> -> tensor<64x64xf32>
  %f = tile.dot %b, %b, %y {precision = #tile<precision ieee>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %f : tensor<64x64xf32>
  tile.return
}

// Sizes are those after tile-pad-blocks.
// CHECK-LABEL: tile.kernel @odd
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
// REMARK-NOT: remark
tile.kernel @odd(%x: f16) {
  %a = tile.splat %x : f16 -> tensor<48x12xf16>
  %b = tile.splat %x : f16 -> tensor<12x40xf16>
  %z = arith.constant dense<0.0> : tensor<48x40xf32>
  %c = tile.dot %a, %b, %z : tensor<48x12xf16>, tensor<12x40xf16> -> tensor<48x40xf32>
  tile.print "" %c : tensor<48x40xf32>
  tile.return
}

// Accumulators of 8-bit floats are added in f32 after each instruction, in separate registers; f16 may be added in f16; f32 is rounded once, or not at all.
// CHECK-LABEL: tile.kernel @sums
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n128k32, f8E4M3FN, f8E4M3FN, f32, groups = [1, 1], a = threads, b = threads, promote = 32>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k32, f8E4M3FN, f8E4M3FN, f32, groups = [1, 1], a = threads, b = threads>
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f16, groups = [1, 1], a = threads, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k8, f32, f32, f32, groups = [1, 1], a = threads, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k8, f32, f32, f32, warps = [2, 2]>, precision
tile.kernel @sums(%x: f8E4M3FN, %y: f16, %z: f32) {
  %a = tile.splat %x : f8E4M3FN -> tensor<64x64xf8E4M3FN>
  %b = tile.splat %x : f8E4M3FN -> tensor<64x256xf8E4M3FN>
  %wide = arith.constant dense<0.0> : tensor<64x256xf32>
  %0 = tile.dot %a, %b, %wide : tensor<64x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<64x256xf32>
  tile.print "" %0 : tensor<64x256xf32>
  %1 = tile.dot %a, %b, %wide {max_num_imprecise_acc = 65 : i32} : tensor<64x64xf8E4M3FN>, tensor<64x256xf8E4M3FN> -> tensor<64x256xf32>
  tile.print "" %1 : tensor<64x256xf32>
  %c = tile.splat %y : f16 -> tensor<64x64xf16>
  %2 = tile.dot %c, %c, %c : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  tile.print "" %2 : tensor<64x64xf16>
  %d = tile.splat %z : f32 -> tensor<64x64xf32>
  %3 = tile.dot %d, %d, %d : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %3 : tensor<64x64xf32>
  %4 = tile.dot %d, %d, %d {precision = #tile<precision tf32x3>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %4 : tensor<64x64xf32>
  tile.return
}
