// A tensor becomes one scalar for each register, also through loops; indices share one thread part.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#l = #cta.layout<[256], register = [[1], [128]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>

// CHECK-LABEL: llvm.func @registers
tile.kernel @registers(%p: !tile.ptr<f32>, %n: i32) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // One thread part, (tid & 63) << 1; the registers add 1, 128 and 129.
  // CHECK-COUNT-1: arith.shli
  // CHECK-DAG: arith.constant 129 : i32
  // CHECK-NOT: arith.shli
  %r = tile.arange 0 to 256 : tensor<256xi32, #l>
  %f = arith.sitofp %r : tensor<256xi32, #l> to tensor<256xf32, #l>
  // CHECK: scf.for {{.*}} -> (f32, f32, f32, f32)
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> tensor<256xf32, #l> : i32 {
    // CHECK-COUNT-4: arith.addf {{.*}} fastmath<contract> : f32
    // CHECK-NOT: arith.addf
    %y = arith.addf %x, %f fastmath<contract> : tensor<256xf32, #l>
    scf.yield %y : tensor<256xf32, #l>
  }
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  // CHECK-COUNT-4: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %pr = tile.addptr %ps, %r : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  tile.store %pr, %s : tensor<256x!tile.ptr<f32>, #l>
  tile.return
}

// A constant that differs between registers but not between threads.
// CHECK-LABEL: llvm.func @constants
tile.kernel @constants(%p: !tile.ptr<i32>) attributes {num_warps = 1 : i32} {
  // CHECK-DAG: arith.constant 7 : i32
  // CHECK-DAG: arith.constant 9 : i32
  %c = arith.constant dense<[7, 9]> : tensor<2xi32, #cta.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = []>>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>, #cta.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = []>>
  tile.store %ps, %c : tensor<2x!tile.ptr<i32>, #cta.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = []>>
  tile.return
}

// Columns below a multiple of 4: four neighbours share one comparison, if it is used for more than masking an access.
#four = #cta.layout<[256], register = [[1], [2], [128]], lane = [[4], [8], [16], [32], [64]], warp = []>
// CHECK-LABEL: llvm.func @uniform
// CHECK-COUNT-2: arith.cmpi slt
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-8: arith.select
tile.kernel @uniform(%p: !tile.ptr<i32>, %n: i32 {tile.divisibility = 4 : i32}) attributes {num_warps = 1 : i32} {
  %columns = tile.arange 0 to 256 : tensor<256xi32, #four>
  %s = tile.splat %n : i32 -> tensor<256xi32, #four>
  %m = arith.cmpi slt, %columns, %s : tensor<256xi32, #four>
  %v = arith.select %m, %columns, %s : tensor<256xi1, #four>, tensor<256xi32, #four>
  %t = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #four>
  %q = tile.addptr %t, %columns : tensor<256x!tile.ptr<i32>, #four>, tensor<256xi32, #four>
  tile.store %q, %v : tensor<256x!tile.ptr<i32>, #four>
  tile.return
}

// Sums and products of 16-bit floats are computed in pairs.
// CHECK-LABEL: llvm.func @pairs
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<2xbf16>
// CHECK-NOT: arith.mulf
// CHECK-COUNT-2: arith.addf {{.*}} fastmath<contract> : vector<2xbf16>
// CHECK-NOT: arith.addf
tile.kernel @pairs(%p: !tile.ptr<bf16>, %x: bf16) attributes {num_warps = 2 : i32} {
  %r = tile.arange 0 to 256 : tensor<256xi32, #l>
  %ps = tile.splat %p : !tile.ptr<bf16> -> tensor<256x!tile.ptr<bf16>, #l>
  %pr = tile.addptr %ps, %r : tensor<256x!tile.ptr<bf16>, #l>, tensor<256xi32, #l>
  %v = tile.load %pr : tensor<256x!tile.ptr<bf16>, #l>
  %s = tile.splat %x : bf16 -> tensor<256xbf16, #l>
  %y = arith.mulf %v, %s : tensor<256xbf16, #l>
  %z = arith.addf %y, %v fastmath<contract> : tensor<256xbf16, #l>
  tile.store %pr, %z : tensor<256x!tile.ptr<bf16>, #l>
  tile.return
}
