// Global memory: vectors, masks, hints, and copies of elements that are stored only once.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#l = #cta.layout<[256], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
#copies = #cta.layout<[16], register = [[0]], lane = [[1], [2], [4], [8], [0]], warp = [[0]]>

// CHECK-LABEL: llvm.func @vectors
tile.kernel @vectors(%p: !tile.ptr<f16>, %q: !tile.ptr<f16>) attributes {num_warps = 1 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #l>
  // 8 x f16 are one load of 16 bytes.
  // CHECK-COUNT-1: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NOT: llvm.load
  %x = tile.load %ps {vector = 8 : i32} : tensor<256x!tile.ptr<f16>, #l>
  // CHECK-COUNT-2: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
  // CHECK-NOT: llvm.store
  tile.store %qs, %x {vector = 4 : i32} : tensor<256x!tile.ptr<f16>, #l>
  tile.return
}

// CHECK-LABEL: llvm.func @masked
tile.kernel @masked(%p: !tile.ptr<f32>, %n: i32) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 256 : tensor<256xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  // CHECK-COUNT-2: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3"
  // CHECK-NOT: ld.global
  %x = tile.load %ps mask %m {vector = 4 : i32} : tensor<256x!tile.ptr<f32>, #l>
  // CHECK: createpolicy.fractional.L2::evict_first
  // CHECK-COUNT-4: "@$4 st.global.L1::evict_first.L2::cache_hint.v2.b32 [$0], {$1, $2}, $3;"
  tile.store %ps, %x mask %m {vector = 2 : i32, evict = #tile<evict evict_first>} : tensor<256x!tile.ptr<f32>, #l>
  tile.return
}

// Lane 4, the warp and the second register only repeat elements.
// CHECK-LABEL: llvm.func @once
tile.kernel @once(%p: !tile.ptr<i1>, %x: i1) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<i1> -> tensor<16x!tile.ptr<i1>, #copies>
  %xs = tile.splat %x : i1 -> tensor<16xi1, #copies>
  // CHECK: arith.constant 48 : i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK-COUNT-1: "@$2 st.global.b8 [$0], $1;", "l,h,b" {{.*}}, %[[FIRST]]
  // CHECK-NOT: st.global
  tile.store %ps, %xs : tensor<16x!tile.ptr<i1>, #copies>
  tile.return
}

#line = #cta.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>

// A thread whose elements are all enabled moves them at once; another thread moves one element at a time, from one
// address. Words cross the branch.
// CHECK-LABEL: llvm.func @partial
// CHECK: scf.if {{.*}} -> (i32, i32, i32, i32)
// CHECK: llvm.load %[[FIRST:.*]] {alignment = 16 : i64} {{.*}} -> vector<4xi32>
// CHECK: else
// CHECK: llvm.getelementptr {{.*}}%[[FIRST]][4]
// CHECK-COUNT-4: ld.global.b32
tile.kernel @partial(%p: !tile.ptr<f32>, %n: i32) attributes {num_warps = 1 : i32} {
  %r = tile.arange 0 to 128 : tensor<128xi32, #line>
  %ns = tile.splat %n : i32 -> tensor<128xi32, #line>
  %m = arith.cmpi slt, %r, %ns : tensor<128xi32, #line>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #line>
  %q = tile.addptr %s, %r : tensor<128x!tile.ptr<f32>, #line>, tensor<128xi32, #line>
  %x = tile.load %q mask %m partial {vector = 4 : i32} : tensor<128x!tile.ptr<f32>, #line>
  tile.store %q, %x mask %m partial {vector = 4 : i32} : tensor<128x!tile.ptr<f32>, #line>
  tile.return
}
