// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-vectorize-access))' | FileCheck %s

#line = #cta.layout<[1024], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]>
#strided = #cta.layout<[1024], register = [[128], [256], [512]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#mixed = #cta.layout<[1024], register = [[1], [2], [4]], lane = [[9], [16], [32], [64], [128]], warp = [[256], [512]]>
#columns = #cta.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>

// 8 elements per thread, 16-byte aligned: loads of f16 move 8; f32 reaches 16 bytes with 4.
// CHECK-LABEL: tile.kernel @full
// CHECK: tile.load %{{.*}} {vector = 8 : i32} : tensor<1024x!tile.ptr<f16>
// CHECK: tile.store %{{.*}} {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>
tile.kernel @full(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %pid = tile.program_id 0
  %size = arith.constant 1024 : i32
  %base = arith.muli %pid, %size : i32
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %b = tile.splat %base : i32 -> tensor<1024xi32, #line>
  %i = arith.addi %b, %r : tensor<1024xi32, #line>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %pi = tile.addptr %ps, %i : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %x = tile.load %pi : tensor<1024x!tile.ptr<f16>, #line>
  %y = arith.extf %x : tensor<1024xf16, #line> to tensor<1024xf32, #line>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #line>
  %qi = tile.addptr %qs, %i : tensor<1024x!tile.ptr<f32>, #line>, tensor<1024xi32, #line>
  tile.store %qi, %y : tensor<1024x!tile.ptr<f32>, #line>
  tile.return
}

// A mask up to a multiple of 8 does not change inside 8 elements; up to any number it may.
// CHECK-LABEL: tile.kernel @masked
// CHECK: tile.load %{{[0-9]+}} mask %{{[0-9]+}} {vector = 8 : i32}
// CHECK: tile.load %{{[0-9]+}} mask %{{[0-9]+}} partial {vector = 8 : i32}
tile.kernel @masked(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 8 : i32}, %m: i32) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %pi = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #line>
  %mask = arith.cmpi slt, %r, %ns : tensor<1024xi32, #line>
  %x = tile.load %pi mask %mask : tensor<1024x!tile.ptr<f16>, #line>
  %ms = tile.splat %m : i32 -> tensor<1024xi32, #line>
  %other = arith.cmpi slt, %r, %ms : tensor<1024xi32, #line>
  %y = tile.load %pi mask %other : tensor<1024x!tile.ptr<f16>, #line>
  tile.print "" %x, %y : tensor<1024xf16, #line>, tensor<1024xf16, #line>
  tile.return
}

// Column-major addresses under a column-major layout.
// CHECK-LABEL: tile.kernel @columns
// CHECK: tile.load %{{.*}} {vector = 8 : i32}
tile.kernel @columns(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %ld: i32 {tile.divisibility = 8 : i32}) {
  %r = tile.arange 0 to 32 : tensor<32xi32, #cta.layout<[32], register = [[1], [2], [4]], lane = [[8], [16], [0], [0], [0]], warp = [[0], [0]]>>
  %c = tile.arange 0 to 32 : tensor<32xi32, #cta.layout<[32], register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8], [16]]>>
  %r2 = tile.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #cta.layout<[32], register = [[1], [2], [4]], lane = [[8], [16], [0], [0], [0]], warp = [[0], [0]]>> -> tensor<32x1xi32, #cta.layout<[32, 1], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>>
  %c2 = tile.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #cta.layout<[32], register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8], [16]]>> -> tensor<1x32xi32, #cta.layout<[1, 32], register = [], lane = [[0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>>
  %rows = tile.broadcast %r2 : tensor<32x1xi32, #cta.layout<[32, 1], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>> -> tensor<32x32xi32, #columns>
  %cols = tile.broadcast %c2 : tensor<1x32xi32, #cta.layout<[1, 32], register = [], lane = [[0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>> -> tensor<32x32xi32, #columns>
  %lds = tile.splat %ld : i32 -> tensor<32x32xi32, #columns>
  %far = arith.muli %cols, %lds : tensor<32x32xi32, #columns>
  %offset = arith.addi %far, %rows : tensor<32x32xi32, #columns>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>, #columns>
  %pi = tile.addptr %ps, %offset : tensor<32x32x!tile.ptr<f16>, #columns>, tensor<32x32xi32, #columns>
  %x = tile.load %pi : tensor<32x32x!tile.ptr<f16>, #columns>
  tile.print "" %x : tensor<32x32xf16, #columns>
  tile.return
}

// Hints of the program about an address that is read from memory. They are removed once the decision is made.
// CHECK-LABEL: tile.kernel @hinted
// CHECK-NOT: tile.hint
// CHECK: tile.load %{{.*}} {vector = 8 : i32}
// CHECK-NOT: tile.hint
tile.kernel @hinted(%a: i64) {
  %q = tile.address_cast %a : i64 -> !tile.ptr<f16>
  %p = tile.hint %q divisibility [16] : !tile.ptr<f16>
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %pi = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %x = tile.load %pi : tensor<1024x!tile.ptr<f16>, #line>
  tile.print "" %x : tensor<1024xf16, #line>
  tile.return
}

// Unaligned rows are read by aligned words, unless their addresses are multiples of four bytes.
// CHECK-LABEL: tile.kernel @unaligned
// CHECK: tile.load %{{[0-9]+}} unaligned {vector = 8 : i32}
// CHECK: tile.load %{{[0-9]+}} mask %{{[0-9]+}} partial unaligned {vector = 8 : i32}
// CHECK: tile.load %{{[0-9]+}} :
// CHECK: tile.load %{{[0-9]+}} {vector = 2 : i32}
tile.kernel @unaligned(%p: !tile.ptr<f16>, %q: !tile.ptr<f16> {tile.divisibility = 4 : i32}, %n: i32) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %pi = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %x = tile.load %pi unaligned : tensor<1024x!tile.ptr<f16>, #line>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #line>
  %mask = arith.cmpi slt, %r, %ns : tensor<1024xi32, #line>
  %y = tile.load %pi mask %mask unaligned : tensor<1024x!tile.ptr<f16>, #line>
  %z = tile.load %pi : tensor<1024x!tile.ptr<f16>, #line>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %qi = tile.addptr %qs, %r : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %w = tile.load %qi unaligned : tensor<1024x!tile.ptr<f16>, #line>
  tile.print "" %x, %y, %z, %w : tensor<1024xf16, #line>, tensor<1024xf16, #line>, tensor<1024xf16, #line>, tensor<1024xf16, #line>
  tile.return
}

// A thread's elements lie apart, other bits permute them, words at an unaligned pointer are whole, or it is one element.
// CHECK-LABEL: tile.kernel @negative
// CHECK-NOT: vector
tile.kernel @negative(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #strided>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #strided>
  %pi = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>, #strided>, tensor<1024xi32, #strided>
  %x = tile.load %pi : tensor<1024x!tile.ptr<f16>, #strided>
  %r2 = tile.arange 0 to 1024 : tensor<1024xi32, #mixed>
  %ps2 = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #mixed>
  %pi2 = tile.addptr %ps2, %r2 : tensor<1024x!tile.ptr<f16>, #mixed>, tensor<1024xi32, #mixed>
  %x2 = tile.load %pi2 : tensor<1024x!tile.ptr<f16>, #mixed>
  %r3 = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #line>
  %qi = tile.addptr %qs, %r3 : tensor<1024x!tile.ptr<f32>, #line>, tensor<1024xi32, #line>
  %y = tile.load %qi unaligned : tensor<1024x!tile.ptr<f32>, #line>
  %z = tile.load %p : !tile.ptr<f16>
  tile.print "" %x, %x2, %y, %z : tensor<1024xf16, #strided>, tensor<1024xf16, #mixed>, tensor<1024xf32, #line>, f16
  tile.return
}

// An atomic operation covers as many elements as share one mask.
// CHECK-LABEL: tile.kernel @atomic
// CHECK: tile.atomic_rmw add relaxed gpu %{{.*}}, %{{.*}} {vector = 8 : i32}
// CHECK: tile.atomic_rmw add relaxed gpu %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1024
tile.kernel @atomic(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32, %f: f16) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32, #line>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #line>
  %pi = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>, #line>, tensor<1024xi32, #line>
  %v = tile.splat %f : f16 -> tensor<1024xf16, #line>
  %x = tile.atomic_rmw add relaxed gpu %pi, %v : tensor<1024x!tile.ptr<f16>, #line>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #line>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32, #line>
  %y = tile.atomic_rmw add relaxed gpu %pi, %v mask %m : tensor<1024x!tile.ptr<f16>, #line>
  tile.return
}
