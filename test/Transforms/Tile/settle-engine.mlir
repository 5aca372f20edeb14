// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine))' | FileCheck %s

// TMA operands are multiplied in their order in memory; threads copy the others; and operands that were not swapped have too few rows.
// CHECK-LABEL: tile.kernel @settled
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4]>}
tile.kernel @settled(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<16x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %p: !tile.ptr<f16>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %a, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %x = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
  %f = tile.dot %a, %x, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %f : tensor<64x64xf32>
  %g = tile.dot %x, %a, %z {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %g : tensor<64x64xf32>
  %y = arith.constant dense<0.0> : tensor<16x64xf32>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<16x64xf16> -> tensor<16x64xf16>
  %h = tile.dot %b, %a, %y {engine = #cta.wgmma<m64n16k16, f16, f16, f32, groups = [1, 1], swapped>} : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
  tile.print "" %h : tensor<16x64xf32>
  tile.return
}

// Columns that were not a power of two are padded, and bytes lie in the order that threads give them, also where TMA brings another one.
// CHECK-LABEL: tile.kernel @orders
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k32, i8, i8, i32, groups = [1, 1], a = threads, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k32, i8, i8, i32, groups = [1, 1], b = transposed>}
tile.kernel @orders(%i: i32, %x: f16, %y: i8, %d: !tile.desc<64x64xi8> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %a = tile.splat %x : f16 -> tensor<64x64xf16>
  %b = tile.splat %x : f16 -> tensor<64x256xf16>
  %z = arith.constant dense<0.0> : tensor<64x256xf32>
  %0 = tile.dot %a, %b, %z {engine = #cta.wgmma<m64n160k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x256xf16> -> tensor<64x256xf32>
  tile.print "" %0 : tensor<64x256xf32>
  %c = tile.splat %y : i8 -> tensor<64x64xi8>
  %s = arith.constant dense<0> : tensor<64x64xi32>
  %1 = tile.dot %c, %c, %s : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  tile.print "" %1 : tensor<64x64xi32>
  %e = tile.desc_load %d[%i, %i] : !tile.desc<64x64xi8> -> tensor<64x64xi8>
  %2 = tile.dot %e, %e, %s : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  tile.print "" %2 : tensor<64x64xi32>
  tile.return
}

// Operands that threads store leave a quarter of the shared memory: what comes after is for warps, but for what is stored anyway.
// CHECK-LABEL: tile.kernel @room
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4]>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
tile.kernel @room(%x: f16, %y: f16) {
  %a = tile.splat %x : f16 -> tensor<64x256xf16>
  %b = tile.splat %x : f16 -> tensor<256x256xf16>
  %c = tile.splat %y : f16 -> tensor<256x256xf16>
  %z = arith.constant dense<0.0> : tensor<64x256xf32>
  %0 = tile.dot %a, %b, %z : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
  tile.print "" %0 : tensor<64x256xf32>
  %1 = tile.dot %a, %c, %z : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
  tile.print "" %1 : tensor<64x256xf32>
  %2 = tile.dot %a, %b, %z : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
  tile.print "" %2 : tensor<64x256xf32>
  tile.return
}

// Operands of two branches do not compete for shared memory.
// CHECK-LABEL: tile.kernel @branches
// CHECK-COUNT-2: tile.dot {{.*}} {engine = #cta.wgmma<m64n256k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
tile.kernel @branches(%x: f16, %y: f16, %if: i1) {
  %a = tile.splat %x : f16 -> tensor<64x256xf16>
  %z = arith.constant dense<0.0> : tensor<64x256xf32>
  scf.if %if {
    %b = tile.splat %x : f16 -> tensor<256x256xf16>
    %0 = tile.dot %a, %b, %z : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
    tile.print "" %0 : tensor<64x256xf32>
  } else {
    %c = tile.splat %y : f16 -> tensor<256x256xf16>
    %1 = tile.dot %a, %c, %z : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
    tile.print "" %1 : tensor<64x256xf32>
  }
  tile.return
}

// A left operand that TMA loads before the loop is held in registers, if reading it takes longer than multiplying it; but not
// with 64 columns, and not if more than half of a thread's registers held operands, here 16 and 64, and accumulators, 64.
// CHECK-LABEL: tile.kernel @held
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n32k16, f16, f16, f32, groups = [1, 1], a = registers>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n32k16, f16, f16, f32, groups = [1, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>}
tile.kernel @held(%i: i32, %n: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}, %f: !tile.desc<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = "c">}, %g: !tile.desc<256x32xf16> {tile.tensor_map = #tile.tensor_map<base = "d">}, %h: !tile.desc<256x64xf16> {tile.tensor_map = #tile.tensor_map<base = "f">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %w = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x256xf16> -> tensor<64x256xf16>
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %z, %y = %z, %u = %w) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf32>) : i32 {
    %right = tile.desc_load %f[%k, %i] : !tile.desc<64x32xf16> -> tensor<64x32xf16>
    %tall = tile.desc_load %g[%k, %i] : !tile.desc<256x32xf16> -> tensor<256x32xf16>
    %wide = tile.desc_load %h[%k, %i] : !tile.desc<256x64xf16> -> tensor<256x64xf16>
    %0 = tile.dot %a, %right, %x : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
    %1 = tile.dot %b, %tall, %y : tensor<64x256xf16>, tensor<256x32xf16> -> tensor<64x32xf32>
    %2 = tile.dot %b, %wide, %u : tensor<64x256xf16>, tensor<256x64xf16> -> tensor<64x64xf32>
    scf.yield %0, %1, %2 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf32>
  }
  tile.print "" %s#0 : tensor<64x32xf32>
  tile.print "" %s#1 : tensor<64x32xf32>
  tile.print "" %s#2 : tensor<64x64xf32>
  tile.return
}

// With 64 columns, reading takes as long: held if registers leave room for no second CTA, here with accumulators of 32 and 64.
// CHECK-LABEL: tile.kernel @held_alone
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1], a = registers>}
// CHECK-LABEL: tile.kernel @negative_held_beside
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1]>}
tile.kernel @held_alone(%i: i32, %n: i32, %d: !tile.desc<128x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}, %f: !tile.desc<128x128xf16> {tile.tensor_map = #tile.tensor_map<base = "c">}) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %w = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x128xf16> -> tensor<128x128xf16>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %z, %y = %w) -> (tensor<128x64xf32>, tensor<128x128xf32>) : i32 {
    %right = tile.desc_load %e[%k, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %wide = tile.desc_load %f[%k, %i] : !tile.desc<128x128xf16> -> tensor<128x128xf16>
    %0 = tile.dot %a, %right, %x : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
    %1 = tile.dot %a, %wide, %y : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %0, %1 : tensor<128x64xf32>, tensor<128x128xf32>
  }
  tile.print "" %s#0 : tensor<128x64xf32>
  tile.print "" %s#1 : tensor<128x128xf32>
  tile.return
}
tile.kernel @negative_held_beside(%i: i32, %n: i32, %d: !tile.desc<128x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x128xf16> -> tensor<128x128xf16>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%x = %z) -> (tensor<128x64xf32>) : i32 {
    %right = tile.desc_load %e[%k, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %0 = tile.dot %a, %right, %x : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
    scf.yield %0 : tensor<128x64xf32>
  }
  tile.print "" %s : tensor<128x64xf32>
  tile.return
}

// A left operand that is computed from 16-bit elements or fp32 is read from their copies as it is multiplied; one of
// bytes is stored before.
// CHECK-LABEL: tile.kernel @computed
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
tile.kernel @computed(%n: i32, %halves: !tile.ptr<f16>, %words: !tile.ptr<f32>, %bytes: !tile.ptr<i8>) {
  %p = tile.splat %halves : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %q = tile.splat %words : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %s = tile.splat %bytes : !tile.ptr<i8> -> tensor<64x64x!tile.ptr<i8>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %z, %w = %z) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %b = tile.load %p : tensor<64x64x!tile.ptr<f16>>
    %a = tile.load %p : tensor<64x64x!tile.ptr<f16>>
    %twice = arith.addf %a, %a : tensor<64x64xf16>
    %1 = tile.dot %twice, %b, %x : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %wide = tile.load %q : tensor<64x64x!tile.ptr<f32>>
    %narrow = arith.truncf %wide : tensor<64x64xf32> to tensor<64x64xf16>
    %2 = tile.dot %narrow, %b, %y : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %small = tile.load %s : tensor<64x64x!tile.ptr<i8>>
    %converted = arith.sitofp %small : tensor<64x64xi8> to tensor<64x64xf16>
    %3 = tile.dot %converted, %b, %w : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %1, %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.print "" %r#0, %r#1, %r#2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// An operand from the MMAs of the previous iteration stays in registers, an operand that a loop only carries does not.
// CHECK-LABEL: tile.kernel @carried
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers, b = threads>}
// CHECK: tile.dot {{.*}} {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = threads, b = threads>}
tile.kernel @carried(%n: i32, %halves: !tile.ptr<f16>) {
  %p = tile.splat %halves : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %h = arith.constant dense<1.0> : tensor<64x64xf16>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %z, %same = %h) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf16>) : i32 {
    %b = tile.load %p : tensor<64x64x!tile.ptr<f16>>
    %a = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>
    %1 = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %2 = tile.dot %same, %b, %y : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %other = arith.negf %same : tensor<64x64xf16>
    scf.yield %1, %2, %other : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf16>
  }
  tile.print "" %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// In a chain two warps have rows each, also of dots that add to the chain's accumulators or are scaled and added;
// otherwise by default.
// CHECK-LABEL: tile.kernel @chain
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 1]>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 2]>}
tile.kernel @chain() attributes {num_warps = 2 : i32} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %scores = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %state = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
  %out = tile.dot %p, %a, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %before = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %scaled = arith.mulf %before, %before : tensor<64x64xf32>
  %sum = arith.addf %scaled, %out : tensor<64x64xf32>
  %other = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %sum, %other : tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// Eight rows in an integer stay together in one thread; of 16 elements along k each of four threads has four.
// CHECK-LABEL: tile.kernel @packed
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4], kWidth = 8>}
// CHECK: tile.dot {{.*}} {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4], kWidth = 4>}
tile.kernel @packed(%x: f16, %p: !tile.ptr<i32>) {
  %a = tile.splat %x : f16 -> tensor<16x64xf16>
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<8x32x!tile.ptr<i32>>
  %words = tile.load %ps : tensor<8x32x!tile.ptr<i32>>
  %w = tile.expand_dims %words {axis = 1 : i32} : tensor<8x32xi32> -> tensor<8x1x32xi32>
  %r = tile.broadcast %w : tensor<8x1x32xi32> -> tensor<8x8x32xi32>
  %q = tile.reshape %r : tensor<8x8x32xi32> -> tensor<64x32xi32>
  %b = arith.uitofp %q : tensor<64x32xi32> to tensor<64x32xf16>
  %0 = tile.dot %a, %b, %z : tensor<16x64xf16>, tensor<64x32xf16> -> tensor<16x32xf32>
  tile.print "" %0 : tensor<16x32xf32>
  %c = tile.splat %x : f16 -> tensor<16x16xf16>
  %pt = tile.splat %p : !tile.ptr<i32> -> tensor<2x32x!tile.ptr<i32>>
  %few = tile.load %pt : tensor<2x32x!tile.ptr<i32>>
  %v = tile.expand_dims %few {axis = 1 : i32} : tensor<2x32xi32> -> tensor<2x1x32xi32>
  %s = tile.broadcast %v : tensor<2x1x32xi32> -> tensor<2x8x32xi32>
  %t = tile.reshape %s : tensor<2x8x32xi32> -> tensor<16x32xi32>
  %d = arith.uitofp %t : tensor<16x32xi32> to tensor<16x32xf16>
  %1 = tile.dot %c, %d, %z : tensor<16x16xf16>, tensor<16x32xf16> -> tensor<16x32xf32>
  tile.print "" %1 : tensor<16x32xf32>
  tile.return
}
