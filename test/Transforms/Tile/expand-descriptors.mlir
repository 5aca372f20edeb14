// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-expand-descriptors))' --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-expand-descriptors),tile.kernel(cta-assign-layouts,cta-remove-conversions,cta-vectorize-access))' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=VECTOR

// Values that all blocks share are computed once, where the descriptor is created; consecutive elements remain visible.
// CHECK-LABEL: tile.kernel @copy
// CHECK-NOT: desc
// CHECK: arith.muli {{.*}} : tensor<64xi64>
// CHECK: scf.for
// CHECK: arith.cmpi ult, {{.*}} : tensor<64xi32>
// CHECK: arith.cmpi ult, {{.*}} : tensor<32xi32>
// CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<64x32x!tile.ptr<f16>>
// CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<64x32x!tile.ptr<f16>>
// CHECK-NOT: desc
// VECTOR-LABEL: tile.kernel @copy
// VECTOR: tile.load {{.*}}vector = 8
// VECTOR: tile.store {{.*}}vector = 8
tile.kernel @copy(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %m: i32, %n: i32 {tile.divisibility = 16 : i32}, %ld: i64 {tile.divisibility = 16 : i32}, %i: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %from = tile.make_desc %a, [%m, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x32xf16>
  %to = tile.make_desc %b, [%m, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x32xf16>
  scf.for %j = %c0 to %n step %c32 : i32 {
    %x = tile.desc_load %from[%i, %j] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
    tile.desc_store %to[%i, %j], %x : !tile.desc<64x32xf16>, tensor<64x32xf16>
  }
  tile.return
}

// One and three dimensions.
// CHECK-LABEL: tile.kernel @ranks
// CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<16x!tile.ptr<f32>>
// CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<2x4x8x!tile.ptr<f32>>
// CHECK-NOT: desc
tile.kernel @ranks(%a: !tile.ptr<f32>, %n: i32, %s: i64) {
  %one = arith.constant 1 : i64
  %line = tile.make_desc %a, [%n], [%one] : !tile.ptr<f32> -> !tile.desc<16xf32>
  %x = tile.desc_load %line[%n] : !tile.desc<16xf32> -> tensor<16xf32>
  %cube = tile.make_desc %a, [%n, %n, %n], [%s, %s, %one] : !tile.ptr<f32> -> !tile.desc<2x4x8xf32>
  %y = tile.desc_load %cube[%n, %n, %n] : !tile.desc<2x4x8xf32> -> tensor<2x4x8xf32>
  tile.print "" %x : tensor<16xf32>
  tile.print "" %y : tensor<2x4x8xf32>
  tile.return
}

// Dimensions of size 1 belong to the base: there are no rows outside along them. A block gets them after its rounding,
// which is omitted here.
// CHECK-LABEL: tile.kernel @ones
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %arg4, %arg2
// CHECK: %[[ROWS:.*]] = arith.select %[[INSIDE]], %arg2, %{{.*}} : i32
// CHECK: tile.splat %[[ROWS]] : i32 -> tensor<8xi32>
// CHECK: %[[X:.*]] = tile.load %{{.*}} mask %{{.*}} : tensor<8x16x!tile.ptr<f32>>
// CHECK: %[[Y:.*]] = arith.truncf %[[X]] : tensor<8x16xf32> to tensor<8x16xf16>
// CHECK-NOT: tile.reshape
// CHECK: tile.store %{{.*}}, %[[Y]] mask %{{.*}} : tensor<8x16x!tile.ptr<f16>>
tile.kernel @ones(%a: !tile.ptr<f32>, %b: !tile.ptr<f16>, %n: i32, %s: i64, %i: i32) {
  %one = arith.constant 1 : i64
  %from = tile.make_desc %a, [%n, %n, %n], [%s, %s, %one] : !tile.ptr<f32> -> !tile.desc<1x8x16xf32>
  %to = tile.make_desc %b, [%n, %n, %n], [%s, %s, %one] : !tile.ptr<f16> -> !tile.desc<8x1x16xf16>
  %x = tile.desc_load %from[%i, %n, %n] : !tile.desc<1x8x16xf32> -> tensor<1x8x16xf32>
  %m = tile.reshape %x : tensor<1x8x16xf32> -> tensor<8x16xf32>
  %r = tile.reshape %m : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %y = arith.truncf %r : tensor<8x1x16xf32> to tensor<8x1x16xf16>
  tile.desc_store %to[%n, %i, %n], %y : !tile.desc<8x1x16xf16>, tensor<8x1x16xf16>
  tile.return
}

// -----

// expected-error @below {{argument 0 is a descriptor; pass a pointer and create the descriptor in the kernel}}
tile.kernel @argument(%d: !tile.desc<16xf32>) {
  tile.return
}

// -----

// A pointer has a mask where the block is padded, but nothing says which elements the descriptor means.
tile.kernel @padded(%a: !tile.ptr<f32>, %n: i32, %s: i64) {
  %d = tile.make_desc %a, [%n], [%s] : !tile.ptr<f32> -> !tile.desc<15xf32>
  // expected-error @below {{moves a padded block 'tensor<16xf32>' through a descriptor of blocks '!tile.desc<15xf32>'; run tile-expand-descriptors before tile-pad-blocks}}
  %x = tile.desc_load %d[%n] : !tile.desc<15xf32> -> tensor<16xf32>
  tile.return
}

// -----

// Selected and carried descriptors become their components; the last stride is 1.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[CHOSEN:.*]] = arith.select %arg3, %arg0, %arg1 : !tile.ptr<f32>
// CHECK: %[[LOOP:.*]]:4 = scf.for {{.*}} iter_args(%[[BASE:.*]] = %[[CHOSEN]], %[[M:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}, %[[LD:.*]] = %{{.*}}) -> (!tile.ptr<f32>, i32, i32, i64)
// CHECK: tile.addptr %[[BASE]]
// CHECK: tile.load
// CHECK-NOT: tile.desc
// CHECK: scf.yield %arg1, %arg2, %arg2, %arg4
tile.kernel @carried(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %n: i32, %c: i1, %ld: i64) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %d = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<4x16xf32>
  %e = tile.make_desc %b, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<4x16xf32>
  %chosen = arith.select %c, %d, %e : !tile.desc<4x16xf32>
  %last = scf.for %i = %zero to %n step %step iter_args(%f = %chosen) -> (!tile.desc<4x16xf32>) : i32 {
    %x = tile.desc_load %f[%i, %i] : !tile.desc<4x16xf32> -> tensor<4x16xf32>
    tile.print "" %x : tensor<4x16xf32>
    scf.yield %e : !tile.desc<4x16xf32>
  }
  tile.return
}
