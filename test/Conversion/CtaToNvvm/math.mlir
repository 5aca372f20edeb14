// Functions in the forms that LLVM can select: instructions for f32, libdevice for others, f32 for 16 bits.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

// CHECK-DAG: llvm.func @__nv_sinf(f32) -> f32
// CHECK-DAG: llvm.func @__nv_pow(f64, f64) -> f64

// CHECK-LABEL: llvm.func @functions
tile.kernel @functions(%x: f32, %h: bf16, %d: f64, %p: !tile.ptr<f32>) attributes {num_warps = 1 : i32} {
  // CHECK: %[[SCALED:.*]] = arith.mulf
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[SCALED]])
  %a = math.exp %x : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
  %b = math.rsqrt %a : f32
  // CHECK: llvm.call @__nv_sinf
  %c = math.sin %b : f32
  // CHECK: %[[WIDE:.*]] = arith.extf {{.*}} : bf16 to f32
  // CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"(%[[WIDE]])
  // CHECK: arith.truncf %[[ROOT]] : f32 to bf16
  %e = math.sqrt %h : bf16
  // CHECK: llvm.call @__nv_pow(
  %f = math.powf %d, %d : f64
  // Selected without a change.
  // CHECK: math.absf {{.*}} : bf16
  // CHECK: math.floor {{.*}} : f32
  %g = math.absf %h : bf16
  %i = math.floor %c : f32
  tile.return
}

// Within 2 units in the last place, but for powers of two, by which LLVM multiplies; f64 is always exact.
// CHECK-LABEL: llvm.func @divisions
tile.kernel @divisions(%x: f32, %d: f64) attributes {num_warps = 1 : i32} {
  %eight = arith.constant 8.0 : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
  %a = arith.divf %eight, %x : f32
  // CHECK: arith.divf %{{.*}} : f32
  %b = arith.divf %a, %eight : f32
  // CHECK: arith.divf %{{.*}} : f64
  %c = arith.divf %d, %d : f64
  // LLVM selects div.approx.
  // CHECK: arith.divf %{{.*}} fastmath<afn> : f32
  %e = arith.divf %a, %x fastmath<afn> : f32
  tile.return
}

// Towards zero, one element per thread: one step back in the bits where the nearest value has a larger magnitude.
#one = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// CHECK-LABEL: llvm.func @towards_zero
tile.kernel @towards_zero(%x: f32) attributes {num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<32xf32, #one>
  // CHECK: %[[NEAREST:.*]] = arith.truncf %{{.*}} : f32 to bf16
  // CHECK: arith.bitcast %[[NEAREST]] : bf16 to i16
  // CHECK: arith.bitcast %{{.*}} : i16 to bf16
  %b = arith.truncf %t toward_zero : tensor<32xf32, #one> to tensor<32xbf16, #one>
  tile.print "" %b : tensor<32xbf16, #one>
  tile.return
}
