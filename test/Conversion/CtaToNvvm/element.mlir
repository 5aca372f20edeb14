// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#l = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>

// The region once for each register, with the branch of each.
// CHECK-LABEL: llvm.func @map
// CHECK-COUNT-2: scf.if
// CHECK-NOT: scf.if
tile.kernel @map(%p: !tile.ptr<f32>, %limit: f32) attributes {num_warps = 1 : i32} {
  %i = tile.arange 0 to 64 : tensor<64xi32, #l>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #l>
  %q = tile.addptr %base, %i : tensor<64x!tile.ptr<f32>, #l>, tensor<64xi32, #l>
  %x = tile.load %q : tensor<64x!tile.ptr<f32>, #l>
  %y = tile.map %x : tensor<64xf32, #l> -> tensor<64xf32, #l> {
  ^bb0(%a: f32):
    %c = arith.cmpf olt, %a, %limit : f32
    %d = scf.if %c -> f32 {
      %e = arith.addf %a, %a : f32
      scf.yield %e : f32
    } else {
      scf.yield %a : f32
    }
    tile.yield %d : f32
  }
  tile.store %q, %y : tensor<64x!tile.ptr<f32>, #l>
  tile.return
}

// CHECK-LABEL: llvm.func @rounded
tile.kernel @rounded(%p: !tile.ptr<f64>, %x: f32, %y: f64) attributes {num_warps = 1 : i32} {
  // CHECK: llvm.inline_asm {{.*}}"sub.rm.f32 $0, $1, $2;", "=f,f,f"
  %a = tile.rounded sub rd(%x, %x) : (f32, f32) -> f32
  // CHECK: llvm.inline_asm {{.*}}"cvt.rpi.u64.f32 $0, $1;", "=l,f"
  %b = tile.rounded cast ru unsigned(%a) : (f32) -> i64
  // CHECK: llvm.inline_asm {{.*}}"cvt.rz.f64.u64 $0, $1;", "=d,l"
  %c = tile.rounded cast rz unsigned(%b) : (i64) -> f64
  // CHECK: llvm.inline_asm {{.*}}"fma.rn.f64 $0, $1, $2, $3;", "=d,d,d,d"
  %d = tile.rounded fma rn(%c, %y, %y) : (f64, f64, f64) -> f64
  tile.store %p, %d : !tile.ptr<f64>
  tile.return
}
